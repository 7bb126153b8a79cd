"""What every piece that moves has, what frames ask for, and that an answer of the kernel is of the moment when the cell ran."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from course_tools.authoring.errors import AuthoringError
from course_tools.authoring.live import scripts
from course_utils.show.pieces import LIVE, LIVE_FOLDER, piece
from course_utils.show.widgets import asked, explore

NODE = shutil.which("node")
PIECES = json.loads((LIVE_FOLDER / "pieces.json").read_text("utf-8"))
HERE = Path(__file__).parent  # a piece that stands for a model has a test of its own, which hands it the model's numbers
ALONE = sorted(
    one.stem.removeprefix("test_") for one in HERE.glob("live/test_*.js") if not HERE.joinpath(f"test_live_{one.stem[5:]}.py").exists()
)


@pytest.mark.skipif(NODE is None, reason="no Node here")
@pytest.mark.parametrize("name", ALONE)
def test_the_mathematics(name):
    there = json.dumps(str(HERE / "live" / f"test_{name}.js"))
    done = subprocess.run([NODE, "--input-type=module", "--eval", f"import {there}"], capture_output=True, text=True)
    assert done.stdout.strip() == "right", done.stderr


@pytest.mark.parametrize("name", sorted({"frames", "viewer", "family", *(one.split("-")[0] for one in PIECES)}))
def test_a_piece_is_whole(name):
    assert (LIVE_FOLDER / f"{name}.css").exists() and "export function render(" in scripts.source(name)
    assert "kit" in scripts.needs(name) or name == "family"
    text = scripts.page(name)
    assert "import " not in "".join(line for line in text.splitlines() if line.startswith("import "))
    assert "http://" not in text.replace("http://www.w3.org", "") and "https://" not in text, "nothing is loaded from elsewhere"


@pytest.mark.parametrize("picture", PIECES)
def test_a_still_picture_is_light_and_described(picture):
    assert len(PIECES[picture]) > 40 and (LIVE_FOLDER / f"{picture}.png").stat().st_size < 120_000


def test_pages_cannot_load_every_form_of_a_module(tmp_path, monkeypatch):
    monkeypatch.setattr(scripts, "LIVE_FOLDER", tmp_path)
    (tmp_path / "odd.js").write_text("export default function render() {}\n")
    with pytest.raises(AuthoringError, match="a form of import or export that pages cannot load: export default"):
        scripts.script("odd")
    with pytest.raises(AuthoringError, match=r"there is no gone.js"):
        scripts.script("gone")


def test_a_piece_shows_itself_and_an_unknown_one_is_refused(monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda *things, **more: shown.append((things, more)))
    for picture in PIECES:
        name, *still = picture.split("-")
        piece(name, *still, text="a")
        ((bundle,), more) = shown.pop()
        assert bundle[LIVE] == {"kind": name, "state": {"text": "a"}} and more["metadata"]["image/png"]["alt"] == PIECES[picture]
        assert bundle["image/png"] and PIECES[picture] in bundle["text/plain"]
    with pytest.raises(ValueError, match="there is no piece called 'gone'"):
        piece("gone")


def test_later_cells_do_not_change_what_a_slider_shows(monkeypatch):
    shown = []
    monkeypatch.setattr("course_utils.show.widgets.show_live", lambda *parts: shown.append(parts))
    names = {"__name__": "__main__", "explore": explore}
    exec("base = 10\ndef helper(n): return base * n\ndef draw(n, *, sign=1): print(sign * helper(n))\nexplore(draw, n=[1, 2, 3])", names)
    exec("base = 0\ndef helper(n): raise RuntimeError", names)
    kind, state, still, _ = shown[0]
    assert (kind, still["text/plain"], state["names"], state["together"]) == ("frames", "10", ["n"], True)
    assert asked(state["key"], [2]).items == [{"text": "30"}]
    bundle = asked(state["key"], [1])._repr_mimebundle_()
    assert bundle[LIVE] == [{"text": "20"}]
