from collections.abc import Callable, Collection, Sequence
from typing import Any
from uuid import UUID

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
    def read_behind(self, header: Engine, data: bytes, offset: int) -> tuple[Any, int, Any]: ...
    def write_behind(self, header: Engine, front: Any, value: Any) -> bytes: ...
    def write_into(self, value: Any, buffer: bytearray) -> None: ...
    def json(
        self, data: Buffer, offset: int, mask: bool, record_sizes: bool
    ) -> tuple[bytes, int]: ...
    def json_of(self, value: Any, mask: bool, record_sizes: bool) -> bytes: ...
    def scanned_json_of(
        self, value: Any, mask: bool
    ) -> tuple[bytes, list[int], list[UUID], bool]: ...

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
    def skim(
        self, data: Buffer, start: int, count: int, base_timestamp: int, max_items: int
    ) -> tuple[int, int, bool, bool]: ...
    def write(
        self,
        records: Sequence[Any],
        base_offset: int,
        base_timestamp: int,
        append_time: int | None,
    ) -> bytes: ...

class SegmentReader:
    def __init__(
        self,
        link_headers: dict[int, tuple[int, int]],
        bare_headers: dict[int, int],
        slow: Callable[[int, bytes], Any],
    ) -> None: ...
    def read(self, link: int, data: bytes) -> Any: ...

class RowWriter:
    def __init__(
        self, options: Any, form: str, columns: Sequence[str], has_bodies: bool
    ) -> None: ...
    def choose(self, wanted: Any) -> None: ...
    def note_others(self) -> None: ...

class RowColumns:
    def __init__(
        self,
        options: Any,
        columns: Sequence[tuple[str, str]],
        has_bodies: bool,
        most_rows: int,
        most_bytes: int,
        *,
        logs: dict[bytes, int] | None,
        topics: dict[bytes, int] | None,
        at_once: Collection[int],
        waiting: Collection[int],
    ) -> None: ...
    @property
    def is_full(self) -> bool: ...
    def add(self, row: tuple[Any, ...]) -> None: ...
    def take(self) -> tuple[int, list[tuple[bytes, bytes, bytes, bytes]]]: ...

class CapturePlan:
    def __init__(
        self,
        api: str,
        dialect: str,
        make: Callable[[], tuple[Engine | None, Any]],
        *,
        flexible: bool,
        reads: bool,
        names: bool,
        software: bool,
        falls_back: bool,
        ends_login: bool,
        embeds: bool,
        encloses: bool,
    ) -> None: ...
    @property
    def is_plain(self) -> bool: ...

class FrameReader:
    def __init__(
        self,
        options: Any,
        classes: dict[str, type[Any]],
        rows: RowWriter | RowColumns,
        names: Any,
        naming: Collection[int],
        mask: bool,
    ) -> None: ...

class Pattern:
    def __init__(
        self, pattern: Any, classes: tuple[type[Any], ...], shared: tuple[Any, ...]
    ) -> None: ...

class Conversations:
    def __init__(
        self,
        table: Any,
        pattern: Pattern,
        ends: Callable[[bytes], tuple[str, str]],
        most_entries: int,
        most_remembered: int,
    ) -> None: ...

class CaptureReader:
    def __init__(
        self,
        link_headers: dict[int, tuple[int, int]],
        bare_headers: dict[int, int],
        conversations: Conversations,
        out: list[Any],
        slow: Callable[[Any, int, int], int],
        frames: FrameReader,
    ) -> None: ...
    def read_pcap(
        self, source: Any, header: Any, capture: str, ordinal: int, number: int
    ) -> tuple[int, int]: ...
    def read_pcapng(
        self,
        source: Any,
        order: str,
        interfaces: list[Any],
        capture: str,
        ordinal: int,
        number: int,
    ) -> tuple[int, int]: ...

class FlowReader:
    def __init__(
        self,
        pattern: Pattern,
        ends: Callable[[bytes], tuple[str, str]],
        out: list[Any],
        frames: FrameReader,
    ) -> None: ...
    def read(
        self,
        flow: Any,
        key: bytes,
        segments: bytes,
        payload: bytes,
        at: int,
        start: int,
        capture: str,
    ) -> tuple[Any, int, int]: ...

class ChunkPacker:
    def __init__(
        self,
        link_headers: dict[int, tuple[int, int]],
        bare_headers: dict[int, int],
        chunks: dict[bytes, Any],
        chunk_class: type[Any],
        most_bytes: int,
    ) -> None: ...
    def read_part(
        self,
        capture: str,
        base: int,
        most_positions: int,
        since: int,
        until: int,
        numbered: bool,
    ) -> None: ...
    def pack_pcap(
        self, source: Any, header: Any, end: int, position: int, room: int
    ) -> tuple[int, int]: ...
    def pack_pcapng(
        self,
        source: Any,
        order: str,
        interfaces: list[Any],
        end: int,
        position: int,
        room: int,
    ) -> tuple[int, int]: ...

def cut_frame(buffer: bytearray, limit: int) -> bytes | None: ...
def crc32c(data: Buffer) -> int: ...
