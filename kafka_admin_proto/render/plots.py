"""Plots as inline SVG that fits any width: positions are percentages, letters keep their size.

Each mark has its numbers as a text for pointers, keys and screen readers (``data-tip``). Colours
are classes ``s0`` to ``s8``, whose light and dark colours the page's style defines.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

import msgspec

from kafka_admin_proto.counts import number, with_commas
from kafka_admin_proto.render.markup import escaped

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND = 1_000_000
#: Widths of a column in seconds: units of time that people use, and parts of them.
_STEPS = (
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400,
    2 * 86_400, 7 * 86_400, 30 * 86_400, 91 * 86_400, 365 * 86_400,
)  # fmt: skip
MOST_COLUMNS = 96
_HEIGHT, _AXIS, _TOP = 190, 22, 18
_ROW, _BAR = 44, 14
#: The share of the width that the longest bar takes; the number behind it needs the rest.
_ROOM = 0.62
#: Characters of the label above a bar.
_LABEL = 200


class Series(msgspec.Struct, frozen=True):
    """Numbers under one name, one for each column or bar, in the colour of that class."""

    name: str
    values: Sequence[int]
    colour: str


class Range(msgspec.Struct, frozen=True):
    """One row of percentiles, in microseconds, with what it is about."""

    label: str
    values: Sequence[int]
    about: str


def nice_step(span: int) -> int:
    """Seconds for the columns of a time of ``span`` microseconds: at most ``MOST_COLUMNS`` + 1."""
    seconds = max(span, 0) / _SECOND
    for step in _STEPS:
        if seconds / step <= MOST_COLUMNS:
            return step
    return _STEPS[-1] * math.ceil(seconds / _STEPS[-1] / MOST_COLUMNS)


def moment(micros: int | None, *, whole: bool = False) -> str:
    """Microseconds since 1970 as ``2026-01-31 12:00:00.000``; ``whole``: without the fraction."""
    if micros is None:
        return ""
    try:
        when = _EPOCH + timedelta(microseconds=micros)
    except OverflowError:
        return f"{micros} µs since 1970"
    fraction = "" if whole else f".{when.microsecond // 1000:03}"
    return f"{when:%Y-%m-%d %H:%M:%S}{fraction}"


def lasting(micros: int | None) -> str:
    """Microseconds in a unit that keeps them short: "850 µs", "1.58 ms", "2.5 s"."""
    if micros is None:
        return ""
    for unit, name in ((1_000_000, "s"), (1000, "ms")):
        if abs(micros) >= unit:
            value = micros / unit
            return f"{value:,.0f} {name}" if abs(value) >= 100 else f"{value:.3g} {name}"
    return f"{micros} µs"


def columns(title: str, start: int, step: int, series: Sequence[Series], unit: str) -> str:
    """Stacked columns over time: from ``start`` (microseconds), each of ``step`` seconds."""
    count = len(series[0].values)
    sums = [sum(each.values[i] for each in series) for i in range(count)]
    top = _round_up(max(sums, default=0))
    width = 100 / count
    grid, heights = _grid(top, unit)
    parts = [*grid]
    for index in range(count):
        begins = start + index * step * _SECOND
        shown = [each for each in series if each.values[index]]
        tip = [f"{_clock(begins, step)} + {_length(step)}: {with_commas(sums[index], unit)}"]
        tip += [f"{each.name}: {number(each.values[index])}" for each in reversed(shown)]
        x = index * width
        marks = [f'<rect class="hit" x="{x:.3f}%" y="0" width="{width:.3f}%" height="{_HEIGHT}"/>']
        bottom = float(_HEIGHT)
        for each in shown:
            height = each.values[index] / top * (_HEIGHT - _TOP)
            bottom -= height
            marks.append(
                f'<rect class="{each.colour}" x="{x + width * 0.08:.3f}%" y="{bottom:.2f}" '
                f'width="{width * 0.84:.3f}%" height="{height:.2f}"/>'
            )
        parts.append(_mark(tip, marks))
    # Where columns begin, so that few columns have few times, and none of them twice.
    ticks: dict[int, str] = {0: "", count: "", count // 2: ""}
    for index in (count // 4, count * 3 // 4):
        ticks.setdefault(index, " wide")
    for index, hidden in ticks.items():
        anchor = {0: "start", count: "end"}.get(index, "middle")
        at = _clock(start + index * step * _SECOND, step)
        label = at if count * step >= 2 * 86_400 or not index else at.partition(" ")[2] or at
        parts.append(
            f'<text class="tick{hidden}" x="{index * width:.3f}%" y="{_HEIGHT + 16}" '
            f'text-anchor="{anchor}">{escaped(label)}</text>'
        )
    # Behind the columns in the text, so that they stand in front of them on the page.
    return _legend(series) + _svg(title, _HEIGHT + _AXIS, [*parts, *heights])


def bars(title: str, labels: Sequence[str], series: Sequence[Series], unit: str) -> str:
    """Horizontal bars from the top, each with its label above it; several series are stacked."""
    sums = [sum(each.values[i] for each in series) for i in range(len(labels))]
    top = max(sums, default=0) or 1
    parts = []
    for index, label in enumerate(labels):
        y = index * _ROW
        shown = [each for each in series if each.values[index]]
        tip = [f"{label}: {with_commas(sums[index], unit)}"]
        if len(series) > 1:
            tip += [f"{each.name}: {number(each.values[index])}" for each in shown]
        marks = [_hit_row(y), _label(y, label)]
        x = 0.0
        for each in shown:
            width = each.values[index] / top * 100 * _ROOM
            marks.append(
                f'<rect class="{each.colour}" x="{x:.3f}%" y="{y + 20}" '
                f'width="{max(width, 0.3):.3f}%" height="{_BAR}"/>'
            )
            x += width
        marks.append(
            f'<text class="value" x="{min(x + 1, 100):.3f}%" y="{y + 32}">'
            f"{escaped(with_commas(sums[index], unit))}</text>"
        )
        parts.append(_mark(tip, marks))
    legend = _legend(series) if len(series) > 1 else ""
    return legend + _svg(title, len(labels) * _ROW, parts)


def ranges(title: str, names: Sequence[str], rows: Sequence[Range]) -> str:
    """Percentiles of each row as dots on a line, on one logarithmic scale."""
    values = [max(value, 1) for row in rows for value in row.values]
    low = math.floor(math.log10(min(values)))
    high = max(math.ceil(math.log10(max(values))), low + 1)

    def place(value: int) -> float:
        return 2 + (math.log10(max(value, 1)) - low) / (high - low) * 96

    height = len(rows) * _ROW
    parts = []
    for power in range(low, high + 1):
        x = place(10**power)
        anchor = "start" if power == low else "end" if power == high else "middle"
        parts.append(
            f'<line class="grid" x1="{x:.3f}%" x2="{x:.3f}%" y1="0" y2="{height}"/>'
            f'<text class="tick" x="{x:.3f}%" y="{height + 16}" text-anchor="{anchor}">'
            f"{lasting(10**power)}</text>"
        )
    for index, row in enumerate(rows):
        y = index * _ROW
        tip = [f"{row.label}, {row.about}"]
        tip += [f"{name} {lasting(value)}" for name, value in zip(names, row.values, strict=True)]
        middle = y + 28
        first, last = place(min(row.values)), place(max(row.values))
        marks = [
            _hit_row(y),
            _label(y, row.label),
            f'<line class="span" x1="{first:.3f}%" x2="{last:.3f}%" y1="{middle}" y2="{middle}"/>',
        ]
        # Each is smaller than those before it and drawn over them: equal ones are rings.
        for which, value in enumerate(row.values):
            marks.append(
                f'<circle class="s{which}" cx="{place(value):.3f}%" cy="{middle}" '
                f'r="{9 - which * 2}"/>'
            )
        parts.append(_mark(tip, marks))
    legend = _legend([Series(name, (), f"s{which}") for which, name in enumerate(names)])
    return legend + _svg(title, height + _AXIS, parts)


def _svg(title: str, height: int, parts: Iterable[str]) -> str:
    return (
        f'<svg class="plot" role="group" aria-label="{escaped(title)}" width="100%" '
        f'height="{height}">{"".join(parts)}</svg>'
    )


def _mark(tip: Sequence[str], marks: Iterable[str]) -> str:
    text = escaped("\n".join(tip), lines=True)
    said = escaped("; ".join(tip))
    return (
        f'<g class="mark" role="img" tabindex="-1" aria-label="{said}" data-tip="{text}">'
        f"{''.join(marks)}</g>"
    )


def _hit_row(y: int) -> str:
    return f'<rect class="hit" x="0" y="{y}" width="100%" height="{_ROW}"/>'


def _label(y: int, label: str) -> str:
    cut = label if len(label) <= _LABEL else label[: _LABEL - 1] + "…"
    # In HTML, which ends a text at the edge of a narrow window with an ellipsis.
    return (
        f'<foreignObject x="0" y="{y + 1}" width="100%" height="18">'
        f'<div class="label">{escaped(cut)}</div></foreignObject>'
    )


def _legend(series: Sequence[Series]) -> str:
    items = "".join(
        f'<li><svg class="key" width="12" height="12" aria-hidden="true"><rect class="{s.colour}" '
        f'width="12" height="12" rx="2"/></svg>{escaped(s.name)}</li>'
        for s in series
    )
    return f'<ul class="legend">{items}</ul>'


def _grid(top: int, unit: str) -> tuple[list[str], list[str]]:
    """Lines behind the columns, and the texts of their heights."""
    lines, heights = [], []
    for share in (0.5, 1.0):
        y = _HEIGHT - share * (_HEIGHT - _TOP)
        value = top * share
        text = with_commas(int(value) if value == int(value) else value, unit)
        lines.append(f'<line class="grid" x1="0" x2="100%" y1="{y:.1f}" y2="{y:.1f}"/>')
        heights.append(f'<text class="tick" x="0" y="{y - 4:.1f}">{escaped(text)}</text>')
    lines.append(f'<line class="axis" x1="0" x2="100%" y1="{_HEIGHT}" y2="{_HEIGHT}"/>')
    return lines, heights


def _round_up(value: int) -> int:
    """The least of 1, 2, 4, 5, 8, 10, 20, … that is not below it."""
    power: int = 10 ** (len(str(value)) - 1)
    return next(each * power for each in (1, 2, 4, 5, 8, 10) if each * power >= value)


def _clock(micros: int, step: int) -> str:
    when = moment(micros, whole=True)
    return when if step < 60 else when[:-3] if step < 86_400 else when[:10]


def _length(seconds: int) -> str:
    for unit, name in ((86_400, "d"), (3600, "h"), (60, "min")):
        if seconds >= unit and seconds % unit == 0:
            return f"{seconds // unit} {name}"
    return f"{seconds} s"
