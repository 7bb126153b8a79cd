"""``python -m course_tools.authoring.live NAME`` writes the page of one piece to ``.course/live/NAME.html``, light and dark."""

import sys

from course_utils.paths import ROOT

from .scripts import page


def main() -> int:
    """Write the pages of the pieces named."""
    folder = ROOT / ".course" / "live"
    folder.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[1:]:
        for theme in ("light", "dark"):
            target = folder / f"{name}{'_dark' if theme == 'dark' else ''}.html"
            target.write_text(page(name, theme=theme), encoding="utf-8")
            print(target)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
