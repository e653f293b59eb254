"""The order in which workers are given groups of tests, so that all workers end together.

A group (``pytest.mark.xdist_group``) is for tests that share what takes long to start: a Spark
session, a cluster of real brokers, the functions emitted for a message. With ``--dist loadgroup`` a
worker runs all tests of a group, and gets another group when it has nearly done the last one; with
``--no-loadscope-reorder`` groups start in the order of collection, and this module makes that
order.
"""

from __future__ import annotations

from typing import Any

import pytest
from xdist.scheduler.loadgroup import LoadGroupScheduling

from tools.kafka_releases import LAST_WITH_ZOOKEEPER, NEWEST

#: The beginning of the name of each group whose tests ask real brokers.
LIVE = "live "
#: Groups that take minutes, longest first.
LONG = (
    "spark",
    "live kraft_cluster",
    "spark processes",
    f"live differential {LAST_WITH_ZOOKEEPER}",
    f"live differential {NEWEST}",
    f"live broker {NEWEST}",
    "applications",
    "live outages",
    "live clients",
    "live secured clients",
    "metadata log",
)


def group_of(item: pytest.Item) -> str | None:
    """The group of a test; None for a test that may run on any worker."""
    mark = item.get_closest_marker("xdist_group")
    return None if mark is None else str(mark.args[0])


def plain_name(nodeid: str) -> str:
    """A test's name without the group that pytest-xdist puts behind it, ``test_a[1]@spark``."""
    name, mark, group = nodeid.rpartition("@")
    return name if mark and "]" not in group else nodeid


def rank(group: str | None) -> int:
    """When a group starts: the long ones, the other live ones, the other groups, single tests."""
    if group is None:
        return len(LONG) + 2
    if group in LONG:
        return LONG.index(group)
    return len(LONG) + (0 if group.startswith(LIVE) else 1)


def longest_first(items: list[pytest.Item]) -> None:
    """Sort the tests by the rank of their groups; tests of one rank stay in their order."""
    items.sort(key=lambda item: rank(group_of(item)))


class Scheduling(LoadGroupScheduling):  # type: ignore[misc]
    """xdist's, which behind each test counts all those that the worker has run.

    Of fifteen thousand tests without a group that is half a minute: here groups that are done with
    are forgotten.
    """

    def mark_test_complete(self, node: Any, item_index: int, duration: float = 0) -> None:
        """A test of a worker has ended; the worker is given another group if it has nearly done."""
        name = self.registered_collections[node][item_index]
        groups = self.assigned_work[node]
        group = self._split_scope(name)
        if group in groups:  # a test may say more than once that it has ended
            groups[group][name] = True
            if all(groups[group].values()):
                del groups[group]
        self._reschedule(node)
