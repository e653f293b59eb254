"""Inputs of which nothing can be read, found by their first bytes before any work is done."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from kafka_admin_proto.capture import request_log_lines
from kafka_admin_proto.capture.dumps.readers import READERS
from kafka_admin_proto.capture.dumps.text import SAMPLE_BYTES, encoding_of, sample_of
from kafka_admin_proto.capture.files.opening import is_capture
from kafka_admin_proto.tables.ingest.files import INPUT_FORMATS, PARALLEL_PROBES, OpenFile
from kafka_admin_proto.tables.ingest.unopened import open_reason

_WHAT_IS_READ = "it is neither a packet capture nor a broker's request log"


def unreadable(
    captures: Sequence[str], segments: Sequence[str] = (), input_format: str = "auto"
) -> dict[str, str]:
    """The inputs that cannot be read, with the reasons.

    A segment is one by its name, and a broker's newest may be empty, so that it only has to open.
    So does a capture whose ``input_format``, one of `INPUT_FORMATS`, is named.
    """
    fault = _capture_fault if INPUT_FORMATS[input_format] is None else _opening_fault
    with ThreadPoolExecutor(PARALLEL_PROBES) as pool:
        names = [*captures, *segments]
        reasons = [*pool.map(fault, captures), *pool.map(_opening_fault, segments)]
    return {name: reason for name, reason in zip(names, reasons, strict=True) if reason is not None}


def _capture_fault(name: str) -> str | None:
    try:
        with OpenFile(name) as file:
            head = file.read_at(0, SAMPLE_BYTES)
    except OSError as error:
        return open_reason(error)
    if not head:
        return "it is empty"
    if is_capture(head) or request_log_lines.matches(head):
        return None
    if _is_dump(head):
        return f"{_WHAT_IS_READ}, but looks like a dump of bytes as text, which kap decode reads"
    return f"{_WHAT_IS_READ}; if it is one, name it with --input-format"


def _opening_fault(name: str) -> str | None:
    try:
        OpenFile(name).native.close()
    except OSError as error:
        return open_reason(error)
    return None


def _is_dump(head: bytes) -> bool:
    if not encoding_of(head):
        return False
    sample = sample_of(head)
    return any(reader.matches(sample) for name, reader in READERS.items() if name != "raw")
