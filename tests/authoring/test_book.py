"""The readable book: how pages are staged, what the checks of a finished site find, and the real course built once."""

import json
import os
import re
import shutil
import subprocess
import sys
from html import unescape

import nbformat
import pytest

from course_checks import catalogue
from course_tools.authoring.book.__main__ import MARK, main, refuse_foreign_folder
from course_tools.authoring.book.finder import equip, sections
from course_tools.authoring.book.formulas import mathml
from course_tools.authoring.book.indexes import read_claims, read_index
from course_tools.authoring.book.pages import exercises, headings, read_pages, references, stage_answers, stage_chapter
from course_tools.authoring.book.pdf import contents_page, find_browser, is_empty, print_site, sections_of, stamps_page
from course_tools.authoring.book.verify import problems
from course_tools.authoring.errors import AuthoringError
from course_tools.authoring.ledger import marked, read_ledger
from course_utils.paths import ROOT

FULL = os.environ.get("COURSE_FULL") == "1"


@pytest.fixture(scope="module")
def pages():
    return read_pages(ROOT)


def test_headings_leave_out_comments_in_code():
    text = "# One\n\n```python\n# not this\n```\n\n## Two $x^2$\n#nor this\n\n~~~\n## nor that\n~~~\n### Three"
    assert [(level, words) for _, level, words in headings(text)] == [(1, "One"), (2, "Two $x^2$"), (3, "Three")]


def test_formulas_become_mathml_and_what_cannot_is_named():
    made = mathml(r"\arg\max_j\;\mathbb R^n\ln \lVert q\rVert^2", block=True)
    assert (
        'display="block"' in made
        and "ℝ" in unescape(made)
        and "<munder><mo>max" in made
        and made.count("\\") == made.split(">")[0].count("\\")
    )
    assert 'stretchy="false"' in made and 'alttext="' in made
    with pytest.raises(ValueError, match="nosuchcommand"):
        mathml(r"\nosuchcommand x")


PAGE = """<article class="bd-article"><section id="a"><h1>One <em>&amp;</em> two<a class="headerlink" href="#a">#</a></h1>
<p>The <b>mean</b>s.</p><script>x</script><details class="admonition hide above-input"><p>drawing</p></details>
<section class="z" id="b"><h2>Part<a class="headerlink">#</a></h2><p>Last <math><mi>q</mi><mi>k</mi></math>.</p>
</section></section></article><p>outside</p>"""


def test_the_search_knows_the_words_of_every_section(tmp_path):
    assert sections(PAGE) == [("a", "One & two", "The means."), ("b", "Part", "Last qk.")] and sections("<p>no article</p>") == []
    (tmp_path / "_static").mkdir()
    (tmp_path / "one.html").write_text(PAGE, encoding="utf-8")
    (tmp_path / "search.html").write_text("<body></body>", encoding="utf-8")
    equip(tmp_path)
    assert '["one.html", [["a",' in (tmp_path / "_static" / "found.js").read_text(encoding="utf-8")
    text = (tmp_path / "search.html").read_text(encoding="utf-8")
    assert 0 < text.index("found.js") < text.index("search.js") < text.index("</body>")


def test_every_exercise_has_a_heading_a_number_and_a_level(pages):
    found = [match["id"] for page in pages for match, _ in exercises(page)]
    assert sorted(found) == sorted(exercise.id for exercise in catalogue())
    assert len(set(found)) == len(found)


def test_every_claim_has_a_place(pages):
    """In a chapter or, if no reader of one would miss it, in docs/claims.md."""
    claims = read_claims(ROOT)
    assert {row for row, _, _ in claims} == {row for row in read_ledger(ROOT) if row.startswith("E-")}
    homes = {row: home for row, home in read_ledger(ROOT).items() if home in {page.number for page in pages}}
    assert not [row for row, _, _ in claims if row in homes and row not in marked(ROOT)]


