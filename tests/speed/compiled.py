"""The compiled engine, for tests of it; they are skipped where it is not built."""

from __future__ import annotations

import importlib
from typing import Any

from kafka_admin_proto import __version__
from kafka_admin_proto.codec import Codec
from tests.helpers.requirements import skip_or_fail


def speed() -> Any:
    """The engine's module, whether the package uses it or not."""
    try:
        found = importlib.import_module("kafka_admin_proto_speed")
    except ImportError:
        skip_or_fail("the compiled engine is not built; `make speed` builds it")
    assert found.__version__ == __version__, "an engine of another version: `make speed` builds it"
    return found


def engine_of(found: Codec[Any]) -> Any:
    """An engine for a codec's message."""
    return speed().Engine(found.grammar.node())
