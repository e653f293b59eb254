"""Where the pages that the navigation does not list stand in it: what is above and beside each.

The list of messages alone has more pages than a navigation can show. Each knows the page that
lists it, which the path at its top leads to, and its neighbours in that list; the sidebar of a
message has those of its own kind, such as the apis.
"""

from __future__ import annotations

from itertools import chain, pairwise

from mkdocs.structure import StructureItem
from mkdocs.structure.files import Files
from mkdocs.structure.nav import Navigation, Section
from mkdocs.structure.pages import Page

from tools.site.pages import messages, proposals

#: Path of a message's page → all pages of its kind.
_kinds: dict[str, list[Page]] = {}


def place(files: Files) -> None:
    """Give each of these pages its parent, and the pages before and behind it."""
    _kinds.clear()
    kinds = [
        [_page(files, each.path) for each in listed]
        for _, _, listed in messages.groups(messages.pages())
    ]
    for pages in kinds:
        _kinds.update((each.file.src_uri, pages) for each in pages)
    index = _page(files, f"{messages.FOLDER}/index.md")
    _place(index, [*chain.from_iterable(kinds)], parent=index.parent)
    texts = _page(files, "proposals.md")
    _place(texts, [_page(files, path) for path in proposals.pages()], parent=texts)


def fill_sidebar(page: Page, nav: Navigation) -> None:
    """List the messages of the page's kind in their section of the navigation, where it has one.

    Other pages have the section without them: each would have the names of all messages.
    """
    index = f"{messages.FOLDER}/index.md"
    [section] = [each.parent for each in nav.pages if each.file.src_uri == index]
    assert isinstance(section, Section)
    section.children[1:] = _kinds.get(page.file.src_uri, [])


def _page(files: Files, path: str) -> Page:
    file = files.get_file_from_path(path)
    page = None if file is None else file.page
    assert page is not None, path
    return page


def _place(index: Page, pages: list[Page], parent: StructureItem | None) -> None:
    for before, behind in pairwise([index, *pages]):
        behind.previous_page, before.next_page = before, behind
        behind.parent = parent  # type: ignore[assignment]  # a page as well as a section: mkdocs marks it as active
