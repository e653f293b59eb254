"""A real cluster with StandardAuthorizer and users who log in, and ours, which tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.helpers.requirements import require_oracle
from tests.server.differential.real_cluster import both_secured
from tests.server.differential.sides import Sides
from tools.kafka_releases import NEWEST

#: What members of groups wait for is not what is compared.
_AT_ONCE = {
    "group.initial.rebalance.delay.ms": "0",
    "group.consumer.min.heartbeat.interval.ms": "200",
    "group.consumer.heartbeat.interval.ms": "200",
    "group.share.min.heartbeat.interval.ms": "200",
    "group.share.heartbeat.interval.ms": "200",
}


@pytest.fixture(scope="package")
def secured_sides(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sides]:
    require_oracle()
    with both_secured(tmp_path_factory.mktemp("secured"), NEWEST, _AT_ONCE) as found:
        yield found
