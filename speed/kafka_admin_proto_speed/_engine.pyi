from collections.abc import Callable, Sequence
from typing import Any

from kafka_admin_proto.wire.nodes import StructNode

Buffer = bytes | bytearray | memoryview

class Engine:
    def __init__(self, description: StructNode) -> None: ...
    def stand_before(
        self,
        decode: Callable[..., Any],
        encode: Callable[..., bytes],
        decode_to_json_text: Callable[..., bytes],
    ) -> None: ...
    def decode(self, data: Buffer, *, strict: bool = False, zero_copy: bool = False) -> Any: ...
    def encode(self, value: Any, *, lenient: bool = False) -> bytes: ...
    def decode_to_json_text(
        self, data: Buffer, *, mask: bool = False, records: str = "base64"
    ) -> bytes: ...
    def read(self, data: Buffer, offset: int) -> tuple[Any, int]: ...
    def read_views(self, data: Buffer, offset: int) -> tuple[Any, int]: ...
    def write(self, value: Any) -> bytes: ...
    def write_into(self, value: Any, buffer: bytearray) -> None: ...
    def json(
        self, data: Buffer, offset: int, mask: bool, record_sizes: bool
    ) -> tuple[bytes, int]: ...
    def json_of(self, value: Any, mask: bool, record_sizes: bool) -> bytes: ...

class RecordEngine:
    def __init__(self, record_class: type[Any]) -> None: ...
    def read(
        self,
        data: Buffer,
        start: int,
        count: int,
        base_offset: int,
        base_timestamp: int,
        append_time: int | None,
        records: list[Any],
        max_items: int,
    ) -> None: ...
    def write(
        self,
        records: Sequence[Any],
        base_offset: int,
        base_timestamp: int,
        append_time: int | None,
    ) -> bytes: ...

def crc32c(data: Buffer) -> int: ...
