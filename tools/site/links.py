"""Finds faults of a built site: broken links, pages that nothing links to, files of other hosts.

mkdocs checks the links in Markdown; this checks the pages as a browser gets them.
"""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

#: A page that only readers of a missing address see.
_NOT_LINKED = {"404.html"}


class _Page(HTMLParser):
    """The links of a page, what it loads, and the places in it that links may name."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        if "id" in found:
            self.places.add(found["id"])
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        elif tag == "link" and found.get("rel") != "canonical" and "href" in found:
            self.loaded.append(found["href"])
        elif tag in ("script", "img", "iframe") and "src" in found:
            self.loaded.append(found["src"])


def faults(root: Path) -> list[str]:
    """What is wrong with the site below that folder, a line each."""
    pages = {
        path.relative_to(root).as_posix(): _Page(path.read_text("utf-8"))
        for path in sorted(root.rglob("*.html"))
    }
    found = []
    linked: dict[str, set[str]] = {}
    for name, page in pages.items():
        found += [
            f"{name} loads {each} from elsewhere" for each in page.loaded if urlsplit(each).netloc
        ]
        linked[name] = set()
        for link in page.links:
            target = _target(root, name, link)
            if target is None:
                continue
            file, place = target
            if not (root / file).is_file():
                found.append(f"{name} links to {link}, which is not there")
                continue
            linked[name].add(file)
            if place and file in pages and place not in pages[file].places:
                found.append(f"{name} links to {link}, and {file} has no such place")
    reached = set(_reached("index.html", linked))
    return found + [
        f"no page that can be reached from the first links to {name}"
        for name in pages
        if name not in reached | _NOT_LINKED
    ]


def _target(root: Path, page: str, link: str) -> tuple[str, str] | None:
    """File and place of a link inside the site; None for one that leads elsewhere."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc or not (parts.path or parts.fragment):
        return None
    path = (root / page).parent / unquote(parts.path) if parts.path else root / page
    if parts.path.startswith("/"):
        path = root / unquote(parts.path).lstrip("/")
    if path.is_dir():
        path = path / "index.html"
    try:
        file = path.resolve().relative_to(root.resolve()).as_posix()
    except ValueError:
        return parts.path, ""
    return file, "" if parts.fragment == "__skip" else unquote(parts.fragment)


def _reached(first: str, linked: dict[str, set[str]]) -> Iterator[str]:
    waiting, seen = [first], {first}
    while waiting:
        name = waiting.pop()
        yield name
        new = linked.get(name, set()) - seen
        seen |= new
        waiting += new
