"""Tables as wide as the terminal, in which nothing is lost: cells wrap, or end in a marked cut.

Where even the narrowest columns do not fit beside each other, each row is a paragraph of
``name: value`` pairs instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import product, zip_longest
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

#: Spaces between columns, the wider where that fits, and those between the pairs of a paragraph.
_GAPS, _PAIR_GAP = (2, 1), "   "
#: Words up to this width stay in one line. Where that does not fit, shorter ones only, but for the
#: columns whose words stay whole.
_WORDS = (40, 23, 16, 12)
#: A cell that is cut shows at least this much in a table: with less of it, a paragraph says more.
_LEAST_CUT = 30
_INDENT = "  "
_CUT = "…"
#: Spaces, or a word; a word also ends behind a sign between letters or digits.
_PIECE = re.compile(r"""\s+|\S+?(?<=[\w\])}"'])[-_,;/=&]+|\S+""")
#: Names of columns may break inside as well: leaderEpoch.
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")


class TableColumn(NamedTuple):
    """``cut``: cells are one line, the end of which may be cut off; other cells wrap.

    ``least`` is the width that wrapped cells get at least, as far as they need it; for the first
    column, by which rows are known, a third of the table's. ``whole``: words of up to 40
    characters, such as the names of apis, never break.
    """

    name: str
    cut: bool = False
    least: int = 0
    whole: bool = False


class StyledText(NamedTuple):
    """A text, which may have line ends, and one of rich's styles for it."""

    text: str
    style: str = ""


def print_rows(
    console: Console,
    columns: Sequence[TableColumn],
    rows: Sequence[Sequence[StyledText]],
    *,
    header: bool,
) -> bool:
    """Print the rows in the width of the console; ``header``: the columns' names above them.

    Returns whether it is a table: paragraphs have no header.
    """
    from rich.text import Text

    fitting = fit(columns, rows, console.width)
    if fitting is None:
        lines = [line for row in rows for line in _paragraph(columns, row, console.width)]
    else:
        widths, gap = fitting
        lines = [line for row in rows for line in _row(row, columns, widths, gap)]
        if header:
            lines[:0] = _header(columns, widths, gap)
    if lines:
        console.print(Text("\n").join(lines), soft_wrap=True, highlight=False)
    return fitting is not None


