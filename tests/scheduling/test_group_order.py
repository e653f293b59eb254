"""How the tests are spread over workers."""

from __future__ import annotations

import os
import re
from fnmatch import fnmatchcase
from itertools import product
from pathlib import Path

import pytest

from tests.admin.live.conftest import CLUSTERS
from tests.scheduling.group_order import LIVE, LONG, rank
from tools.kafka_releases import BEFORE_NEWEST, LAST_WITH_ZOOKEEPER, NEWEST

#: Two workers get one test each unless the group keeps the tests together.
COUNT = 6
seen: list[int] = []


@pytest.mark.xdist_group("workers")
@pytest.mark.parametrize("number", range(COUNT))
def test_a_group_stays_in_one_process(number: int, request: pytest.FixtureRequest) -> None:
    """What a group shares, a Spark session or a cluster, is started once.

    Several workers need the options of the Makefile's ``TESTS``.
    """
    seen.append(number)
    if os.environ.get("PYTEST_XDIST_WORKER"):
        options = "groups need --dist loadgroup --no-loadscope-reorder beside -n, as make test has"
        assert request.node.nodeid.endswith("@workers"), options
        assert seen == list(range(number + 1))


def test_long_groups_start_first() -> None:
    groups = [*LONG, "live authorizer", "FetchRequest", None]
    assert sorted(groups[::-1], key=rank) == groups


def test_long_groups_are_those_of_tests() -> None:
    """A group that was renamed would start among the last and be waited for."""
    text = "".join(path.read_text("utf-8") for path in Path(__file__).parents[1].rglob("test_*.py"))
    named = re.findall(r'xdist_group\(f?"([^"]+)"\)', text)
    marked = {re.sub(r"\{.*?\}", "*", name) for name in named}
    asked = re.findall(r'real_releases\("([^"]+)"\)', text)
    releases = (NEWEST, BEFORE_NEWEST, LAST_WITH_ZOOKEEPER)
    marked |= {f"{LIVE}{each} {release}" for each, release in product(asked, releases)}
    marked |= {LIVE + each for each in CLUSTERS}
    assert [name for name in LONG if not any(fnmatchcase(name, each) for each in marked)] == []
