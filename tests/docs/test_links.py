"""The pages as a checkout shows them: links lead to files or are marked; claims hold."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from kafka_admin_proto.capture import READERS
from kafka_admin_proto.protocol.versions import api_versions
from kafka_admin_proto.server.apis import served_apis
from kafka_admin_proto.server.releases import ReleaseNumber
from tests.docs.pages import DOCS, ROOT
from tools.site.generated import generated
from tools.site.markdown import without_checkout_notes

PAGES = sorted(
    [ROOT / "README.md", *ROOT.glob("*.md"), *DOCS.rglob("*.md"), *ROOT.glob("samples/*.md")]
)
#: The title of a link to a page that only ``make docs`` makes.
MARK = "in the built site"
_LINK = re.compile(r'\]\((?!\w+:|#)([^)\s#]+)(?:#[^)\s]*)?(?: "([^"]*)")?\)')
NOTE = "<!-- checkout only -->"


@cache
def _made() -> frozenset[Path]:
    """The files that only the site has."""
    return frozenset((DOCS / name).resolve() for name in generated())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_each_link_leads_to_a_file_or_says_that_it_does_not(page: Path) -> None:
    for target, title in _LINK.findall(page.read_text("utf-8")):
        file = (page.parent / target).resolve()
        assert file.exists() or (title == MARK and file in _made()), target
        assert file.exists() != (title == MARK), target


def test_notes_for_a_checkout_are_not_on_the_site() -> None:
    noted = [page for page in DOCS.rglob("*.md") if NOTE in page.read_text("utf-8")]
    assert {page.name for page in noted} == {"field.md", "house.md", "index.md", "tables.md"}
    for page in PAGES:
        shown = without_checkout_notes(page.read_text("utf-8"))
        assert DOCS not in page.parents or page.name == "decisions.md" or "build/site" not in shown
    text = f"# A page\n\n{NOTE}\nIn a checkout\nit lacks this.\n\nThe rest.\n"
    assert without_checkout_notes(text) == "# A page\n\nThe rest.\n"


def test_the_page_of_dumps_has_each_format() -> None:
    text = (DOCS / "dumps.md").read_text("utf-8")
    rows = re.findall(r"^\| [^-].* \| `([\w-]+)` \|$", text, re.MULTILINE)
    assert [name for name in rows if name != "--input-format"] == list(READERS)


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", DOCS / "index.md"], ids=lambda page: page.name
)
def test_what_the_cluster_does_not_serve(page: Path) -> None:
    """The sentence of the first pages names apis of Kafka that no release's cluster serves."""
    text = " ".join(page.read_text("utf-8").split())
    (sentence,) = re.findall(r"does not serve ([\w, ]+) of clients' metrics", text)
    named = set(re.split(r", | and ", sentence))
    kafka = {api.name for api in api_versions(unstable=True)}
    served = {api.name for minor in ((4, 3), (3, 9)) for api in served_apis(ReleaseNumber(*minor))}
    assert named <= kafka
    assert not named & served
