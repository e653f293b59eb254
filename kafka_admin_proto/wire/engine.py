"""The compiled engine, where it is installed: ``kafka-admin-proto-speed``, the extra ``speed``.

It is looked for once, when the package is imported, and used if it is of this package's version.
``KAFKA_ADMIN_PROTO_PURE=1`` in the environment switches it off, and so does an interpreter that
runs without the global lock, which the engine needs. Without it everything works as well, in
plain Python.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from kafka_admin_proto.version import __version__
from kafka_admin_proto.wire.types.containers import MessageType

if TYPE_CHECKING:
    from kafka_admin_proto_speed import Engine


def _compiled() -> Any:
    """The engine's module; None where it is not to be used."""
    has_lock = getattr(sys, "_is_gil_enabled", lambda: True)()
    if os.environ.get("KAFKA_ADMIN_PROTO_PURE", "0") not in ("", "0") or not has_lock:
        return None
    try:
        import kafka_admin_proto_speed as package

        # By its own name: the package may have been imported first, and is not complete then.
        from kafka_admin_proto_speed import _engine
    except ImportError:
        return None
    return _engine if package.__version__ == __version__ else None


#: The engine's module, where it is used.
compiled: Any = _compiled()


def compiled_engine(message: MessageType) -> Engine | None:
    """The engine for a message.

    None where there is none, and for a message that it has no nodes for: for the sake of a type in
    it, or as it is deeper or wider than the engine's stack allows.
    """
    if compiled is None:
        return None
    node = message.node()
    if node is None:
        return None
    try:
        engine: Engine = compiled.Engine(node)
    except ValueError:
        return None
    return engine