def test_a_staged_chapter_has_labels_pictures_with_alt_text_and_ways_to_the_answers(pages, tmp_path):
    page = next(page for page in pages if page.number == "03")
    stage_chapter(page, ROOT, tmp_path, references(pages))
    staged = nbformat.read(tmp_path / "chapters" / f"{page.stem}.ipynb", as_version=4)
    text = "\n".join(cell.source for cell in staged.cells if cell.cell_type == "markdown")
    for section in page.sections:
        assert f"({section.label})=\n" in text and text.count(f"({section.label})=") == 1
    for match, section in exercises(page):
        assert text.count(f"(#a-{match['id'].replace('.', '-')})") == 1
        assert f"({section.label})=\n### {section.text}" in text
    figures = list((tmp_path / "static" / "figures").glob("*.png"))
    outputs = [output for cell in staged.cells if cell.cell_type == "code" for output in cell.outputs]
    assert figures and not any("image/png" in output.get("data", {}) for output in outputs)
    tags = [output.data["text/html"] for output in outputs if "<img" in output.get("data", {}).get("text/html", "")]
    assert all(' alt="' in tag and ' alt=""' not in tag for tag in tags)
    scripts = (tmp_path / "static" / "live").glob("*.js")  # they name the frames of sliders
    shown = "".join(tags) + "".join(path.read_text(encoding="utf-8") for path in scripts)
    assert len(tags) >= 10 and all(figure.name in shown for figure in figures)
    assert all((tmp_path / "static" / "figures" / tag.split("figures/")[1].split('"')[0]).exists() for tag in tags)


def test_cells_that_only_assert_have_no_bar(pages, tmp_path):
    page = next(page for page in pages if page.number == "03")
    stage_chapter(page, ROOT, tmp_path, references(pages))
    staged = nbformat.read(tmp_path / "chapters" / f"{page.stem}.ipynb", as_version=4)
    folded = [cell for cell in staged.cells if cell.cell_type == "code" and "hide-input" in cell.metadata.get("tags", [])]
    assert folded and not [cell for cell in folded if not cell.outputs and re.search(r"^assert .*\Z", cell.source, re.MULTILINE)]


def test_panels_and_progress_do_not_stand_in_the_book(pages, tmp_path):
    page = pages[0]
    notebook = nbformat.read(ROOT / "chapters" / f"{page.stem}.ipynb", as_version=4)
    for cell in notebook.cells:
        if "live" in cell.metadata.get("tags", []):  # somebody has run and saved it
            cell.outputs = [nbformat.v4.new_output("display_data", {"text/html": "<p>1 of 111 exercises, 4 of 437 points.</p>"})]
    (tmp_path / "chapters").mkdir()
    nbformat.write(notebook, tmp_path / "chapters" / f"{page.stem}.ipynb")
    stage_chapter(page, tmp_path, tmp_path / "out", references(pages))
    before, staged = str(notebook), nbformat.read(tmp_path / "out" / "chapters" / f"{page.stem}.ipynb", as_version=4)
    for words in ("not attempted (0 of", "of 111 exercises"):
        assert words in before and words not in str(staged)
    outputs = [len(cell.outputs) for cell in staged.cells if cell.cell_type == "code"]
    assert sum(outputs) > 5, "all other outputs stay"


