"""These tests end no machine: nothing has to reach a disk, and they do not wait for one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafka_admin_proto.server.log import files
from tests.server.log.stored import NoDisk


@pytest.fixture(scope="package", autouse=True)
def _no_disk() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "os", NoDisk())
        yield
