"""A real broker that tests share which leave each other's topics and groups alone."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import pytest

from tests.helpers.requirements import require_oracle
from tests.server.groups.consumer_stories import CONSUMER_CONFIGS
from tests.server.groups.stories import CONFIGS
from tools.clusters import Cluster, kraft
from tools.kafka_releases import NEWEST


@pytest.fixture(scope="package")
def one_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Cluster]]:
    """A node of a release, started for the first test that asks; `real_releases("broker")`."""
    require_oracle()
    started: dict[str, Cluster] = {}
    with contextlib.ExitStack() as stack:

        def broker(release: str) -> Cluster:
            if release not in started:
                configs = CONSUMER_CONFIGS if release == NEWEST else CONFIGS
                node = kraft(tmp_path_factory.mktemp("broker"), release, properties=configs)
                started[release] = stack.enter_context(node)
            return started[release]

        yield broker
