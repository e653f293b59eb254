"""The list of what differs from a real cluster on purpose."""

from __future__ import annotations

from tests.server.differential.comparison import KNOWN


def test_few_differences_are_on_purpose() -> None:
    assert len(KNOWN) <= 10
    assert all(each.line and each.why for each in KNOWN)