def fit(
    columns: Sequence[TableColumn], rows: Sequence[Sequence[StyledText]], width: int
) -> tuple[list[int], int] | None:
    """How wide each column is, and the space between two; None where they do not fit."""
    wanted = [
        max(map(_width, [column.name, *(row[index].text for row in rows)]))
        for index, column in enumerate(columns)
    ]
    names = [max(map(_width, _pieces(c.name, humps=True)), default=0) for c in columns]
    words = [
        _LEAST_CUT
        if column.cut
        else max((_widest_word(row[index].text) for row in rows), default=0)
        for index, column in enumerate(columns)
    ]
    mosts = [_WORDS[0] if column.whole or column.cut else None for column in columns]
    least = [column.least for column in columns]
    least[0] = max(least[0], width // 3)
    gaps = len(columns) - 1
    for longest, gap in product(_WORDS, _GAPS):
        widths = [
            min(full, max(name, min(word, most or longest), floor))
            for full, name, word, most, floor in zip(
                wanted, names, words, mosts, least, strict=True
            )
        ]
        if sum(widths) + gap * gaps <= width:
            break
    else:
        return None
    taken = sum(widths)
    room = width - taken - gap * gaps
    # Those that need least are whole first; what is cut takes what is left.
    order = sorted(range(len(columns)), key=lambda i: (columns[i].cut, wanted[i] - widths[i]))
    for place, index in enumerate(order):
        same_kind = [i for i in order[place:] if columns[i].cut == columns[index].cut]
        more = min(wanted[index] - widths[index], room // len(same_kind))
        widths[index] += more
        room -= more
    return widths, gap


def wrapped(text: str, width: int, *, humps: bool = False) -> list[str]:
    """The text in lines of that width: only spaces at line ends go. Its indentation stays.

    ``humps``: names may also break inside, as in leaderEpoch.
    """
    lines: list[str] = []
    for part in text.split("\n"):
        indent = _indent_of(part)
        indent = indent if 2 * len(indent) < width else ""
        line = indent
        for piece in _pieces(part.strip(), humps=humps):
            if _width(line) + _width(piece) > width and line.strip():
                lines.append(line.rstrip())
                line = indent
            if piece.isspace():
                line += piece if line.strip() else ""
                continue
            while _width(line) + _width(piece) > width:
                head = _head(piece, width - _width(line)) or piece[:1]
                lines.append(line + head)
                line, piece = indent, piece[len(head) :]
            line += piece
        lines.append(line.rstrip())
    return lines


def shortened(text: str, width: int) -> str:
    """The text in one line, with a mark where its end is cut off."""
    return text if _width(text) <= width else _head(text, width - 1) + _CUT


def _header(columns: Sequence[TableColumn], widths: Sequence[int], gap: int) -> list[Text]:
    """The names of the columns, and a rule below each."""
    names = [wrapped(c.name, width, humps=True) for c, width in zip(columns, widths, strict=True)]
    rules = [["─" * width] for width in widths]
    bold, dim = ["bold"] * len(widths), ["dim"] * len(widths)
    return [*_lines(names, bold, widths, gap), *_lines(rules, dim, widths, gap)]


def _row(
    row: Sequence[StyledText], columns: Sequence[TableColumn], widths: Sequence[int], gap: int
) -> Iterator[Text]:
    cells = [
        [shortened(cell.text, width)] if column.cut else wrapped(cell.text, width)
        for cell, column, width in zip(row, columns, widths, strict=True)
    ]
    return _lines(cells, [cell.style for cell in row], widths, gap)


def _lines(
    cells: Sequence[list[str]], styles: Sequence[str], widths: Sequence[int], gap: int
) -> Iterator[Text]:
    """Cells of several lines beside each other."""
    from rich.text import Text

    for parts in zip_longest(*cells, fillvalue=""):
        line = Text()
        missing = 0
        for part, style, width in zip(parts, styles, widths, strict=True):
            if part:
                line.append(" " * missing)
                line.append(part, style)
                missing = -_width(part)
            missing += width + gap
        yield line


def _paragraph(
    columns: Sequence[TableColumn], row: Sequence[StyledText], width: int
) -> Iterator[Text]:
    """The row as pairs of name and value, indented as its cells, lines behind the first more."""
    from rich.text import Text

    base = max((_indent_of(cell.text) for cell in row), key=len)
    base = base if 2 * len(base) < width else ""
    indent = base + _INDENT if 2 * len(base + _INDENT) < width else base
    line = Text(base)
    for column, cell in zip(columns, row, strict=True):
        if not cell.text.strip():
            continue
        pair = f"{column.name}: {' '.join(cell.text.split())}"
        if column.cut:
            pair = shortened(pair, max(width - len(indent), len(column.name) + len(": …")))
        if line.plain.strip() and _width(line.plain) + len(_PAIR_GAP) + _width(pair) <= width:
            line.append(_PAIR_GAP)
        elif line.plain.strip():
            yield line
            line = Text(indent)
        left = len(column.name) + 1
        room = width - max(_width(line.plain), len(indent))
        for number, part in enumerate(wrapped(pair, max(room, 1))):
            if number:
                yield line
                line = Text(indent)
            line.append(part[:left], "dim").append(part[left:], cell.style)
            left = max(left - len(part), 0)
    yield line


def _pieces(text: str, *, humps: bool = False) -> list[str]:
    """The parts of a text that stay together where there is room."""
    found = _PIECE.findall(text)
    return [part for piece in found for part in _HUMP.split(piece)] if humps else found


def _widest_word(text: str) -> int:
    return len(_indent_of(text)) + max(map(_width, _pieces(text.strip())), default=0)


def _indent_of(text: str) -> str:
    return text[: len(text) - len(text.lstrip())]


def _width(text: str) -> int:
    """How many columns of a terminal the widest line takes."""
    if text.isascii():
        return len(text) if "\n" not in text else max(map(len, text.split("\n")))
    from rich.cells import cell_len

    return max(map(cell_len, text.split("\n")))


def _head(text: str, width: int) -> str:
    """As much of a line as fits."""
    if text.isascii():
        return text[: max(width, 0)]
    end = taken = 0
    for character in text:
        taken += _width(character)
        if taken > width:
            break
        end += 1
    return text[:end]
