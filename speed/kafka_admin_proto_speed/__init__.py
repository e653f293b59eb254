"""The compiled engine of ``kafka_admin_proto``, which finds and uses it by itself.

It is of one version of that package: the one of the same number.
"""

from __future__ import annotations

__version__ = "0.1.0"

# Imported before the engine, which needs its modules, and behind the version, which it looks at.
import kafka_admin_proto  # noqa: F401
from kafka_admin_proto_speed._engine import (
    CapturePlan,
    CaptureReader,
    ChunkPacker,
    Conversations,
    Engine,
    FlowReader,
    FrameReader,
    Pattern,
    RecordEngine,
    RowColumns,
    RowWriter,
    SegmentReader,
    crc32c,
    cut_frame,
)

__all__ = [
    "CapturePlan",
    "CaptureReader",
    "ChunkPacker",
    "Conversations",
    "Engine",
    "FlowReader",
    "FrameReader",
    "Pattern",
    "RecordEngine",
    "RowColumns",
    "RowWriter",
    "SegmentReader",
    "crc32c",
    "cut_frame",
]
