"""Version ranges: their text, and that they are sets of versions."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto.schema.versions import MAX_VERSION, VersionRange

ranges = st.builds(
    lambda low, size: VersionRange(low, min(low + size, MAX_VERSION)),
    st.integers(0, MAX_VERSION),
    st.integers(0, 9) | st.just(MAX_VERSION),
) | st.just(VersionRange.NONE)


@given(ranges)
def test_ranges_read_as_they_are_written(one: VersionRange) -> None:
    assert VersionRange.parse(str(one)) == one
    assert VersionRange.parse(f" {one} ") == one


@given(ranges, ranges, st.integers(-1, MAX_VERSION + 1))
def test_ranges_are_sets(one: VersionRange, other: VersionRange, version: int) -> None:
    assert (version in one & other) == (version in one and version in other)
    assert one.covers(other) == (other.empty or (one & other) == other)
    assert one.empty == (not any(True for _ in one))


@given(st.sets(st.integers(0, 6)))
def test_spanning(versions: set[int]) -> None:
    found = VersionRange.spanning(versions)
    if found is None:
        assert len(versions) < max(versions) - min(versions) + 1
    else:
        assert set(found) == versions
