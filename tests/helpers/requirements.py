"""What a test needs of this machine: a test without it is skipped, or fails where all must run."""

from __future__ import annotations

import os
import shutil
from typing import NoReturn

import pytest

from tools.oracles.oracle import why_unavailable


def require_oracle() -> None:
    """Skip the calling test where the oracle is unavailable, or fail it where all must run."""
    reason = why_unavailable()
    if reason is not None:
        skip_or_fail(reason)


def require_program(name: str) -> str:
    """The path of a program; the calling test is skipped where it is not installed, or fails."""
    return shutil.which(name) or skip_or_fail(f"{name} is not on the PATH; install it")


def skip_or_fail(reason: str) -> NoReturn:
    """Skip the calling test, or fail it when KAFKA_ADMIN_PROTO_REQUIRE_ALL=1."""
    if os.environ.get("KAFKA_ADMIN_PROTO_REQUIRE_ALL") == "1":
        pytest.fail(reason)
    pytest.skip(reason, allow_module_level=True)
