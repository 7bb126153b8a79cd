"""What a finished site must not have: links that lead nowhere, requests to other machines, pictures without a description."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADS = {("img", "src"), ("script", "src"), ("link", "href"), ("iframe", "src"), ("source", "src"), ("video", "src"), ("object", "data")}
NOT_LOADED = {"canonical", "author", "index", "search", "next", "prev", "license"}  # of <link rel=…>: for people, not fetched


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.moving: list[str] = []  # from the top of the site
        self.nameless: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.ids.update(found[name] for name in ("id", "name") if name in found)
        if "data-state" in found:  # of a piece that moves
            files = f"{found['data-live']}.css", "live.css", *(f"{name}.js" for name in [found["data-state"], *found["data-needs"].split()])
            self.moving += [f"_static/live/{name}" for name in files]
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        for name in found:
            if (tag, name) in LOADS and not (tag == "link" and set(found.get("rel", "").split()) & NOT_LOADED):
                self.loads.append(found[name])
        if tag == "img" and not found.get("alt", "").strip():
            self.nameless.append(found.get("src", "?")[:80])


def problems(site: Path) -> list[str]:
    """One line for each dead link, each thing loaded from another machine, each picture without alt text."""
    paths = [path for path in sorted(site.rglob("*.html")) if "_static" not in path.relative_to(site).parts]  # there: templates
    pages = {path: _read(path) for path in paths}
    if not pages:
        return [f"{site} holds no page"]
    return [f"{path.relative_to(site)}: {text}" for path, page in pages.items() for text in _of_page(path, page, pages, site)]


def _read(path: Path) -> _Reader:
    reader = _Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    return reader


def _of_page(path: Path, page: _Reader, pages: dict[Path, _Reader], site: Path) -> Iterator[str]:
    for source in page.nameless:
        yield f"a picture without alt text: {source}"
    for address in page.loads:
        parts = urlsplit(address)
        if parts.scheme == "data":
            continue
        if parts.scheme or parts.netloc:
            yield f"loads from another machine: {address}"
        elif parts.path and not (path.parent / unquote(parts.path)).exists():
            yield f"loads what is not there: {address}"
    for address in page.moving:
        if not (site / address).exists():
            yield f"loads what is not there: {address}"
    for address in dict.fromkeys(page.links):
        parts = urlsplit(address)
        if parts.scheme or parts.netloc:
            continue
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        if not target.exists() or site.resolve() not in (target, *target.parents) and parts.path:
            yield f"a link that leads nowhere: {address}"
        elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].ids:
            yield f"a link to a place that is not on its page: {address}"
