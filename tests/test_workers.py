"""How the tests are spread over workers."""

from __future__ import annotations

import os

import pytest

#: Two workers get one test each unless the group keeps the tests together.
COUNT = 6
seen: list[int] = []


@pytest.mark.xdist_group("workers")
@pytest.mark.parametrize("number", range(COUNT))
def test_a_group_stays_in_one_process(number: int, request: pytest.FixtureRequest) -> None:
    """What a group shares, a Spark session or a cluster, is started once."""
    seen.append(number)
    if os.environ.get("PYTEST_XDIST_WORKER"):
        assert request.node.nodeid.endswith("@workers")
        assert seen == list(range(number + 1))
