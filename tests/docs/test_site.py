"""The built site in a browser: wide and narrow, light and dark, its search, and nothing cut off.

``make docs`` builds it. A site that is older than its pages is not looked at.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Protocol

import pytest

from tests.docs.pages import DOCS, ROOT
from tests.helpers.profile import sample
from tests.helpers.requirements import skip_or_fail
from tests.render.browser import Browser, Page
from tests.render.legible import faint_texts

pytestmark = pytest.mark.exhaustive

SITE = ROOT / "build" / "site"
#: Pages with wide tables, long code or many rows.
PAGES = (
    "start.html", "recipes/capture-at-night.html", "messages/index.html", "messages/fetch.html",
    "reference/error-codes.html", "reference/kap.html", "reference/python/admin-client.html",
    "drafts.html", "index.html", "house.html", "field.html", "tables.html", "benchmarks.html",
    "benchmarks-server.html", "reference/server-configs.html", "reference/blocks-not-run.html",
    "reference/python/spark.html", "command-line.html", "recipes/simulations.html",
    "proposals.html", "proposals/kip-516-topic-ids.html", "simulation.html", "kafka-shell.html",
    "recipes/rename-proxy.html",
)  # fmt: skip
WIDTHS = (1280, 400)
#: How many tables, pictures and blocks of code are wider than their place, and cannot be scrolled.
_CUT = """[...document.querySelectorAll(
  'article table, article pre, article svg.picture, article img'
)].filter((each) => {
  let box = each.matches('svg, img') ? each.parentElement : each
  while (box && getComputedStyle(box).overflowX === 'visible') box = box.parentElement
  const scrolls = box && box.tagName !== 'BODY' && box.tagName !== 'HTML'
    && ['auto', 'scroll'].includes(getComputedStyle(box).overflowX)
  return !scrolls && each.getBoundingClientRect().right > innerWidth
}).length"""
#: Tables and pictures that are wider than the box that they stand in: whether that box scrolls, and
#: whether its edge shows that there is more.
_WIDER = """[...document.querySelectorAll('article table, article svg.picture')].map((each) => {
  let box = each.parentElement
  while (box && getComputedStyle(box).overflowX === 'visible') box = box.parentElement
  const style = box && getComputedStyle(box)
  const wider = !box || Math.max(box.scrollWidth, each.scrollWidth) > box.clientWidth
  return wider && {
    head: each.textContent.trim().slice(0, 40),
    scrolls: !!box && ['auto', 'scroll'].includes(style.overflowX),
    hint: !!box && style.backgroundImage.includes('gradient'),
  }
}).filter(Boolean)"""


#: Blocks of code that their button for copying lies on.
_UNDER_A_BUTTON = """[...document.querySelectorAll('article pre')].filter((block) => {
  const button = block.querySelector('button'), code = block.querySelector('code')
  if (!button || !code) return false
  const icon = button.getBoundingClientRect(), text = code.getBoundingClientRect()
  return icon.left < text.right && icon.top < text.bottom
}).map((block) => block.textContent.slice(0, 40))"""


#: What the system has → the site's scheme; whether a page has it within ten seconds.
_SCHEMES = {"light": "default", "dark": "slate"}
_HAS_SCHEME = """new Promise((done) => {
  const end = Date.now() + 10000
  const look = () => {
    if (document.body.dataset.mdColorScheme === '%s') done(true)
    else if (Date.now() > end) done(false)
    else setTimeout(look, 20)
  }
  look()
})"""


@pytest.fixture(scope="module")
def site() -> Path:
    built = SITE / "index.html"
    if not built.is_file():
        skip_or_fail("there is no site: run make docs")
    newest = max(path.stat().st_mtime for path in DOCS.rglob("*.md"))
    if built.stat().st_mtime < newest:
        skip_or_fail("the site is older than its pages: run make docs")
    return SITE


class Show(Protocol):
    """Opens a page of the site, as on a first visit."""

    def __call__(self, name: str, width: int = 1280, scheme: str = "light") -> Page: ...


@pytest.fixture
def shown(browser: Browser, site: Path) -> Show:
    def show(name: str, width: int = 1280, scheme: str = "light") -> Page:
        page = browser.open(site / name, size=(width, 900))
        feature = {"name": "prefers-color-scheme", "value": scheme}
        page.call("Emulation.setEmulatedMedia", {"features": [feature]})
        # A visit keeps its scheme, the one that `open` made just now too, whenever its script runs.
        page.call("Page.addScriptToEvaluateOnNewDocument", {"source": "localStorage.clear()"})
        page.go((site / name).as_uri())
        # The site's script sets it, which comes a moment later on a busy machine.
        assert page.value(_HAS_SCHEME % _SCHEMES[scheme]), f"{name} is not {scheme}"
        return page

    return show


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_cut_off_on_any_page(shown: Show, site: Path, width: int) -> None:
    """On a screen all columns are in view; on a phone a table scrolls in its box, and shows it."""
    # 404.html is for a server, from whose root it takes all that it needs.
    pages = sorted({*site.rglob("*.html")} - {site / "404.html"})
    # One template makes the pages of all messages.
    messages = [each for each in pages if each.parent == site / "messages"]
    others = [each for each in pages if each not in messages]
    page = shown("index.html", width)
    wrong: dict[str, object] = {}
    for file in [*sample(others, 2), *sample(messages, 1)]:
        page.go(file.as_uri())
        wider = page.value(_WIDER)
        seen = [each for each in wider if width > 1000 or not (each["scrolls"] and each["hint"])]
        if seen or page.value(_CUT) or page.value("document.documentElement.scrollWidth") > width:
            wrong[file.relative_to(site).as_posix()] = seen
    assert wrong == {}
    assert not page.errors
    assert all(address.startswith(("file:", "data:", "about:")) for address in page.requests)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(
    "name", sample(["start.html", "kafka-shell.html", "recipes/rename-proxy.html"], 1)
)
def test_no_button_lies_on_code(shown: Show, name: str, width: int) -> None:
    page = shown(name, width)
    assert page.value("document.querySelectorAll('article pre button').length") > 0
    assert page.value(_UNDER_A_BUTTON) == []


def test_the_house_is_readable_on_a_phone(shown: Show) -> None:
    page = shown("house.html", 400)
    size = "document.querySelector('.drawing svg.picture text').getBoundingClientRect().height"
    assert page.value(size) >= 11


@pytest.mark.explore
def test_drawn_runs_are_readable_on_a_phone(shown: Show) -> None:
    """They have their own size, in a box that scrolls."""
    for name in ("simulation.html", "recipes/simulations.html"):
        page = shown(name, 400)
        sizes = page.value(
            "[...document.querySelectorAll('article img[src$=\".svg\"]')].map((each) =>"
            " [each.getBoundingClientRect().width, each.naturalWidth])"
        )
        assert sizes
        assert all(width == natural > 800 for width, natural in sizes)


@pytest.mark.explore
def test_the_rules_of_the_proposals_are_in_view_on_a_phone(shown: Show) -> None:
    """Each is a paragraph, with words for the columns."""
    page = shown("proposals.html", 400)
    seen = page.value(
        "[...document.querySelectorAll('.rules td')].filter((each) => each.textContent.trim())"
        ".map((each) => each.getBoundingClientRect().right <= innerWidth)"
    )
    assert len(seen) > 500
    assert all(seen)
    label = "getComputedStyle(document.querySelector('.rules td:nth-child(4)'), '::before').content"
    assert page.value(label) == '"Tests: "'


@pytest.mark.parametrize("width", WIDTHS)
def test_an_option_keeps_its_dashes(shown: Show, width: int) -> None:
    """Neither stands on the line above its name."""
    page = shown("kafka-shell.html", width)
    lines = page.value(
        "[...document.querySelectorAll('article :not(pre) > code .whole')]"
        ".map((each) => [each.textContent, each.getClientRects().length])"
    )
    assert len(lines) > 30
    assert [each for each in lines if each[1] != 1] == []
    options = page.value(
        "[...document.querySelectorAll('article :not(pre) > code')]"
        ".flatMap((each) => each.textContent.match(/(?<![\\w-])--\\w+/g) ?? []).length"
    )
    assert options <= len(lines)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", sample(PAGES, 1))
def test_texts_stand_out(shown: Show, name: str, scheme: str) -> None:
    """All but the marks behind headings, which appear under the pointer."""
    page = shown(name, scheme=scheme)
    assert faint_texts(page, "article :not(.headerlink)") == []


@pytest.mark.parametrize("scheme", _SCHEMES)
def test_both_schemes(shown: Show, scheme: str) -> None:
    """As the system has it, on a first visit."""
    shown("start.html", scheme=scheme)


#: What an operator types, and the first page of the results.
QUERIES = {
    "isolation_level": "messages/fetch.html",
    "KIP-896": "recipes/upgrade-audit.html",
    "KIP-516": "simulation.html",
    "TOPIC_ALREADY_EXISTS": "reference/error-codes.html",
    "NOT_LEADER_OR_FOLLOWER": "reference/error-codes.html",
    "UNKNOWN_TOPIC_OR_PARTITION": "reference/error-codes.html",
    "consumer lag": "kafka-shell.html",
    "reset offsets": "kafka-shell.html",
    "CreateTopics": "messages/create-topics.html",
    "kap reassign": "reference/kap.html",
    "kap partitions reassign": "reference/kap.html",
    "kap decode": "command-line.html",
    "cleanup.policy": "reference/server-configs.html",
    "SCRAM": "server-security.html",
    "install": "installing.html",
    "faults": "server-faults.html",
    "real broker": "real-broker.html",
    "CreateTopicPolicy": "recipes/topic-policy.html",
}


def test_the_search_finds_first(shown: Show) -> None:
    """From a file, without a server; the page that explains it is the first result."""
    page = shown("index.html")
    first = {query: _found(page, query)[0] for query in QUERIES}
    wrong = {query: first[query] for query in QUERIES if QUERIES[query] not in first[query]}
    assert wrong == {}
    assert not page.errors


def _found(page: Page, query: str) -> list[str]:
    """Where the results of a query lead, which is typed in place of the one before."""
    page.value("document.querySelector('.md-search__form').reset()")
    page.value(
        "document.querySelectorAll('.md-search-result__item').forEach((each) => each.remove())"
    )
    page.value("document.querySelector('.md-search__input').focus()")
    page.press(query)
    page.value("document.querySelector('.md-search__input').dispatchEvent(new Event('keyup'))")
    found: list[str] = page.value(
        """new Promise((done) => {
          const look = () => {
            const links = [...document.querySelectorAll('.md-search-result__link')]
            if (links.length) done(links.map((each) => each.getAttribute('href')))
            else setTimeout(look, 50)
          }
          look()
        })"""
    )
    return found


def test_every_page_says_where_it_is(site: Path) -> None:
    """A path to what is above, and from pages of a list to their neighbours in it."""
    roots = (site / "404.html", site / "index.html")
    for file in sample([each for each in sorted(site.rglob("*.html")) if each not in roots], 20):
        name, text = file.relative_to(site).as_posix(), file.read_text("utf-8")
        assert 'class="md-path"' in text, name
        assert "md-tabs__item--active" in text, name
        assert "md-footer__link--prev" in text, name
    recipe = (site / "recipes" / "test-broker.html").read_text("utf-8")
    assert re.findall(r'href="([\w-]+\.html)" class="md-footer__link', recipe) == [
        "rename-proxy.html", "groups-in-tests.html",
    ]  # fmt: skip
    message = (site / "messages" / "fetch.html").read_text("utf-8")
    beside = re.findall(r'href="([\w-]+\.html)" class="md-nav__link', message)
    assert beside[:4] == ["index.html", "produce.html", "fetch.html", "list-offsets.html"]
    draft = (site / "messages" / "kip-516" / "list-offsets.html").read_text("utf-8")
    assert 'href="stop-replica.html" class="md-nav__link' in draft
    assert 'href="../fetch.html" class="md-nav__link' not in draft
    assert re.findall(r'href="([\w-]+\.html)" class="md-footer__link', message) == [
        "produce.html", "list-offsets.html",
    ]  # fmt: skip


def test_methods_that_are_made_of_others_have_signatures(site: Path) -> None:
    page = (site / "reference" / "python" / "reference-cluster.html").read_text("utf-8")
    _, _, shown = page.partition('id="kafka_admin_proto.server.sync.SyncCluster.produce"')
    shown = re.sub("<[^>]*>", "", shown)[:300]
    assert "topic: str" in shown, shown
    assert "Append records to a topic" in shown, shown
    assert "_in_loop" not in page