def test_links_between_chapters_lead_to_pages_and_the_notebook_is_there_to_download(pages, tmp_path):
    page = next(page for page in pages if page.number == "05")
    path = ROOT / "chapters" / f"{page.stem}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    ways = "[← 04 · Heads](04_multi_head_attention.ipynb) | [map of the course](00_start_here.ipynb#map)"
    notebook.cells.append(nbformat.v4.new_markdown_cell(ways))
    (tmp_path / "chapters").mkdir()
    nbformat.write(notebook, tmp_path / "chapters" / path.name)
    stage_chapter(page, tmp_path, tmp_path / "out", references(pages))
    staged = nbformat.read(tmp_path / "out" / "chapters" / path.name, as_version=4)
    assert staged.cells[-1].source == (
        '<a href="04_multi_head_attention.html">← 04 · Heads</a> | <a href="00_start_here.html#map">map of the course</a>'
    )
    assert f'href="../notebooks/{path.name}" download' in staged.cells[1].source
    assert (tmp_path / "out" / "extra" / "notebooks" / path.name).read_bytes() == (tmp_path / "chapters" / path.name).read_bytes()


def test_answers_stand_open_on_a_page_of_their_own(pages, tmp_path):
    page = next(page for page in pages if page.number == "03")
    stage_answers(page, ROOT, tmp_path)
    text = (tmp_path / "answers" / f"{page.stem}.md").read_text(encoding="utf-8")
    count = len(list(exercises(page)))
    assert "<details>" not in text and text.count("(a-03-") == count
    assert "NotImplementedError" not in text and "def attention_scores" in text


def test_a_chapter_that_no_longer_belongs_to_its_text_is_refused(pages, tmp_path):
    page = next(page for page in pages if page.number == "01")
    (tmp_path / "chapters").mkdir()
    notebook = nbformat.read(ROOT / "chapters" / f"{page.stem}.ipynb", as_version=4)
    notebook.cells.append(nbformat.v4.new_markdown_cell("## One more"))
    nbformat.write(notebook, tmp_path / "chapters" / f"{page.stem}.ipynb")
    with pytest.raises(AuthoringError, match="headings.*build it again"):
        stage_chapter(page, tmp_path, tmp_path / "out", references(pages))


def title_of_03(pages) -> str:
    return next(page for page in pages if page.number == "03").sections[0].text


@pytest.mark.parametrize(
    "line, said", [("a\tb\t03", "3 cells"), ("a\tb\t99\tx", "no chapter 99"), ("a\tb\t03\tNo such heading", "no heading 'No such heading'")]
)
def test_an_index_names_its_faulty_line(pages, tmp_path, line, said):
    table = tmp_path / "symbols.tsv"
    table.write_text(f"$Q$\tqueries\t03\t{title_of_03(pages)}\n{line}\n", encoding="utf-8")
    with pytest.raises(AuthoringError, match=f"symbols.tsv:2: .*{said}"):
        read_index(table, pages)


def test_an_index_refuses_an_entry_twice(pages, tmp_path):
    table = tmp_path / "symbols.tsv"
    table.write_text(f"$Q$\tqueries\t03\t{title_of_03(pages)}\n" * 2, encoding="utf-8")
    with pytest.raises(AuthoringError, match="twice"):
        read_index(table, pages)


def test_the_checks_of_a_site_find_every_kind_of_fault(tmp_path):
    (tmp_path / "a.html").write_text(
        '<h1 id="top">x</h1><a href="b.html#there">fine</a><a href="b.html#no">1</a><a href="c.html">2</a><a href="#no">3</a>'
        '<a href="https://example.org">people may go there</a><img src="p.png" alt=" "><img src="data:image/png;base64,AA" alt="fine">'
        '<script src="https://cdn.example.org/x.js"></script><link rel="stylesheet" href="//fonts.example.org/x.css">'
        '<link rel="canonical" href="https://example.org/a">',
        encoding="utf-8",
    )
    (tmp_path / "b.html").write_text('<p id="there">x</p>', encoding="utf-8")
    found = "\n".join(problems(tmp_path))
    for fault in ("b.html#no", "c.html", ": #no", "without alt text: p.png", "not there: p.png", "cdn.example.org", "fonts.example.org"):
        assert fault in found, fault
    assert len(found.splitlines()) == 7
    assert problems(tmp_path / "nothing") != []


def test_a_folder_of_somebody_else_is_not_replaced(tmp_path, capsys):
    (tmp_path / "thesis.txt").write_text("mine", encoding="utf-8")
    assert main(["--out", str(tmp_path), "--no-pdf"]) == 1
    assert "was not made by this command" in capsys.readouterr().err and (tmp_path / "thesis.txt").exists()
    (tmp_path / MARK).touch()
    refuse_foreign_folder(tmp_path)
    refuse_foreign_folder(tmp_path / "new")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The book of the whole course, built by the command."""
    out = tmp_path_factory.mktemp("book") / "site"
    command = [sys.executable, "-m", "course_tools.authoring.book", "--no-pdf", "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    print(done.stdout)
    return out


def test_the_book_of_the_course(site, pages):
    """The command itself fails on a dead link, a request, or a picture without alt text."""
    assert problems(site) == []
    for page in pages:
        html = (site / "chapters" / f"{page.stem}.html").read_text(encoding="utf-8")
        assert "<img" in html
        assert (site / "answers" / f"{page.stem}.html").exists() == bool(list(exercises(page)))
        assert f'href="../notebooks/{page.stem}.ipynb"' in html and (site / "notebooks" / f"{page.stem}.ipynb").exists()
        assert not re.findall(r'href="(?!\.\./notebooks/)[^"]*\.ipynb', html)
        assert not any(heavy in html for heavy in ("fontawesome.js", "MathJax", "searchindex.js"))
    known = json.loads((site / "_static" / "found.js").read_text(encoding="utf-8").split("=", 1)[1].rstrip(";\n"))
    assert {name for name, _ in known} > {f"chapters/{page.stem}.html" for page in pages} and not (site / "searchindex.js").exists()
    for name, parts in known:  # a result leads to its section
        html = (site / name).read_text(encoding="utf-8")
        assert all(f'id="{place}"' in html for place, _, _ in parts)


RANK = """
const fs = require("fs");
globalThis.window = globalThis;
for (const name of ["found", "homes", "rank"]) (0, eval)(fs.readFileSync(`${process.argv[1]}/${name}.js`, "utf8"));
const found = (words) => courseRank(courseFound, courseHomes, words);
const first = (words) => found(words).found.slice(0, 3).map(([, , { page }]) => page);
console.log(JSON.stringify(JSON.parse(process.argv[2]).map((words) => [first(words), found(words).question?.heading])));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="no Node here")
def test_the_search_leads_home(site):
    """Of a hundred words that people type at least 95 have a page of their chapter among the first three, as in ``find``."""
    wanted = [line.split("\t") for line in (ROOT / "tests" / "authoring" / "search_words.tsv").read_text(encoding="utf-8").splitlines()]
    asked = json.dumps([words for words, _ in wanted] + ["why divide by root d", "my GRPO loss is zero", "zzz", "the"])
    done = subprocess.run(["node", "--eval", RANK, str(site / "_static"), asked], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    *found, root, loss, nothing, empty = json.loads(done.stdout)
    missed = [
        words
        for (words, home), (pages, _) in zip(wanted, found, strict=True)
        if not any(f"/{n}_" in page for n in home.split() for page in pages)
    ]
    assert len(wanted) == 100 and len(missed) <= 5, missed
    assert root[1] == "Why divide by the square root of d_k?" and loss[1] == "My GRPO loss is 0. Is it broken?"
    assert nothing == [[], None] and len(empty[0]) == 3


def test_one_search_field_and_an_icon(site, pages):
    for name in ("index", f"chapters/{pages[1].stem}", f"answers/{pages[1].stem}", "exercises"):
        html = (site / f"{name}.html").read_text(encoding="utf-8")
        assert html.count('class="btn search-button-field') == 1
        icon = re.search(r'<link rel="icon" href="([^"?]+)', html)[1]
        assert (site / name).parent.joinpath(icon).read_bytes()[:4] == b"\0\0\1\0", "an .ico file"
        assert re.search(r'<script defer="defer" src="[^"]*book\.js', html)


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        started = play.chromium.launch(executable_path=find_browser(), args=["--no-sandbox"])
        yield started
        started.close()


@pytest.mark.skipif(not FULL, reason="browser tests run under: python course.py test --full")
@pytest.mark.skipif(find_browser() is None, reason="no Chromium here (Debian: sudo apt install chromium)")
@pytest.mark.parametrize("width, height", [(1440, 900), (390, 844)])
def test_pictures_enlarge_by_click_and_by_keyboard(site, pages, browser, width, height):
    page = browser.new_page(viewport={"width": width, "height": height})
    stem = next(found.stem for found in pages if found.number == "06")
    page.goto((site / "chapters" / f"{stem}.html").as_uri())
    pictures = page.locator(".bd-article img:not(.live img)")
    assert page.locator(".picture-button > img").count() == pictures.count() > 3
    widths = pictures.evaluate_all("found => found.map(image => Number(image.getAttribute('width')))")
    widest = widths.index(max(widths))
    shown, view = pictures.nth(widest).bounding_box()["width"], page.locator("dialog.picture-view")
    assert not view.is_visible()
    for key in (None, "Enter"):
        button = page.locator(".picture-button").nth(widest)
        assert button.get_attribute("aria-label").endswith(pictures.nth(widest).get_attribute("alt"))
        if key:
            button.press(key)
        else:
            button.click()
        large = view.locator("img")
        assert view.is_visible() and large.bounding_box()["width"] > 1.25 * shown
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, "the page itself stays as it is"
        assert page.evaluate("document.activeElement.textContent") == "Close"
        before = large.bounding_box()["width"]
        page.keyboard.press("+")
        assert large.bounding_box()["width"] > before
        page.keyboard.press("Escape")
        assert not view.is_visible() and page.evaluate("document.activeElement.className") == "picture-button"
    pictures.nth(widest).click()
    view.get_by_text("Close").click()
    assert not view.is_visible()
    page.close()


@pytest.mark.skipif(not FULL, reason="browser tests run under: python course.py test --full")
@pytest.mark.skipif(find_browser() is None, reason="no Chromium here (Debian: sudo apt install chromium)")
def test_code_of_a_hundred_columns_needs_no_sideways_scrolling(site, pages, browser):
    page, seen, wide = browser.new_page(viewport={"width": 1440, "height": 900}), 0, []
    for found in pages:
        page.goto((site / "chapters" / f"{found.stem}.html").as_uri())
        blocks = page.locator(".bd-article pre").evaluate_all(
            "found => found.map(pre => [Math.max(...pre.textContent.split('\\n').map(line => [...line].length)),"
            " pre.scrollWidth - pre.clientWidth, pre.textContent.slice(0, 60)])"
        )
        seen += len(blocks)
        wide += [(found.stem, words) for columns, over, words in blocks if columns <= 100 and over > 1]
    page.close()
    assert seen > 500 and wide == []


@pytest.mark.skipif(not FULL, reason="browser tests run under: python course.py test --full")
@pytest.mark.skipif(find_browser() is None, reason="no Chromium here (Debian: sudo apt install chromium)")
def test_the_book_in_a_browser(site, browser):
    """Every page in light and dark: no request, every formula set, no serious finding of the accessibility linter; search finds."""
    from axe_playwright_python.sync_playwright import Axe

    names = sorted(str(path.relative_to(site)) for path in site.rglob("*.html") if "_static" not in path.relative_to(site).parts)
    asked, serious, minor, formulas = [], [], {}, 0
    for mode in ("light", "dark"):
        page = browser.new_page()
        page.on("request", lambda r: None if r.url.startswith(("file:", "data:", "blob:")) else asked.append(r.url))
        page.add_init_script(f"localStorage.setItem('mode', '{mode}'); localStorage.setItem('theme', '{mode}');")
        for name in names:
            page.goto((site / name).as_uri())
            assert page.evaluate("document.documentElement.dataset.theme") == mode
            formulas += page.locator("math").count()
            for found in Axe().run(page, {"exclude": [["math"]]}).response["violations"]:
                if found["impact"] in ("serious", "critical"):
                    serious += [f"{mode} {name}: {found['id']}: {node['html'][:120]}" for node in found["nodes"]]
                else:
                    minor[found["id"]] = minor.get(found["id"], 0) + len(found["nodes"])
    page.goto((site / "search.html").as_uri() + "?q=softmax")
    results = page.locator("#search-results li").count()
    assert "softmax" in page.locator("#search-results mark").first.inner_text().lower()
    page.locator("#search-results a").first.click()
    assert page.evaluate("document.getElementById(location.hash.slice(1)).textContent.toLowerCase().includes('softmax')")
    page.close()
    print(f"{len(names)} pages twice, {formulas} formulas, {results} results for softmax, minor findings {minor}")
    assert asked == [] and serious == [] and results > 5 and formulas > 1000


@pytest.mark.skipif(not FULL, reason="the PDF is printed under: python course.py test --full")
@pytest.mark.skipif(find_browser() is None, reason="no Chromium here (Debian: sudo apt install chromium)")
def test_pages_are_printed_and_bound(site, pages, tmp_path):
    from pypdf import PdfReader

    names = [
        ("The course", "index"),
        (pages[0].title, f"chapters/{pages[0].stem}"),
        ("Answers", f"answers/{pages[0].stem}"),
        ("Exercises", "exercises"),
    ]
    sheets = print_site(site, names, tmp_path / "course.pdf", find_browser())
    reader = PdfReader(tmp_path / "course.pdf")
    texts = [sheet.extract_text() for sheet in reader.pages]
    assert len(reader.pages) == sheets > 4
    assert "def " in "\n".join(texts).split("Answers to chapter 00")[1], "folded answers must be open on paper"
    assert not any(is_empty(sheet) for sheet in reader.pages)
    for at, text in enumerate(texts[1:], start=2):
        assert str(at) in text.split("\n")[-3:], f"sheet {at} has no number"
    titles = [item.title for item in reader.outline if not isinstance(item, list)]
    assert titles == ["The course", "Contents", pages[0].title, "Answers", "Exercises"]
    assert "Predict: shapes" in texts[reader.get_destination_page_number(reader.outline[-1])], "a long table starts below its title"
    inner = next(item for item in reader.outline if isinstance(item, list))
    assert len(inner) > 5
    for item in [reader.outline[2], *inner]:  # the contents give the sheet on which the heading stands
        at = reader.get_destination_page_number(item)
        assert f"{item.title} {at + 1}" in texts[1] and item.title in " ".join(texts[at].split())
    ways = [note.get_object() for note in reader.pages[1]["/Annots"]]  # of the contents: each line leads to its sheet
    assert len(ways) >= len(inner) and all(way["/Dest"][0] in [sheet.indirect_reference for sheet in reader.pages] for way in ways)
    links = [note.get_object() for sheet in reader.pages for note in sheet.get("/Annots", [])]
    assert links and not [link for link in links if str(link.get("/A", {}).get("/URI", "")).startswith("file:")]


def test_sections_keep_their_words_where_the_browser_repeats_a_line(tmp_path):
    from pypdf import PdfReader, PdfWriter

    writer = PdfWriter()
    for _ in range(3):
        writer.add_blank_page(100, 100)
    above = writer.add_outline_item(title="The chapter", page_number=0)
    for at, title in enumerate(["Contents", "9 Who may have9 Who may havethe model", "SummarySummary"]):
        writer.add_outline_item(title=title, page_number=at, parent=above)
    writer.write(tmp_path / "part.pdf")
    (tmp_path / "page.html").write_text(
        '<h2> Contents </h2><h1>The chapter<a class="headerlink"></a></h1>'
        + "".join(f'<h2>{words}<a class="headerlink">#</a></h2>' for words in ("9 Who may <em>have</em> the model", "Summary")),
        encoding="utf-8",
    )
    assert sections_of(PdfReader(tmp_path / "part.pdf"), tmp_path / "page.html") == [("9 Who may have the model", 1), ("Summary", 2)]


def test_the_contents_and_the_stamps_say_heads_and_numbers():
    contents = contents_page([(1, "One & two", 3), (2, "1 Part", 4)])
    assert 'sheet/3"><span>One &amp; two</span><i></i><span>3</span></a>' in contents and 'class="second"><a' in contents
    stamps = stamps_page(["Cover", "Contents", "a < b"])
    assert stamps.count('class="sheet"') == 3 and "Cover" not in stamps and "<span>a &lt; b</span><b>3</b>" in stamps


@pytest.mark.skipif(not FULL, reason="browser tests run under: python course.py test --full")
@pytest.mark.skipif(find_browser() is None, reason="no Chromium here (Debian: sudo apt install chromium)")
def test_code_on_paper_hangs_and_does_not_wrap_at_a_hundred_columns(tmp_path, browser):
    for name in ("book.js", "book.css"):
        shutil.copy(ROOT / "docs" / "book" / "static" / name, tmp_path)
    code = "def f():\n    <span>x = '''" + "a" * 89 + "\n\n" + "word " * 60 + "'''</span>\n"
    (tmp_path / "page.html").write_text(
        '<!doctype html><link rel="stylesheet" href="book.css"><script src="book.js" defer></script>'
        '<body style="margin:0"><div class="bd-article"><div class="highlight"><pre style="margin:0">'
        f"{code}</pre></div></div>",
        encoding="utf-8",
    )
    page = browser.new_page(viewport={"width": 608, "height": 800})  # pixels: as wide as code on a printed sheet
    page.emulate_media(media="print")
    page.goto((tmp_path / "page.html").as_uri() + "?print")
    lines = page.locator(".hung")
    heights = lines.evaluate_all("found => found.map(line => line.getBoundingClientRect().height)")
    assert len(heights) == 4 and heights[0] == heights[1] == heights[2] < heights[3] / 2
    indents = lines.evaluate_all("found => found.map(line => line.style.paddingLeft)")
    assert indents == ["4ch", "8ch", "4ch", "4ch"]
    assert page.locator("pre").evaluate("pre => pre.textContent") == code.replace("<span>", "").replace("</span>", "")
    page.close()
