"""The report's tables in a real browser: no column is cut, however narrow the window is."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_admin_proto.render.report import Column, Kind, Section, Table, report_page
from tests.render.browser import Browser
from tests.render.frames import HOSTILE

pytestmark = pytest.mark.exhaustive

_LONG = "io.example.payments.reconciliation.consumer-group-17"
_KINDS: tuple[Kind, ...] = (
    "status",
    "text",
    "text",
    "code",
    "list",
    "text",
    "time",
    "time",
    "count",
    "lasting",
)


def section(columns: int, text: str, *, folded: bool = False) -> Section:
    heads = [Column(f"column {n}", _KINDS[n % len(_KINDS)]) for n in range(columns)]
    values = {"count": 123_456_789, "lasting": 5_000_000, "time": 1_700_000_000_000_000}
    row = [[text, text] if each.kind == "list" else values.get(each.kind, text) for each in heads]
    name = f"s{columns}-{folded}"
    return Section(name, name, "x", parts=[Table(name, heads, [row] * 12, 12, folded=folded)])


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    sections = [section(n, text) for n in (2, 5, 9, 14, 18) for text in ("admin", _LONG, HOSTILE)]
    sections.append(section(14, _LONG, folded=True))
    file = tmp_path_factory.mktemp("report") / "report.html"
    file.write_text(
        "".join(report_page(Section("head", "Kafka traffic", ""), sections)), encoding="utf-8"
    )
    return file


@pytest.mark.parametrize("width", [1280, 800, 390])
def test_no_column_is_cut(browser: Browser, page: Path, width: int) -> None:
    opened = browser.open(page, size=(width, 900))
    opened.value("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    opened.rest()
    cut = opened.value(
        "[...document.querySelectorAll('.scroll')].filter((box) => {"
        " const right = box.getBoundingClientRect().right + 1;"
        " const cells = [...box.querySelectorAll('th, td')];"
        " return box.scrollWidth > box.clientWidth"
        " || cells.some((cell) => cell.getBoundingClientRect().right > right);"
        "}).map((box) => box.ariaLabel)"
    )
    assert cut == []
    assert opened.value("document.documentElement.scrollWidth") <= width
    stacked = "document.querySelectorAll('table.stacked').length"
    assert 0 < opened.value(stacked) < opened.value("document.querySelectorAll('table').length")
    # Each value has its column's name.
    names = opened.value(
        "[...new Set([...document.querySelectorAll('.stacked td')]"
        ".map((cell) => cell.dataset.name))]"
    )
    assert "column 13" in names
    assert opened.errors == []
