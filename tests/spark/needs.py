"""What the tests here need, or a reason to skip them."""

from __future__ import annotations

import importlib
from typing import Any

from tests.helpers.requirements import skip_or_fail


def require(module: str) -> Any:
    """The module; without it the tests of the file that asks are skipped, or fail at once."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        skip_or_fail(f"{module} is not installed: pip install 'kafka-admin-proto[spark]'")
