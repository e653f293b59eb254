"""Plots of a report as a reader sees them: times of an axis, equal percentiles."""

from __future__ import annotations

import re

import pytest

from kafka_admin_proto.render.plots import Range, Series, columns, ranges

#: 2026-11-21 02:36:39 UTC.
_START = 1_795_228_599_000_000


@pytest.mark.parametrize("step", [1, 30, 3600, 86_400])
@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 53, 96])
def test_no_time_is_twice_on_an_axis(count: int, step: int) -> None:
    """Each stands where a column begins, the last one where the last column ends."""
    start = _START // (step * 1_000_000) * step * 1_000_000
    svg = columns("requests", start, step, [Series("a", [1] * count, "s0")], "requests")
    ticks = re.findall(r'class="tick(?: wide)?" x="([\d.]+)%"[^>]*>([^<]+)<', svg)
    assert len(ticks) == min(count, 4) + 1
    assert len({text for _, text in ticks}) == len(ticks)
    borders = {f"{index * 100 / count:.3f}" for index in range(count + 1)}
    assert {place for place, _ in ticks} <= borders
    assert {"0.000", "100.000"} <= {place for place, _ in ticks}


def test_equal_percentiles_are_rings() -> None:
    """Each colour of the legend is seen: the later ones are smaller and lie above."""
    svg = ranges("latency", ["p50", "p90", "p99", "max"], [Range("Fetch", [900] * 4, "1")])
    rings = re.findall(r'<circle class="(s\d)"[^>]* r="([\d.]+)"', svg)
    assert [colour for colour, _ in rings] == ["s0", "s1", "s2", "s3"]
    radii = [float(radius) for _, radius in rings]
    assert all(outer - inner >= 2 for outer, inner in zip(radii, [*radii[1:], 0.0], strict=True))
