"""Exchanges by SASL on our cluster; test_beside_real compares them with a real one."""

from __future__ import annotations

import pytest

from kafka_admin_proto.server import SyncCluster
from tests.server.security.exchanges import AGAIN, EXCHANGES, METADATA, Named, play


@pytest.mark.exhaustive
@pytest.mark.parametrize("steps", [*EXCHANGES, *AGAIN], ids=str)
def test_each_ends_or_is_answered(quick: SyncCluster, steps: list[Named]) -> None:
    assert play(quick.addresses("SASL"), steps)
    assert play(quick.addresses("PLAINTEXT"), [METADATA]) == [[1]]
