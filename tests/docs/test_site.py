"""The built site in a browser: wide and narrow, light and dark, its search, and nothing cut off.

``make docs`` builds it. A site that is older than its pages is not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, ROOT
from tests.helpers.requirements import skip_or_fail
from tests.render.browser import Browser, Page

pytestmark = pytest.mark.exhaustive

SITE = ROOT / "build" / "site"
#: Pages with wide tables, long code or many rows.
PAGES = (
    "start.html", "recipes/capture-at-night.html", "messages/index.html", "messages/fetch.html",
    "reference/error-codes.html", "reference/kap.html", "reference/python/admin-client.html",
    "drafts.html", "index.html", "house.html", "field.html", "tables.html", "benchmarks.html",
    "benchmarks-server.html", "reference/server-configs.html", "reference/blocks-not-run.html",
    "reference/python/spark.html", "command-line.html", "recipes/simulations.html",
)  # fmt: skip
WIDTHS = (1280, 400)
#: How many tables, pictures and blocks of code are wider than their place, and cannot be scrolled.
_CUT = """[...document.querySelectorAll(
  'article table, article pre, article svg.picture, article img'
)].filter((each) => {
  let box = each
  while (box && getComputedStyle(box).overflowX === 'visible') box = box.parentElement
  const scrolls = box && box.tagName !== 'BODY' && box.tagName !== 'HTML'
    && ['auto', 'scroll'].includes(getComputedStyle(box).overflowX)
  return !scrolls && each.getBoundingClientRect().right > innerWidth
}).length"""


@pytest.fixture(scope="module")
def site() -> Path:
    built = SITE / "index.html"
    if not built.is_file():
        skip_or_fail("there is no site: run make docs")
    newest = max(path.stat().st_mtime for path in DOCS.rglob("*.md"))
    if built.stat().st_mtime < newest:
        skip_or_fail("the site is older than its pages: run make docs")
    return SITE


@pytest.fixture(scope="module")
def browser(site: Path) -> Iterator[Browser]:
    with Browser() as found:
        yield found


def shown(browser: Browser, file: Path, width: int, scheme: str) -> Page:
    page = browser.open(file, size=(width, 900))
    feature = {"name": "prefers-color-scheme", "value": scheme}
    page.call("Emulation.setEmulatedMedia", {"features": [feature]})
    page.value("localStorage.clear()")  # the scheme of the visit before
    page.go(file.as_uri())
    return page


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", PAGES)
def test_nothing_is_cut_off(browser: Browser, site: Path, name: str, width: int) -> None:
    page = shown(browser, site / name, width, "light")
    assert page.value("document.documentElement.scrollWidth") <= width
    assert page.value(_CUT) == 0
    assert not page.errors
    assert all(address.startswith(("file:", "data:", "about:")) for address in page.requests)


@pytest.mark.parametrize(("scheme", "expected"), [("light", "default"), ("dark", "slate")])
def test_both_schemes(browser: Browser, site: Path, scheme: str, expected: str) -> None:
    """As the system has it, on a first visit. Pages that are still open may store their own."""
    for _ in range(5):
        page = shown(browser, site / "start.html", 1280, scheme)
        if page.value("document.body.dataset.mdColorScheme") == expected:
            break
    else:
        pytest.fail(f"the page is never {scheme}")


def test_the_search_finds_a_field(browser: Browser, site: Path) -> None:
    """From a file, without a server."""
    page = shown(browser, site / "index.html", 1280, "light")
    page.value("document.querySelector('.md-search__input').focus()")
    page.press("isolation_level")
    page.value("document.querySelector('.md-search__input').dispatchEvent(new Event('keyup'))")
    found = page.value(
        """new Promise((done) => {
          const look = () => {
            const links = [...document.querySelectorAll('.md-search-result__link')]
            if (links.length) done(links.map((each) => each.getAttribute('href')))
            else setTimeout(look, 50)
          }
          look()
        })"""
    )
    assert any("messages/fetch.html" in each for each in found)
    assert not page.errors
