"""Transactional producers get what they get of a real broker."""

from __future__ import annotations

import pytest

from tests.server.groups.stories import both
from tests.server.releases import real_releases
from tests.server.transactions.stories import TRANSACTIONS, differences

_SEED, _STEPS = 1, 300


@pytest.mark.exhaustive
@pytest.mark.parametrize("release", real_releases("transactions"))
def test_as_a_real_broker(release: str) -> None:
    with both(release, TRANSACTIONS) as (real, ours):
        minor = release.rpartition(".")[0]
        assert differences(_SEED, minor, _STEPS, real, ours) == []
