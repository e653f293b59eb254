"""How the tests are spread over workers."""

from __future__ import annotations

import os
import random
import re
from fnmatch import fnmatchcase
from itertools import product
from pathlib import Path
from unittest.mock import Mock

import pytest
from xdist.scheduler.loadgroup import LoadGroupScheduling

from tests.admin.live.conftest import CLUSTERS
from tests.scheduling.group_order import LIVE, LONG, Scheduling, rank
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


class _Worker:
    """What the scheduling of xdist asks of a worker."""

    shutting_down = False

    def __init__(self) -> None:
        self.given: list[int] = []
        self.gateway = Mock(id="1")

    def send_runtest_some(self, indices: list[int]) -> None:
        self.given += indices

    def shutdown(self) -> None:
        self.shutting_down = True


def test_groups_are_given_out_as_by_xdist() -> None:
    """In whatever order tests end; what is done is forgotten."""
    draw = random.Random(7)
    names = [f"test_a.py::test_{each}" for each in range(60)]
    names = [name if draw.random() < 0.5 else f"{name}@{draw.choice('abc')}" for name in names]
    config = Mock()
    config.getvalue.return_value = ["popen", "popen"]
    config.option.loadscopereorder = False
    theirs, ours = LoadGroupScheduling(config), Scheduling(config)
    for each in theirs, ours:
        for _ in range(2):
            each.add_node(_Worker())
        for worker in each.nodes:
            each.add_node_collection(worker, names)
        each.schedule()
    running = [0, 0]
    while any(len(worker.given) > done for worker, done in zip(ours.nodes, running, strict=True)):
        assert [each.given for each in ours.nodes] == [each.given for each in theirs.nodes]
        number = draw.randrange(2)
        if len(ours.nodes[number].given) > running[number]:
            for each in theirs, ours:
                worker = each.nodes[number]
                each.mark_test_complete(worker, worker.given[running[number]])
            running[number] += 1
            assert all(len(groups) <= 3 for groups in ours.assigned_work.values())
    assert sum(running) == len(names)
    assert ours.tests_finished
    assert not ours.has_pending
