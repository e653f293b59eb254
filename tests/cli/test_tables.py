"""Tables at any width: no cell is dropped, and none is cut without a mark."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from kafka_admin_proto.cli import output
from kafka_admin_proto.cli.captures import explain, frame_table
from kafka_admin_proto.cli.logs import segments
from kafka_admin_proto.cli.tables import StyledText, TableColumn, print_rows, shortened, wrapped
from kafka_admin_proto.records.batches.batches import Batch, Record, write_batch
from kafka_admin_proto.schema.catalog import catalog
from tests.helpers.kap import run_kap

ROOT = Path(__file__).parents[2]
WIDTHS = (40, 60, 80, 100, 120, 200)
Rows = Sequence[Sequence[StyledText]]

texts = st.text(st.sampled_from("ab12Z-_,;:/=.é漢 "), max_size=60) | st.sampled_from(
    ["", "-1", "2,1", "36 TOPIC_ALREADY_EXISTS", "127.0.0.1:41044-127.0.0.1:19092", "  indented"]
)


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[TableColumn], Rows]:
    names = st.sampled_from(["#", "api", "leaderEpoch", "p50 ms"])
    column = st.builds(TableColumn, names, st.booleans())
    columns = draw(st.lists(column, min_size=1, max_size=9))
    rows = draw(st.lists(st.lists(texts, min_size=len(columns), max_size=len(columns)), max_size=4))
    return columns, [[StyledText(text) for text in row] for row in rows]


def shown(columns: Sequence[TableColumn], rows: Rows, width: int) -> str:
    written = io.StringIO()
    console = Console(file=written, width=width)
    print_rows(console, columns, rows, header=True)
    return written.getvalue()


def check(columns: Sequence[TableColumn], rows: Rows, width: int) -> None:
    """Each sign of each cell and name is there, or a mark where a cell may be cut."""
    text = shown(columns, rows, width)
    assert max(map(cell_len, text.split("\n"))) <= max(width, 2)
    signs, marks = Counter(text), 0
    for row in rows:
        for column, cell in zip(columns, row, strict=True):
            if not column.cut:
                signs.subtract(Counter("".join(cell.text.split())))
            elif "".join(cell.text.split()) not in "".join(text.split()):
                marks += 1
    for index, column in enumerate(columns):
        if any(row[index].text.strip() for row in rows):
            signs.subtract(Counter("".join(column.name.split())))
    assert min(signs.values(), default=0) >= 0, (signs, text)
    assert text.count("…") >= marks


@given(table=tables(), width=st.integers(1, 250))
def test_no_cell_is_lost_at_any_width(table: tuple[list[TableColumn], Rows], width: int) -> None:
    check(*table, width)


@given(text=texts, width=st.integers(2, 70))
def test_wrapped_lines_fit_and_have_all(text: str, width: int) -> None:
    lines = wrapped(text, width)
    assert max(map(cell_len, lines)) <= width
    assert "".join("".join(lines).split()) == "".join(text.split())


@given(text=texts, width=st.integers(1, 70))
def test_a_cut_is_marked(text: str, width: int) -> None:
    found = shortened(text, width)
    assert cell_len(found) <= width
    assert found == text or (found[-1] == "…" and text.startswith(found[:-1]))


@pytest.mark.parametrize(
    "command",
    [
        f"decode {ROOT}/samples/admin42.pcap.gz",
        f"decode {ROOT}/samples/admin42.pcap.gz --summary",
        f"decode {ROOT}/samples/create_topics.hex",
        f"decode {ROOT}/samples/controller39.pcap.gz --upgrade 4.0",
        f"decode {ROOT}/tests/records/data/__cluster_metadata-0/00000000000000000000.log",
        f"explain {ROOT}/samples/create_topics.hex --only 5",
        f"metadata {ROOT}/tests/records/data",
        f"metadata {ROOT}/tests/records/data --diff 60 93",
        "schema list --type request",
        "schema show FetchRequest",
        "schema diff CreateTopicsRequest@4 CreateTopicsRequest@5",
        "error",
        "error 36",
    ],
)
def test_every_table_of_the_command_line(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = 0

    def checked(console: Console, columns: Sequence[TableColumn], rows: Rows, **_: Any) -> bool:
        nonlocal seen
        seen += 1
        for width in WIDTHS:
            check(columns, rows[:50], width)
        return True

    for module in (output, explain):
        monkeypatch.setattr(module, "print_rows", checked)
        monkeypatch.setattr(module, "terminal", lambda: Console(file=io.StringIO()))
    result = run_kap(command)
    assert result.exit_code in (0, 1), result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert seen


def test_no_name_of_an_api_breaks() -> None:
    """A table that would have to break one is paragraphs, at widths where the name fits at all."""
    requests = (name for name in catalog().names() if catalog().entry(name).type == "request")
    names = {name.removesuffix("Request") for name in requests}
    columns = [TableColumn(name, whole=name == "api") for name in ("client", "api", "versions")]
    rows = [[StyledText("broker-1-fetcher"), StyledText(name), StyledText("0-3")] for name in names]
    for width in range(40, 121):
        assert names <= set(shown(columns, rows, width).split()), width


def test_a_body_has_room_or_the_row_is_a_paragraph() -> None:
    columns = [TableColumn("api"), TableColumn("client"), TableColumn("body", cut=True)]
    rows = [[StyledText("Vote"), StyledText("broker-1-fetcher"), StyledText("x" * 200)]]
    for width in range(40, 121):
        assert max(map(len, shown(columns, rows, width).split())) >= 30, width


@pytest.mark.parametrize("width", WIDTHS)
def test_a_table_that_comes_in_pages_has_its_header_once(
    width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some pages may fit as tables, and others not: the first table has the header."""
    monkeypatch.setattr(frame_table, "_PAGE", 7)
    monkeypatch.setattr(output, "terminal", lambda: Console(width=width))
    text = run_kap("decode", f"{ROOT}/samples/admin42.pcap.gz").stdout
    lines = text.splitlines()
    rows = [line for line in lines if line[:1].isdecimal()]
    heads = [line for line in lines if line.split()[:2] == ["#", "time"]]
    assert len(heads) == bool(rows)
    if rows:
        assert lines.index(heads[0]) < lines.index(rows[0])
    assert len(rows) + sum(line.startswith("#: ") for line in lines) == 294


def test_few_large_frames_are_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    pages: list[list[Sequence[str]]] = []

    def printed(_: Sequence[str], rows: list[Sequence[str]], **__: object) -> bool:
        pages.append(rows)
        return True

    monkeypatch.setattr(frame_table, "_PAGE_BYTES", 2000)
    monkeypatch.setattr(frame_table, "print_table", printed)
    assert run_kap("decode", f"{ROOT}/samples/admin42.pcap.gz").exit_code == 0
    sizes = [[int(row[5]) for row in page] for page in pages]
    assert sum(map(len, pages)) == 294
    assert all(sum(page[:-1]) < 2000 <= sum(page) for page in sizes[:-1])


def test_few_large_records_are_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages: list[int] = []

    def printed(_: Sequence[str], rows: list[Sequence[str]], **__: object) -> None:
        pages.append(len(rows))

    monkeypatch.setattr(segments, "_PAGE_CHARACTERS", 2000)
    monkeypatch.setattr(segments, "print_table", printed)
    log = tmp_path / "fruit-0" / f"{0:020}.log"
    log.parent.mkdir()
    log.write_bytes(write_batch(Batch.of([Record(n, 1, None, b"x" * 900) for n in range(7)])))
    assert run_kap("decode", str(log)).exit_code == 0
    assert pages == [3, 3, 1]
