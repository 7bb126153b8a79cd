"""What stands at the heads of the exercises' pages: read from the Markdown alone, so that nobody has to import an exercise, and torch."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from .changes import PageError

HEAD = re.compile(r"# (\d\d[a-z]?\.\d+) (.+)\n\s*`(.+)`\n\s*(★+) (\d+) minutes?; points: (.+)")
EXERCISES = Path(__file__).with_name("exercises")


@dataclass(frozen=True)
class Head:
    """The head of a page; ``points`` are those of each part, ``why`` tells after a right prediction why it is right."""

    id: str
    title: str
    signature: str
    stars: int
    minutes: int
    points: dict[str, float]
    why: str

    @property
    def name(self) -> str:
        """What an answer is called: the first word of the signature."""
        return re.split(r"\W", self.signature, maxsplit=1)[0]


def read_head(text: str) -> Head:
    """Read the head of a page. PageError for one in another form."""
    said = HEAD.match(text)
    if said is None:
        raise PageError(f"the page does not begin with number and title, signature, and stars, minutes and points: {text[:80]!r}")
    points = {part.rpartition(" ")[0].strip(): _number(part.rpartition(" ")[2]) for part in said[6].split(",")}
    return Head(said[1], said[2], said[3], len(said[4]), int(said[5]), points, " ".join(text[said.end() :].split("\n## ")[0].split()))


def heads() -> list[Head]:
    """The heads of all pages, in the order of the course: that of the names in each chapter's ``EXERCISES``."""
    found = []
    for folder in sorted(EXERCISES.glob("ch*/")):
        pages = {path.stem: path for path in folder.glob("*.md")}
        quoted = re.findall(r'"([\w ]+)"', (folder / "__init__.py").read_text("utf-8"))
        names = next(words for words in map(str.split, quoted) if sorted(words) == sorted(pages))
        found += [read_head(pages[name].read_text("utf-8").replace("\r\n", "\n")) for name in names]
    return found


@cache
def seen() -> dict[tuple[str, str], list[str]]:
    """Where mistakes were made in public: ``{("04.4", "heads not swapped back"): ["owner/repository#8"]}``."""
    lines = re.findall(r"(?m)^- (\S+) (.+): (.+)$", EXERCISES.with_name("seen.md").read_text("utf-8"))
    return {(exercise, mistake): threads.split(", ") for exercise, mistake, threads in lines}


def thread(place: str) -> str:
    """The address of ``owner/repository#8``."""
    return "https://github.com/{}/issues/{}".format(*place.split("#"))


def _number(text: str) -> float:
    return float(text) if "." in text else int(text)
