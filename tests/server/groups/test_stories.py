"""Members of groups get what they get of a real broker."""

from __future__ import annotations

import pytest

from tests.server.groups.consumer_stories import CONSUMER_CONFIGS, consumer_differences
from tests.server.groups.stories import both, differences
from tests.server.releases import real_releases
from tools.kafka_releases import NEWEST

_SEED, _STEPS = 7, 100


@pytest.mark.exhaustive
@pytest.mark.parametrize("release", real_releases("members"))
def test_as_a_real_broker(release: str) -> None:
    with both(release) as (real, ours):
        minor = release.rpartition(".")[0]
        assert differences(_SEED, minor, _STEPS, real, ours) == []


@pytest.mark.explore
def test_consumers_of_both_protocols_as_a_real_broker() -> None:
    with both(NEWEST, CONSUMER_CONFIGS) as (real, ours):
        assert consumer_differences(_SEED, 3 * _STEPS, real, ours) == []
