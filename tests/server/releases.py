"""The releases of Kafka that a run starts real brokers of."""

from __future__ import annotations

import os

import pytest

from tests.scheduling.group_order import LIVE
from tools.clusters import LAST_WITH_ZOOKEEPER, NEWEST_BROKER

#: By hand both: brokers of 3.9 are slow to hear of changes.
RELEASES = os.environ.get("KAFKA_ADMIN_PROTO_RELEASES", NEWEST_BROKER).split(",")


def real_releases(group: str) -> list[object]:
    """The newest release as a parameter, and the oldest for ``make explore``, each a live group."""
    return [
        pytest.param(NEWEST_BROKER, marks=_group(group, NEWEST_BROKER)),
        pytest.param(
            LAST_WITH_ZOOKEEPER, marks=[_group(group, LAST_WITH_ZOOKEEPER), pytest.mark.explore]
        ),
    ]


def _group(group: str, release: str) -> pytest.MarkDecorator:
    return pytest.mark.xdist_group(f"{LIVE}{group} {release}")
