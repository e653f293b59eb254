"""A flow between two batches of a stream, as bytes."""

from __future__ import annotations

import io
import pickle
from typing import Any

from kafka_admin_proto import __version__
from kafka_admin_proto.capture.connection.connection import DecodeOptions
from kafka_admin_proto.capture.connection.conversation import Conversation
from kafka_admin_proto.capture.frames import DecodedFrame
from kafka_admin_proto.errors import KafkaAdminProtoError

#: In front of each state: what wrote it. Another release may follow connections otherwise.
_WRITTEN_BY = f"{__version__}\n".encode()


class StateError(KafkaAdminProtoError):
    """The state of a stream was written by another version of this package."""


class _Pickler(pickle.Pickler):
    """Leaves out what all flows share."""

    def __init__(self, to: io.BytesIO, shared: dict[int, str]) -> None:
        super().__init__(to, protocol=5)
        self._shared = shared

    def persistent_id(self, obj: Any) -> str | None:
        return self._shared.get(id(obj))


class _Unpickler(pickle.Unpickler):
    def __init__(self, data: bytes, shared: dict[str, Any]) -> None:
        super().__init__(io.BytesIO(data))
        self._shared = shared

    def persistent_load(self, pid: str) -> Any:
        return self._shared[pid]


def write_flow(
    flow: Conversation, settings: DecodeOptions, out: list[DecodedFrame]
) -> bytes | None:
    """All that the flow needs to go on, but for what it was made with: key, ``settings``, ``out``.

    Between two connections that is how many there were, and None where there was none.
    """
    if not flow.is_open:
        return str(flow.uses).encode() if flow.uses else None
    to = io.BytesIO()
    to.write(_WRITTEN_BY)
    _Pickler(to, {id(settings): "settings", id(out): "out"}).dump(flow)
    return to.getvalue()


def read_flow(
    data: bytes, key: bytes, settings: DecodeOptions, out: list[DecodedFrame]
) -> Conversation:
    """The flow that was written, with this key and these settings. Raises StateError.

    As with any pickle, the bytes must come from where only this package writes: a checkpoint.
    """
    if data.isdigit():
        return Conversation(key, settings, out, int(data))
    written_by, _, rest = data.partition(b"\n")
    if written_by + b"\n" != _WRITTEN_BY:
        raise StateError(
            f"the stream's state was written by {written_by.decode('utf-8', 'replace')!r} and this "
            f"is {__version__}: finish the stream with that version, or start a new one"
        )
    flow: Conversation = _Unpickler(rest, {"settings": settings, "out": out}).load()
    return flow
