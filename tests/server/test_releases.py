"""Releases compare by age, and only those that the cluster plays are parsed."""

from __future__ import annotations

import pytest

from kafka_admin_proto.errors import UnknownReleaseError
from kafka_admin_proto.server.releases import RELEASES, ReleaseNumber


def test_releases_compare_by_their_numbers() -> None:
    """4.10 is newer than 4.4; a major release alone stands in front of all its minor ones."""
    assert ReleaseNumber(3, 9) < ReleaseNumber(4, 4) < ReleaseNumber(4, 10)
    assert ReleaseNumber(3, 10) < (4,) < ReleaseNumber(4, 0)


def test_releases_have_their_names() -> None:
    assert [str(ReleaseNumber.parse(each)) for each in RELEASES] == [*RELEASES]
    assert sorted(RELEASES, key=ReleaseNumber.parse, reverse=True) == [*RELEASES]


@pytest.mark.parametrize("name", ["4.10", "4.4.0", "4", "", " 4.4"])
def test_other_releases_are_refused(name: str) -> None:
    with pytest.raises(UnknownReleaseError, match=r"no cluster of release '.*4\.4, 4\.3, 3\.9"):
        ReleaseNumber.parse(name)
