"""The report at a look: its head, brokers apart from clients, a phone and a desk, hostile texts."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from kafka_admin_proto.render.text import printable
from tests.helpers.kap import ended, run_kap
from tests.render.browser import Browser, Page
from tests.render.frames import HOSTILE
from tests.render.legible import cut_texts, faint_texts, show_as, sideways
from tests.tables.report.report_tables import everything, request, write_tables

pytestmark = [pytest.mark.xdist_group("report"), pytest.mark.exhaustive]

WINDOWS = [(width, scheme) for width in (1280, 400) for scheme in ("light", "dark")]
LONG = HOSTILE + "\u05d0" + "x" * 10_000
#: Numbers without a unit where a person reads them: tiles, and the ends of bars.
_NUMBERS = ".tiles b, .plot .value"


def report(folder: Path, tables: Any, *options: str) -> Path:
    """The page of the tables."""
    file = folder / "report.html"
    write_tables(folder / "tables", tables)
    arguments = ["report", str(folder / "tables"), "--release", "4.0", "--out", str(file)]
    ended(run_kap(*arguments, *options))
    return file


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return report(tmp_path_factory.mktemp("report"), everything())


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Long hostile texts, which no space breaks, wherever a client or a capture has a say."""
    tables = {name: [dict(row) for row in rows] for name, rows in everything().items()}
    tables["frames"] += [
        request(
            "Fetch", version, client_id=LONG, client_software=LONG, principal=LONG, capture=LONG
        )
        for version in (0, 17)
    ]
    tables["admin_audit"].append(tables["admin_audit"][-1] | {"client_id": LONG, "topic": LONG})
    tables["clients"].append(tables["clients"][-1] | {"client_id": LONG})
    tables["problems"].append(tables["problems"][-1] | {"problem": LONG, "capture": LONG})
    return report(tmp_path_factory.mktemp("hostile"), tables)


def opened(browser: Browser, file: Path, width: int, scheme: str = "light") -> Page:
    page = browser.open(file, size=(width, 900))
    page.value("document.querySelectorAll('details').forEach((each) => { each.open = true })")
    show_as(page, width, scheme)
    return page


def rows_under(page: Page, heading: str) -> list[list[str]]:
    """The rows of the table under that heading."""
    region = f"[role=region][aria-label={json.dumps(heading)}]"
    found: list[list[str]] = page.value(
        f"[...document.querySelector({json.dumps(region)}).querySelectorAll('tbody tr')]"
        ".map((row) => [...row.cells].map((cell) => cell.textContent))"
    )
    return found


def test_the_head_has_the_answer_the_period_and_the_captures(
    browser: Browser, written: Path
) -> None:
    page = opened(browser, written, 1280)
    answer, period, captures, _ = page.texts("header > p")
    assert answer == "3 of 4 clients must change before 4.0, as far as could be read."
    changing = {tuple(row[1:5]) for row in rows_under(page, "Clients that have to change")}
    staying = rows_under(page, "Clients that stay as they are")
    assert (len(changing), len(changing) + len(staying)) == (3, 4)
    assert page.value("getComputedStyle(document.querySelector('.answer')).color") == (
        page.value("getComputedStyle(document.querySelector('.tiles .bad b')).color")
    )
    rows = rows_under(page, "Captures")
    frames = sum(int(row[1]) for row in rows)
    assert frames == len(everything()["frames"])
    assert captures == f"1 capture with {frames} frames: one.pcap."
    first, last = min(row[3] for row in rows), max(row[4] for row in rows)
    assert period == f"From {first[:19]} to {last[:19]} UTC."


def test_the_rows_of_brokers_are_no_alarm(browser: Browser, written: Path) -> None:
    page = opened(browser, written, 1280)

    def statuses(heading: str) -> set[tuple[str, str]]:
        found = page.value(
            f"[...document.querySelectorAll('[aria-label^={json.dumps(heading)}] tbody tr')]"
            ".map((row) => [row.cells[0].textContent, row.cells[0].className])"
        )
        return {(text, name) for text, name in found}

    assert statuses("Clients that have to change") == {("version removed", "bad")}
    assert statuses("Between brokers and controllers") == {
        ("api removed", "text"), ("version removed", "text"),
    }  # fmt: skip


