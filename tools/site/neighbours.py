"""Where the pages that the navigation does not list stand in it: what is above and beside each.

The list of messages alone has more pages than a navigation can show. Each knows the page that
lists it, which the path at its top leads to, and its neighbours in that list.
"""

from __future__ import annotations

from itertools import chain, pairwise

from mkdocs.structure import StructureItem
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

from tools.site.pages import messages, proposals


def place(files: Files) -> None:
    """Give each of these pages its parent, and the pages before and behind it."""
    listed = chain.from_iterable(pages for _, _, pages in messages.groups(messages.pages()))
    index = _page(files, f"{messages.FOLDER}/index.md")
    _place(index, [_page(files, each.path) for each in listed], parent=index.parent)
    texts = _page(files, "proposals.md")
    _place(texts, [_page(files, path) for path in proposals.pages()], parent=texts)


def _page(files: Files, path: str) -> Page:
    file = files.get_file_from_path(path)
    page = None if file is None else file.page
    assert page is not None, path
    return page


def _place(index: Page, pages: list[Page], parent: StructureItem | None) -> None:
    for before, behind in pairwise([index, *pages]):
        behind.previous_page, before.next_page = before, behind
        behind.parent = parent  # type: ignore[assignment]  # a page as well as a section: mkdocs marks it as active
