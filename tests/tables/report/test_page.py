"""``kap report``: the page in a real browser, and the rows of single questions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from kafka_admin_proto.tables.queries import QUERIES
from kafka_admin_proto.tables.report.answers import MOST_ROWS
from tests.helpers.kap import ended, run_kap
from tests.render.browser import Browser, Page
from tests.render.frames import HOSTILE
from tests.tables.report.report_tables import audits, everything, request, write_tables

#: A browser takes some seconds.
pytestmark = [pytest.mark.xdist_group("report"), pytest.mark.exhaustive]
SECTIONS = ("upgrade", "clients", "audit", "errors", "rates", "latencies", "leaders", "elections",
            "problems")  # fmt: skip
PHONE = (390, 800)


def run(*arguments: str) -> Result:
    return run_kap("report", *arguments)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tables(tmp_path_factory.mktemp("tables") / "of <b>one<b>", everything())


@pytest.fixture(scope="module")
def written(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("page") / "report.html"
    result = ended(run(str(folder), "--release", "4.0", "--out", str(file)))
    assert "Upgrade to 4.0: 3 clients to change" in result.stderr
    assert result.stdout == f"written: {file}\n"
    return file


@pytest.fixture
def page(browser: Browser, written: Path) -> Iterator[Page]:
    opened = browser.open(written)
    yield opened
    assert opened.errors == []
    assert len(opened.requests) == 1, "the page loads nothing but itself"
    assert opened.value("window.broken") is None


def table(page: Page, section: str, heading: str) -> list[list[str]]:
    """The shown rows of the table under a heading."""
    script = f"""(() => {{
      const all = [...document.querySelectorAll('#{section} table')];
      const region = (each) => each.parentElement.getAttribute("aria-label");
      const table = all.find((each) => region(each) === {json.dumps(heading)});
      return [...table.tBodies[0].rows].filter((row) => !row.hidden)
        .map((row) => [...row.cells].map((cell) => cell.textContent));
    }})()"""
    found: list[list[str]] = page.value(script)
    return found


def tip(page: Page) -> str | None:
    found: str | None = page.value(
        "(() => { const tip = document.getElementById('tip');"
        " return tip.hidden ? null : tip.textContent; })()"
    )
    return found


def test_every_section_has_its_plot_and_table(page: Page) -> None:
    assert page.value("[...document.querySelectorAll('main > section')].map((e) => e.id)") == list(
        SECTIONS
    )
    for section in SECTIONS:
        assert page.value(f"document.querySelectorAll('#{section} svg.plot .mark').length") > 0
        assert page.value(f"document.querySelectorAll('#{section} table').length") > 0
    # What is drawn has a place: no rectangle without a size.
    sizes = page.value(
        "[...document.querySelectorAll('svg.plot .mark rect, svg.plot circle')].map((e) => "
        "e.getBoundingClientRect()).filter((box) => !(box.width > 0 && box.height > 0)).length"
    )
    assert sizes == 0
    assert page.texts(".tiles .bad span") == [
        "Upgrade to 4.0", "Administration", "Leader changes", "What could not be read",
    ]  # fmt: skip


def test_bars_are_as_long_as_their_numbers(page: Page) -> None:
    widths = page.value(
        "[...document.querySelectorAll('#upgrade figure rect.s3')]"
        ".map((e) => e.getBoundingClientRect().width)"
    )
    assert page.texts("#upgrade .value") == ["7 requests", "1 request", "1 request"]
    assert widths[0] / widths[1] == pytest.approx(7, rel=0.02)


def test_columns_are_as_high_as_their_numbers(page: Page) -> None:
    marks = page.value(
        "[...document.querySelectorAll('#rates figure:first-of-type .mark')].map((mark) => "
        "[mark.dataset.tip, [...mark.querySelectorAll('rect:not(.hit)')]"
        ".reduce((sum, e) => sum + e.getBoundingClientRect().height, 0)])"
    )
    counts = [int(re.findall(r": (\d+) requests?", each)[0]) for each, _ in marks]
    assert sum(counts) == 26  # one of 27 was forwarded
    unit = max(height for _, height in marks) / max(counts)
    for count, (_, height) in zip(counts, marks, strict=True):
        assert height == pytest.approx(count * unit, abs=0.5)


def test_the_numbers_of_a_mark_at_the_pointer(page: Page) -> None:
    page.value("document.querySelector('#upgrade .mark').scrollIntoView({block: 'center'})")
    assert tip(page) is None
    page.hover("#upgrade .mark .hit")
    assert tip(page) == "old-app, 10.0.0.1, sarama 1.0: 7 requests"
    page.hover("#upgrade-title")
    assert tip(page) is None


def test_a_plot_by_keys(page: Page) -> None:
    """One stop of Tab for each plot; arrows go through its marks and stay in it."""
    for plot in page.value(
        "[...document.querySelectorAll('svg.plot')].map((plot) => "
        "plot.querySelectorAll('.mark[tabindex=\"0\"]').length)"
    ):
        assert plot == 1
    page.value("document.querySelector('#upgrade .mark').focus()")
    said = [tip(page)]
    for key in ("ArrowDown", "ArrowRight", "ArrowRight", "Home", "ArrowLeft", "End"):
        page.press(key)
        page.rest()
        said.append(tip(page))
        assert page.value("document.activeElement.dataset.tip") == said[-1]
    first, last = said[0], said[3]
    assert first is not None
    assert first.startswith("old-app")
    assert said[1] == "(no client id), 10.0.0.3: 1 request"
    assert said[2:] == [last, last, first, first, last]
    page.press("Escape")
    assert tip(page) is None
    page.press("Tab")
    assert page.value("document.activeElement.closest('svg.plot')") is None


def test_hostile_names_are_text(page: Page) -> None:
    shown = HOSTILE.replace("\u202e", "\\u202e").replace("\x00", "\\x00")
    shown = shown.replace("\u2028", "\\u2028").replace("\x1b", "\\x1b")
    assert shown in [row[1] for row in table(page, "upgrade", "Clients that have to change")]
    audit = table(page, "audit", "Who did what, the latest first")
    assert [row[3] for row in audit].count(shown) == 1
    assert [row[9] for row in audit].count(shown) == 1
    assert any(shown in row[11] for row in audit)
    problems = table(page, "problems", "Kinds, each with its first case")
    assert shown in [row[2] for row in problems]
    assert page.value("document.querySelectorAll('img, iframe, b b').length") == 0
    assert page.value("document.title") == "Kafka traffic: of <b>one<b>"
    assert page.value("document.querySelectorAll('script').length") == 1


def test_what_the_audit_says(page: Page) -> None:
    rows = table(page, "audit", "Who did what, the latest first")
    assert [row[1] for row in rows] == ["done", "done", "no answer", "checked", "failed", "done"]
    assert rows[-1][:9] == [
        "2026-01-31 12:00:01.000", "done", "create topic", "orders", "TOPIC", "–",
        "User:ann", "admin", "10.0.0.1",
    ]  # fmt: skip
    assert rows[-1][9:11] == ['{"num_partitions":3}', "–"]
    assert rows[-1][12] == "1.5 ms"
    assert set(page.texts("#audit td.bad")) == {"no answer", "failed"}


def test_sorting(page: Page) -> None:
    heading = "Latency by api"
    before = [row[2] for row in table(page, "latencies", heading)]
    button = "#latencies th:nth-child(3) button"
    page.value(f"document.querySelector({json.dumps(button)}).scrollIntoView({{block: 'center'}})")
    page.click(button)
    assert [row[2] for row in table(page, "latencies", heading)] == sorted(before, key=int)
    assert page.value("document.querySelectorAll('#latencies [aria-sort=ascending]').length") == 1
    page.click(button)
    assert [row[2] for row in table(page, "latencies", heading)] == sorted(
        before, key=int, reverse=True
    )


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", [(1300, 900), PHONE])
def test_themes_and_widths(page: Page, theme: str, size: tuple[int, int]) -> None:
    """Text stands out from its ground; nothing but tables and their boxes is wider than a phone."""
    width, height = size
    media = {"features": [{"name": "prefers-color-scheme", "value": theme}]}
    page.call("Emulation.setEmulatedMedia", media)
    page.call(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
    )
    page.rest()
    for selector in ("p", "td", "td.bad", ".tiles .bad b", "figcaption", "small", "th"):
        assert contrast(page, selector) >= 4.5, selector
    for colour in range(4):
        assert contrast(page, f".plot rect.s{colour}", "fill") >= 2.5, colour
    assert page.value("document.documentElement.scrollWidth") <= width
    assert page.value("getComputedStyle(document.querySelector('.plot .label')).fontSize") == "12px"
    dark = page.value("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
    assert dark == (theme == "dark")


def contrast(page: Page, selector: str, property: str = "color") -> float:
    """WCAG's contrast of an element with what is behind it."""

    def colours() -> Any:
        return page.value(f"""(() => {{
          let element = document.querySelector({json.dumps(selector)});
          const parts = (text) => text.match(/[\\d.]+/g).map(Number);
          const own = parts(getComputedStyle(element).{property});
          let ground = [0, 0, 0, 0];
          for (; element && ground[3] === 0; element = element.parentElement) {{
            ground = parts(getComputedStyle(element).backgroundColor);
          }}
          return [own, ground];
        }})()""")

    def light(colour: list[float]) -> float:
        linear = [
            c / 255 / 12.92 if c <= 10.31475 else ((c / 255 + 0.055) / 1.055) ** 2.4
            for c in colour[:3]
        ]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    bright, dim = sorted(map(light, colours()), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


def test_without_the_script_all_is_there(written: Path) -> None:
    text = written.read_text("utf-8")
    assert text.count("<table") == text.count("</table>") > len(SECTIONS)
    tags = re.sub(r'"[^"]*"', '""', text.partition("<body>")[2].partition("<script>")[0])
    assert not re.search(r"<\w[^>]*\s(src|style|on\w+)\s*=", tags)
    assert set(re.findall(r'href="(.)', text)) == {"#"}


def test_long_tables_are_cut_and_filtered(browser: Browser, tmp_path: Path) -> None:
    many = [
        request("Fetch", 0, at, client_id=f"app-{at:04}", client="10.0.0.1:1") for at in range(300)
    ]
    long = "x" * 5000
    odd = [*audits(), *([audits()[0] | {"topic": long, "parameters": long}] * 250)]
    folder = write_tables(tmp_path / "many", {"frames": many, "admin_audit": odd})
    file = tmp_path / "report.html"
    assert run(str(folder), "--release", "4.0", "--out", str(file)).exit_code == 0
    assert file.stat().st_size < 1_000_000
    page = browser.open(file)
    heading = "Clients that have to change"
    assert len(table(page, "upgrade", heading)) == MOST_ROWS
    assert f"first {MOST_ROWS} of 300 rows" in page.texts("#upgrade h3 small")
    assert "the first 15 of 300 clients" in page.texts("#upgrade figcaption")[0]
    assert "300 clients to change" in page.texts(".tiles b")[0]
    assert f"first {MOST_ROWS} of 256 rows" in page.texts("#audit h3 small")
    assert "x… (5,000 characters)" in table(page, "audit", "Who did what, the latest first")[9][3]
    page.value("document.querySelector('#upgrade input').focus()")
    page.press("app-007")
    assert len(table(page, "upgrade", heading)) == 10
    assert page.texts("#upgrade .filter span") == [f"10 of {MOST_ROWS} rows"]
    missing = ("clients", "leaders", "elections", "problems")
    assert [page.texts(f"#{each} p")[0].partition(" in ")[0] for each in missing] == [
        f"There is no table {name}"
        for name in ("clients", "metadata_changes", "quorum_events", "problems")
    ]
    assert page.errors == []


def test_empty_tables(tmp_path: Path) -> None:
    folder = write_tables(tmp_path / "tables", {name: [] for name in everything()})
    result = ended(run(str(folder), "--out", "-"))
    for said in ("No client sent anything", "Nobody changed anything", "No response had an error",
                 "No request has a time", "No response stands", "No partition", "no election",
                 "Everything was read", "No request is among the frames"):  # fmt: skip
        assert said in result.stdout
    assert "<svg" not in result.stdout.partition("<main>")[2]


@pytest.mark.parametrize("query", sorted(QUERIES))
def test_single_questions(folder: Path, query: str) -> None:
    release = ("--release", "4.0") if query == "upgrade" else ()
    result = run(str(folder), "--query", query, *release, "--output", "json")
    assert result.exit_code == (query == "upgrade"), result.output
    rows = json.loads(result.stdout)
    assert rows
    lines = run(str(folder), "--query", query, *release, "--output", "tsv").stdout
    assert len(lines.splitlines()) == len(rows)
    assert {line.count("\t") for line in lines.splitlines()} == {len(rows[0]) - 1}
    if query == "audit":
        assert rows[-1]["ts"] == "2026-01-31T12:00:01Z"
        assert rows[1]["client_id"] == HOSTILE


def test_a_table_for_people(folder: Path) -> None:
    result = run(str(folder), "--query", "upgrade", "--release", "4.0")
    lines = result.stdout.splitlines()
    assert lines[0].split()[:4] == ["status", "traffic", "client_id", "address"]
    assert len(lines) == 10
    assert "\x1b" not in result.stdout


def test_a_part_of_the_time(folder: Path) -> None:
    result = run(str(folder), "--query", "audit", "--output", "json",
                 "--since", "2026-01-31T12:00:02", "--until", "2026-01-31T12:00:04")  # fmt: skip
    assert [row["topic"] for row in json.loads(result.stdout)] == ["trial", "orders"]


def test_mistakes(folder: Path, tmp_path: Path) -> None:
    result = ended(run(str(tmp_path / "nowhere")), 2)
    assert "has none of the pipeline's tables; make them with kap pipeline" in result.stderr
    result = ended(run(str(folder), "--release", "5.0"), 2)
    assert "no release '5.0'; known are 2.8 to" in result.stderr
    only = write_tables(tmp_path / "only", {"problems": []})
    assert "there is no table admin_audit" in ended(run(str(only), "--query", "audit"), 2).stderr
    assert "--out" in ended(run(str(only), "--out", str(tmp_path / "no" / "where.html")), 2).stderr
    (only / "problems" / "part-0.parquet").write_bytes(b"no Parquet")
    last = ended(run(str(only)), 1).stderr.splitlines()[-1]
    assert re.match(
        r"Error: the tables could not be read: .*part-0\.parquet.*not a parquet file", last
    )