def test_brokers_among_the_clients(browser: Browser, tmp_path: Path) -> None:
    client = everything()["clients"][0]
    use = client["apis"][0] | {"api": "BrokerHeartbeat"}
    rows = [client, client | {"client_id": "1", "apis": [use]},
            client | {"client_id": "broker-2-fetcher-0"}]  # fmt: skip
    page = opened(browser, report(tmp_path, {"clients": rows}), 1280)
    assert page.texts(".tiles a[href='#clients'] b") == ["1 client, 2 brokers"]
    assert sorted(row[2] for row in rows_under(page, "Clients")) == ["broker", "broker", "client"]
    assert page.value("document.querySelectorAll('#clients .mark rect.s8').length") == 2


@pytest.mark.parametrize("tables", [{}, {"frames": []}, {"problems": everything()["problems"]}])
def test_the_head_of_few_tables(tmp_path: Path, tables: dict[str, Any]) -> None:
    text = report(tmp_path, tables | {"quorum_events": []}).read_text("utf-8")
    head = text.partition("<header>")[2].partition("</header>")[0]
    said = "No capture was read, or the tables have nothing of this time."
    if "problems" in tables:
        said = "1 capture with 0 frames: one.pcap."
    assert f"<p>{said}</p>" in head


def test_all_clients_are_ready(tmp_path: Path) -> None:
    tables = {"frames": [request("Fetch", 12, client_id="a"), request("Fetch", 12, client_id="b")]}
    text = report(tmp_path, tables).read_text("utf-8")
    assert '<p class="answer">None of 2 clients must change before 4.0.</p>' in text
    unread = {"problem": "?", "ts": None, "capture": "one.pcap", "forwarded": False}
    (tmp_path / "more").mkdir()
    text = report(tmp_path / "more", tables | {"problems": [unread]}).read_text("utf-8")
    assert "None of 2 clients must change before 4.0, as far as could be read." in text


@pytest.mark.parametrize(("width", "scheme"), WINDOWS)
@pytest.mark.parametrize("which", ["written", "hostile"])
def test_all_is_in_view_and_stands_out(
    browser: Browser, request: pytest.FixtureRequest, which: str, width: int, scheme: str
) -> None:
    page = opened(browser, request.getfixturevalue(which), width, scheme)
    assert sideways(page) == []
    assert faint_texts(page) == []
    assert cut_texts(page, "td, th, p, .tiles a, figcaption, .legend li") == []
    outside = "box.right > innerWidth + 1 || box.left < -1"
    assert (
        page.value(
            "[...document.querySelectorAll('svg.plot text, svg.plot foreignObject')]"
            f".filter((each) => {{ const box = each.getBoundingClientRect(); return {outside} }})"
            ".map((each) => each.textContent)"
        )
        == []
    ), "a text of a plot is out of view"
    assert all(re.search("[a-z]", each) for each in page.texts(_NUMBERS))
    assert "\u202e" not in page.value("document.body.innerText")
    assert page.value("[window.broken, document.images.length]") == [None, 0]
    assert page.value("document.querySelectorAll('script').length") == 1
    assert page.errors == []


def test_a_phone_has_every_value_of_the_audit(browser: Browser, written: Path) -> None:
    """One below the other, each with its name; fields without a value are left out, with a word."""
    page = opened(browser, written, 400)
    seen = page.value(
        "[...document.querySelectorAll('[aria-label^=\"Who did what\"] tbody td')]"
        ".map((cell) => [cell.textContent, cell.dataset.name, cell.checkVisibility()])"
    )
    assert {name for _, name, _ in seen} >= {"time (UTC)", "topic", "principal", "error"}
    assert all(visible == (text not in ("–", "")) for text, _, visible in seen)
    note = "getComputedStyle(document.querySelector('.stacked thead tr'), '::after').content"
    assert "only the fields that have a value" in page.value(note)


def test_an_empty_list_is_no_field_on_a_phone(browser: Browser, tmp_path: Path) -> None:
    tables = {"clients": [everything()["clients"][0] | {"principals": []}]}
    page = opened(browser, report(tmp_path, tables), 400)
    seen = page.value(
        "[...document.querySelectorAll('.stacked tbody td')].filter((e) => e.checkVisibility())"
        ".map((e) => [e.dataset.name, e.textContent])"
    )
    assert seen
    assert [name for name, text in seen if text in ("", "–")] == []


def test_the_page_is_for_readers_by_ear_too(browser: Browser, hostile: Path) -> None:
    page = opened(browser, hostile, 1280)
    assert page.value("document.documentElement.lang") == "en"
    levels = page.value("[...document.querySelectorAll('h1, h2, h3')].map((e) => e.tagName)")
    assert levels.count("H1") == 1
    assert levels[:2] == ["H1", "H2"]
    assert page.value("document.querySelectorAll('th:not([scope])').length") == 0
    assert printable(LONG)[:100] in page.value("document.body.textContent")
