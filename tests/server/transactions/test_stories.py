"""Transactional producers get what they get of a real broker."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.server.groups.stories import beside
from tests.server.releases import real_releases
from tests.server.transactions.stories import differences
from tools.clusters import Cluster

_SEED, _STEPS = 1, 300


@pytest.mark.exhaustive
@pytest.mark.parametrize("release", real_releases("broker"))
def test_as_a_real_broker(release: str, one_broker: Callable[[str], Cluster]) -> None:
    real = one_broker(release)
    with beside(real) as ours:
        minor = release.rpartition(".")[0]
        different = differences(_SEED, minor, _STEPS, real.bootstrap, ours)
    assert not different, "\n".join(different)
