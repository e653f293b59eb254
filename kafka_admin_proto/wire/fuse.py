"""A message's tree → functions that do the same at once; see ``emit.emitters`` for the rules.

``read(b, p)`` gives the value that starts at ``p`` and the position behind it; ``write(x)`` gives
the bytes, ``to_json(x)`` the builtins. Any exception, or a position beyond the data, means: ask
the tree.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from kafka_admin_proto.wire.emit.compiled import compile_function
from kafka_admin_proto.wire.emit.emitters import JsonEmitter, ReadEmitter, WriteEmitter
from kafka_admin_proto.wire.options import JsonOptions
from kafka_admin_proto.wire.types.containers import MessageType

#: Of bytes; the compiled engine's reads any buffer.
Read = Callable[[Any, int], tuple[Any, int]]
Write = Callable[[Any], bytes]

#: (source, names and keys of the constants) → function: versions with the same layout share it.
_made: dict[object, Any] = {}


class Fused(NamedTuple):
    """A function and the source that it was made of."""

    function: Any
    source: str


def fuse_read(message: MessageType, *, views: bool = False) -> Fused:
    """The decoder. With ``views`` bytes and records are slices of a memoryview of the input."""
    e = ReadEmitter(views=views)
    if views:
        e.line("v = memoryview(b)")
    message.emit_read_into(e, "value = {}")
    e.line("return value, p")
    return _made_of("read(b, p)", e, f"{'view' if views else 'decode'} {message.title}")


def fuse_write(message: MessageType) -> Fused:
    e = WriteEmitter()
    e.line("parts = []")
    e.line("w = parts.append")
    message.emit_write(e, "x")
    e.flush()
    e.line("return b''.join(parts)")
    return _made_of("write(x)", e, f"encode {message.title}")


def fuse_json(message: MessageType, options: JsonOptions) -> Fused:
    """What turns a value into builtins."""
    e = JsonEmitter(options)
    with e.block(f"if not isinstance(x, {e.constant('C', message.value_class)}):"):
        e.line("raise Fallback")
    e.line(f"return {message.emit_json(e, 'x')}")
    return _made_of("to_json(x)", e, f"json {message.title}")


def _made_of(signature: str, e: ReadEmitter | WriteEmitter | JsonEmitter, title: str) -> Fused:
    source = "\n".join([f"def {signature}:", *e.lines, ""])
    key = (source, tuple(e.keys()))
    if key not in _made:
        name = signature.partition("(")[0]
        _made[key] = compile_function(name, source, title, e.namespace())
    return Fused(_made[key], source)
