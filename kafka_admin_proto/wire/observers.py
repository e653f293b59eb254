"""Observers of a reading that look for what is legal and yet not as encoding would write it."""

from __future__ import annotations

from typing import Any

from kafka_admin_proto.errors import DecodeError
from kafka_admin_proto.wire.types.base import Observer, WireType


class Notes:
    """An observer that keeps what is not canonical."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def span(
        self, path: str, start: int, end: int, wire_type: WireType, value: Any, secret: bool
    ) -> None:
        pass

    def non_canonical(self, path: str, offset: int, fault: str) -> None:
        self.found.append(f"{path} at byte {offset}: {fault}")


class StrictObserver:
    """An observer that refuses what is not canonical, and passes the rest on."""

    def __init__(self, inner: Observer | None) -> None:
        self.inner = inner

    def span(
        self, path: str, start: int, end: int, wire_type: WireType, value: Any, secret: bool
    ) -> None:
        if self.inner is not None:
            self.inner.span(path, start, end, wire_type, value, secret)

    def non_canonical(self, path: str, offset: int, fault: str) -> None:
        raise DecodeError(
            f"{fault}, which is not canonical", path=path, offset=offset, expected="canonical bytes"
        )
