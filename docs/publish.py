"""Write what needs the public address of the repository: badges in the README, chapters that set themselves up in Colab.

    python docs/publish.py OWNER/REPOSITORY [--branch main]

Badges stand between two marks in README.md; `colab/` gets a copy of each chapter with one cell in front. Commit both.
`python course.py book` reads the badges: a book made after this has buttons in each chapter that open it there.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path

from course_utils.launcher.notebooks import chapters_in
from course_utils.paths import ROOT

BLOCK = re.compile(r"(?s)<!-- ways in -->.*?<!-- /ways in -->")
SETUP = """# Only for Colab, once for each session (a few minutes): fetch the course, install what it needs, go to the chapters.
# If Colab then asks to restart the session, let it, and run this cell again. Files here vanish with the session:
# download your notebook before you leave.
import os, sys
if not os.path.isdir("/content/course"):
    !git clone -q --depth 1 --branch {branch} https://github.com/{repository} /content/course
%pip install -q -r /content/course/requirements.txt
if "/content/course" not in sys.path:
    sys.path.insert(0, "/content/course")
%cd -q /content/course/chapters"""


def badges(repository: str, branch: str) -> str:
    """The lines for the README."""
    binder = f"https://mybinder.org/v2/gh/{repository}/{branch}?urlpath=lab/tree/chapters/00_start_here.ipynb"
    colab = f"https://colab.research.google.com/github/{repository}/blob/{branch}/colab/00_start_here.ipynb"
    space = f"https://codespaces.new/{repository}"
    return (
        f"[![Open in Binder](https://mybinder.org/badge_logo.svg)]({binder})\n"
        f"[![Open in Colab](https://colab.research.google.com/assets/colab-badge.svg)]({colab})\n"
        f"[![Open in Codespaces](https://github.com/codespaces/badge.svg)]({space})"
    )


def for_colab(chapter: str, repository: str, branch: str) -> str:
    """A chapter's notebook with the cell that sets Colab up in front; nothing else differs."""
    notebook = json.loads(chapter)
    cell: dict[str, object] = {
        "cell_type": "code",
        "id": "colab-setup",
        "metadata": {},
        "execution_count": None,
        "outputs": [],
        "source": SETUP.format(repository=repository, branch=branch).splitlines(keepends=True),
    }
    notebook["cells"].insert(0, cell)
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def main(argv: list[str] | None = None, root: Path = ROOT) -> int:
    """The command; 1 when the README has no place for badges."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("repository", metavar="OWNER/REPOSITORY")
    parser.add_argument("--branch", default="main")
    options = parser.parse_args(argv)
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", options.repository):
        parser.error(f"{options.repository!r} is not of the form OWNER/REPOSITORY")
    readme = root / "README.md"
    text = readme.read_text(encoding="utf-8")
    if len(BLOCK.findall(text)) != 1:
        print("README.md needs the marks <!-- ways in --> and <!-- /ways in --> once, around the badges", file=sys.stderr)
        return 1
    block = f"<!-- ways in -->\n{badges(options.repository, options.branch)}\n<!-- /ways in -->"
    readme.write_text(BLOCK.sub(lambda _: block, text), encoding="utf-8")
    chapters = chapters_in(root / "chapters")
    for path in chapters:
        target = root / "colab" / path.relative_to(root / "chapters")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(for_colab(path.read_text(encoding="utf-8"), options.repository, options.branch), encoding="utf-8")
    print(f"README.md and {len(chapters)} notebooks in colab/ now lead to {options.repository}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
