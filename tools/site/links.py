"""Finds faults of a built site: broken links, pages that nothing links to, files of other hosts.

mkdocs checks the links in Markdown; this checks the pages as a browser gets them.
"""

from __future__ import annotations

import posixpath
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
    files = {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}
    pages = {
        name: _Page((root / name).read_text("utf-8"))
        for name in sorted(files)
        if name.endswith(".html")
    }
    found = []
    linked: dict[str, set[str]] = {}
    for name, page in pages.items():
        found += [
            f"{name} loads {each} from elsewhere" for each in page.loaded if urlsplit(each).netloc
        ]
        linked[name] = set()
        for link in dict.fromkeys(page.links):
            target = _target(files, name, link)
            if target is None:
                continue
            file, place = target
            if file not in files:
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


def _target(files: set[str], page: str, link: str) -> tuple[str, str] | None:
    """File and place of a link inside the site; None for one that leads elsewhere."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc or not (parts.path or parts.fragment):
        return None
    path = unquote(parts.path)
    if path.startswith("/"):
        file = posixpath.normpath(path.lstrip("/"))
    else:
        file = posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) if path else page
    if (index := posixpath.normpath(f"{file}/index.html")) in files:
        file = index
    return file, "" if parts.fragment == "__skip" else unquote(parts.fragment)


def _reached(first: str, linked: dict[str, set[str]]) -> Iterator[str]:
    waiting, seen = [first], {first}
    while waiting:
        name = waiting.pop()
        yield name
        new = linked.get(name, set()) - seen
        seen |= new
        waiting += new
