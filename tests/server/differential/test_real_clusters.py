"""Drawn steps have the answers of real clusters, and leave the same behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.profile import EXHAUSTIVE
from tests.helpers.requirements import require_oracle
from tests.server.differential.machine import run_independent, run_steps
from tests.server.differential.real_cluster import both_clusters
from tests.server.releases import real_releases

_STEPS = 90 if EXHAUSTIVE else 40
_RAW_STEPS = 60 if EXHAUSTIVE else 30


@pytest.mark.exhaustive
@pytest.mark.parametrize("release", real_releases("differential"))
def test_drawn_steps(release: str, tmp_path: Path) -> None:
    require_oracle()
    with both_clusters(tmp_path, release) as sides:
        run_steps(sides, _STEPS)
        assert sides.steps >= _STEPS / 2
        run_independent(sides, _RAW_STEPS)
