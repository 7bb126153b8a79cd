"""ES modules of the pieces as plain scripts: a page that is opened from a disk may load scripts, but no modules.

A module may hold ``import { a, b as c } from './kit.js';`` and ``export function``, ``export const`` or ``export class`` at the
beginning of a line. As a script it fills ``courseLive.modules.NAME`` with what it exports.
"""

import re

from course_utils.show.pieces import LIVE_FOLDER

from ..errors import AuthoringError

IMPORT = re.compile(r"^import \{([^}]*)\} from '\./(\w+)\.js';$", re.MULTILINE)
EXPORT = re.compile(r"^export (async function\*?|function\*?|const|class) (\w+)", re.MULTILINE)


def source(name: str) -> str:
    """The text of a module. AuthoringError where there is none."""
    path = LIVE_FOLDER / f"{name}.js"
    if not path.exists():
        raise AuthoringError(f"there is no {path.name} in {LIVE_FOLDER}")
    return path.read_text(encoding="utf-8")


def needs(name: str) -> list[str]:
    """The modules that have to run before ``name``, each before those that need it, and ``name`` itself at the end."""
    found: list[str] = []
    for _, other in IMPORT.findall(source(name)):
        found += [one for one in needs(other) if one not in found]
    return [*found, name]


def script(name: str) -> str:
    """One module as a script."""
    text = source(name)
    exported = [name for _, name in EXPORT.findall(text)]
    text = IMPORT.sub(lambda found: f"const {{{found[1].replace(' as ', ': ')}}} = courseLive.modules.{found[2]};", text)
    text = EXPORT.sub(r"\1 \2", text)
    left = re.search(r"^(import|export)\b.*", text, re.MULTILINE)
    if left:
        raise AuthoringError(f"{name}.js: a form of import or export that pages cannot load: {left[0]}")
    return f"courseLive.modules.{name} = (() => {{\n'use strict';\n{text}\nreturn {{ {', '.join(exported)} }};\n}})();\n"


def page(name: str, state: str = "{}", theme: str = "light") -> str:
    """A page with one piece and nothing else, complete in itself: for its picture, its tests, and for who works on it."""
    styles = "\n".join(p.read_text("utf-8") for p in (LIVE_FOLDER / "live.css", LIVE_FOLDER / f"{name}.css") if p.exists())
    scripts = "\n".join(script(one) for one in needs(name)).replace("</script", "<\\/script")
    ground = {"light": "#ffffff", "dark": "#14181c"}[theme]
    return f"""<!doctype html>
<html lang="en" data-theme="{theme}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{name}</title><style>body {{ margin: 12px; background: {ground}; }}
{styles}</style></head><body><main><h1 hidden>{name}</h1><div class="course-live {name}"></div></main>
<script>const courseLive = {{ modules: {{}} }};
{scripts}
courseLive.modules.{name}.render(document.querySelector('.course-live'), {state}, {{}});
</script></body></html>
"""
