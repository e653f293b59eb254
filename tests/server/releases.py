"""The releases of Kafka that judge the reference cluster with real brokers."""

from __future__ import annotations

import os

import pytest

from tests.scheduling.group_order import LIVE
from tools.kafka_releases import BEFORE_NEWEST, LAST_WITH_ZOOKEEPER, NEWEST

#: By hand the others: brokers of 3.9 are slow to hear of changes.
RELEASES = os.environ.get("KAFKA_ADMIN_PROTO_RELEASES", NEWEST).split(",")


def real_releases(group: str) -> list[object]:
    """The newest release as a parameter, and older ones for ``make explore``, each a live group."""
    older = [
        pytest.param(each, marks=[_group(group, each), pytest.mark.explore])
        for each in (BEFORE_NEWEST, LAST_WITH_ZOOKEEPER)
    ]
    return [pytest.param(NEWEST, marks=_group(group, NEWEST)), *older]


def _group(group: str, release: str) -> pytest.MarkDecorator:
    return pytest.mark.xdist_group(f"{LIVE}{group} {release}")
