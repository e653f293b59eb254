"""The page of a simulated run in a real browser: arrows, fields, states, keys, no network."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_admin_proto.render.sequence import (
    MOST_ROWS,
    Diagram,
    SequenceRow,
    sequence_page,
    sequence_svg,
)
from kafka_admin_proto.simulation.output.page import diagram, html_page
from kafka_admin_proto.simulation.scenarios import SCENARIOS
from tests.helpers.profile import sample
from tests.render.browser import Browser, Page
from tests.render.frames import HOSTILE

pytestmark = pytest.mark.exhaustive

SIZES = [(1280, 900), (800, 700)]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("page") / "election.html"
    file.write_text("".join(html_page(SCENARIOS["election"](1, 9).trace, "Election", ["A run."])))
    return file


@pytest.fixture
def page(browser: Browser, written: Path) -> Iterator[Page]:
    opened = browser.open(written, size=SIZES[0])
    yield opened
    closed_well(opened)


def closed_well(page: Page) -> None:
    assert page.errors == []
    assert len(page.requests) == 1, "the page loads nothing but itself"


def text(page: Page, selector: str) -> str:
    found: str = page.value(f"document.querySelector({json.dumps(selector)}).innerText")
    return found


def row_with(page: Page, words: str) -> str:
    """The selector of the first row whose label begins with the words; it is scrolled to."""
    number = page.value(
        "[...document.querySelectorAll('[data-row]')].findIndex((row) => "
        f"row.textContent.includes({json.dumps(words)}))"
    )
    assert number >= 0, words
    page.value(f"document.getElementById('row-{number}').scrollIntoView({{block: 'center'}})")
    return f"#row-{number}"


def test_pointing_at_a_message_shows_its_fields(page: Page) -> None:
    page.hover(row_with(page, "Vote v0"))
    assert re.search(r"Vote v0 request, voter \d → voter \d", text(page, "#what"))
    fields = text(page, "#fields")
    assert "topics[0].topicId" in fields
    assert "AAAAAAAAAAAAAAAAAAAAAQ" in fields


def test_states_stand_beside_it_and_news_are_marked(page: Page) -> None:
    page.hover(row_with(page, "gives the metadata topic"))
    states = text(page, "#states")
    assert [name for name in ("voter 1", "voter 2", "voter 3", "broker 4") if name in states] == [
        "voter 1", "voter 2", "voter 3", "broker 4",
    ]  # fmt: skip
    changed = page.value("[...document.querySelectorAll('.changed')].map((e) => e.textContent)")
    assert "leader" in changed


def test_a_click_keeps_a_row_and_escape_lets_it_go(page: Page) -> None:
    page.click(row_with(page, "Vote v0"))
    kept = text(page, "#what")
    page.hover(row_with(page, "leads epoch 1"))
    assert text(page, "#what") == kept
    page.press("Escape")
    page.hover("#states")
    page.hover(row_with(page, "leads epoch 1"))
    assert "leads epoch 1" in text(page, "#what")


def test_keys_go_through_the_rows(page: Page) -> None:
    page.value("document.getElementById('row-0').focus()")
    for key in ("ArrowDown", "ArrowDown", "ArrowUp"):
        page.press(key)
    assert page.value("document.activeElement.id") == "row-1"
    assert text(page, "#what").startswith("0 ms: voter 1")
    page.press("End")
    assert page.value("document.activeElement.nextElementSibling") is None
    assert page.value("document.querySelectorAll('[data-row][tabindex=\"0\"]').length") == 1


#: Texts of rows that stick out of the diagram, which scrolls in a narrow window.
_CUT_TEXTS = """[...document.querySelectorAll('svg.row text')].filter((text) => {
  const box = text.closest('svg').getBoundingClientRect(), own = text.getBoundingClientRect()
  return own.width && (own.left < box.left - 2 || own.right > box.right + 2)
}).map((text) => text.textContent)"""


@pytest.mark.parametrize("scenario", sample(sorted(SCENARIOS), 1))
def test_each_scenario_is_drawn(browser: Browser, scenario: str, tmp_path: Path) -> None:
    """Every row has its place, and arrows end at the columns; at both widths and in both themes."""
    trace = SCENARIOS[scenario](0, 30).trace
    drawn = diagram(trace, scenario, [])
    file = tmp_path / "page.html"
    file.write_text("".join(sequence_page(drawn)), "utf-8")
    page = browser.open(file, size=SIZES[0])
    for width, height in SIZES:
        for theme in ("light", "dark"):
            media = {"features": [{"name": "prefers-color-scheme", "value": theme}]}
            page.call("Emulation.setEmulatedMedia", media)
            metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
            page.call("Emulation.setDeviceMetricsOverride", metrics)
            page.rest()
            assert page.value("document.documentElement.scrollWidth") <= width
            assert page.value(_CUT_TEXTS) == []
            ground = page.value("getComputedStyle(document.body).backgroundColor")
            assert (ground == "rgb(255, 255, 255)") == (theme == "light")
    arrows = page.value("document.querySelectorAll('#rows line.arrow').length")
    columns = page.value("document.querySelectorAll('svg.head text.name').length")
    assert columns == len(trace.names)
    sent = [each for each in drawn.rows[:MOST_ROWS] if each.kind in ("message", "lost")]
    assert arrows == sum(each.column != each.to for each in sent)  # to itself: a dot
    assert arrows > 0
    closed_well(page)


def test_hostile_texts_are_text(browser: Browser, tmp_path: Path) -> None:
    row = SequenceRow(
        kind="message", at="0", text=HOSTILE, column=0, to=1, title=HOSTILE,
        fields=[(HOSTILE, HOSTILE)], states=[(0, [(HOSTILE, HOSTILE)])], up=frozenset({0, 1}),
    )  # fmt: skip
    step = SequenceRow(kind="step", at="0", text=HOSTILE)
    found = Diagram(
        title=HOSTILE, about=[HOSTILE], columns=[HOSTILE, "b"], colours=[HOSTILE],
        rows=[step] + [row] * (MOST_ROWS + 5),
    )  # fmt: skip
    file = tmp_path / "page.html"
    file.write_text("".join(sequence_page(found)), "utf-8")
    page = browser.open(file)
    page.hover("#row-1")
    assert page.value("document.querySelectorAll('img, iframe, b').length") == 0
    assert page.value("document.querySelectorAll('script').length") == 2
    assert f"The last 6 of {MOST_ROWS + 6:,} rows are left out." in text(page, "header")
    closed_well(page)


def test_pictures_are_small_and_well_formed() -> None:
    from xml.etree import ElementTree

    svg = sequence_svg(diagram(SCENARIOS["election"](0, 9).trace, "Election", []))
    assert ElementTree.fromstring(svg).tag.endswith("svg")
    assert len(svg) < 150_000


def test_the_start_is_folded(browser: Browser, tmp_path: Path) -> None:
    """The scenario's own first step is at the top, and keys lead to the rows of the start."""
    file = tmp_path / "run.html"
    file.write_text("".join(html_page(SCENARIOS["stale-read"](0, 9).trace, "Run", ["A run."])))
    page = browser.open(file, size=SIZES[0])
    first = "[...document.querySelectorAll('.row')].find((row) => row.checkVisibility())"
    assert page.value(f"{first}.textContent").startswith("1. Broker B1 is a leader")
    page.value(f"{first}.focus()")
    page.press("ArrowUp")
    assert page.value("document.getElementById('start-up').open")
    assert page.value("document.activeElement.checkVisibility()")
    page.press("Home")
    assert page.value("document.activeElement.textContent") == "The rules are those of the text"
    closed_well(page)
