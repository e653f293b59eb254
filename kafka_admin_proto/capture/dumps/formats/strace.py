r"""``strace -s 1048576``: what a process sent and received, call by call::

    12:00:00.106086 sendto(3, "\0\0\0\23\0\22\0\0\0\0\0\t\0\tdump-demo", 23, 0, NULL, 0) = 23
    [pid 7] write(5<TCP:[10.0.0.1:50000->10.0.0.2:9092]>, "\0\0\0"..., 54) = 54

Of each file descriptor the calls that write are one stream, and those that read another. Streams
that do not begin as frames do, of files and terminals, are left out.
"""

from __future__ import annotations

import re

from kafka_admin_proto.capture.dumps.blocks import Block, Reader
from kafka_admin_proto.capture.dumps.chunks import ChunkJoiner
from kafka_admin_proto.capture.dumps.strings import read_string
from kafka_admin_proto.capture.dumps.text import lines, sample_lines
from kafka_admin_proto.capture.text_times import time_in
from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import DumpError

_WRITES = frozenset({"write", "writev", "send", "sendto", "sendmsg"})
_OF_SOCKETS = frozenset({"send", "sendto", "sendmsg", "recv", "recvfrom", "recvmsg"})
_PID = r"(?:\[pid +\d+\] |\d+ +)?"
_CALL = re.compile(
    rf" *{_PID}(?P<time>[\d:.+-]*(?: [\d:.]+)?) *"
    r"(?P<name>writev?|readv?|send|sendto|sendmsg|recv|recvfrom|recvmsg)\((?P<fd>\d+)(?P<file><(?:->|[^>])*+>)?"
)
#: Any call, a signal, the end of a process, or what strace says itself: what else a trace has.
_OTHER = re.compile(rf"(?:strace: | *{_PID}[\d:.+ -]*(?:\w+\(|---|\+\+\+|<\.\.\. \w+ resumed>))")
#: The quotes of buffers: of the one of a call, and of those in a list. Others are of addresses.
_BUFFER = re.compile(r', *"')
_LISTED_BUFFER = re.compile(r'(?:iov_base=|\{)"')
#: What gives a number to another file: its streams begin anew.
_CLOSED = re.compile(rf" *{_PID}[\d:.+ -]*close\((\d+)")
_OPENED = re.compile(rf" *{_PID}[\d:.+ -]*(?:socket|accept4?|open|openat|dup)\(")
_UNFINISHED = "<unfinished ...>"
_RESUMED = re.compile(rf"({_PID})[\d:.+ -]*<\.\.\. (\w+) resumed>")
_RESULT = re.compile(r"\) *= (-?\d{1,18})\b[^)]*$")
#: Lines up to the first call that moves bytes.
_MOST_BEFORE = 1000
_PREFIX = 4
#: What -ttt prints; the shorter times of -r are since the call before.
_SINCE_1970 = re.compile(r"(\d{9,10})\.(\d{6})")


def matches(sample: bytes) -> bool:
    """All lines up to the first call that moves bytes are a trace's."""
    for above, (_, line) in enumerate(sample_lines(sample)):
        if _CALL.match(line):
            return True
        if above >= _MOST_BEFORE or not _OTHER.match(line):
            return False
    return False


def read(data: bytes) -> list[Block]:
    joiner = ChunkJoiner()
    #: By file descriptor: its streams, and whether they may be of frames.
    streams: dict[str, dict[str, bool]] = {}
    #: The starts of calls that another process came between, by process.
    unfinished: dict[str, str] = {}
    for number, line in lines(data):
        if line.endswith(_UNFINISHED):
            unfinished[_process(line)] = line.removesuffix(_UNFINISHED)
            continue
        if (resumed := _RESUMED.match(line)) is not None:
            line = unfinished.pop(_process(line), "") + line[resumed.end() :]
        result = _RESULT.search(line)
        changed = _CLOSED.match(line) or (result if _OPENED.match(line) else None)
        if changed is not None:
            for stream in streams.pop(changed[1], ()):
                joiner.end(stream)
            continue
        call = _CALL.match(line)
        if not call or not result or int(result[1]) <= 0:
            continue
        size, stream = int(result[1]), _stream(call)
        moved = _bytes(line, call.end(), number)
        if streams.setdefault(call["fd"], {}).setdefault(stream, _may_begin(moved)):
            if len(moved) < size:
                raise DumpError(
                    f"strace printed {len(moved)} of {counted(size, 'bytes')} of this call; "
                    "run it with -s 1048576",
                    line=number,
                )
            joiner.add(stream, moved[:size], number, _time(call["time"]))
    return joiner.finish()


def _process(line: str) -> str:
    found = re.match(_PID, line)
    return found[0].strip() if found else ""


def _stream(call: re.Match[str]) -> str:
    # A socket has calls of its own; where a trace lacks others, its number may have been a file's.
    ways = ("sent", "received") if call["name"] in _OF_SOCKETS else ("written", "read")
    return f"fd {call['fd']}{call['file'] or ''} {ways[call['name'] not in _WRITES]}"


def _bytes(line: str, position: int, number: int) -> bytes:
    data = bytearray()
    if (buffer := _BUFFER.match(line, position)) is not None:
        read_string(line, buffer.end(), '"', data, number)
        return bytes(data)
    while (buffer := _LISTED_BUFFER.search(line, position)) is not None:
        position = read_string(line, buffer.end(), '"', data, number)
    return bytes(data)


def _may_begin(data: bytes) -> bool:
    """Whether a stream that begins so may be of frames: their sizes are below 16 MiB."""
    return data[:1] == b"\0" and (len(data) < _PREFIX or any(data[1:_PREFIX]))


def _time(text: str) -> int | None:
    """Microseconds since 1970 of -ttt; of -tt, which has no date, the time of day."""
    if (since_1970 := _SINCE_1970.fullmatch(text)) is not None:
        return int(since_1970[1]) * 1_000_000 + int(since_1970[2])
    return time_in(f"1970-01-01 {text}")


READER = Reader("strace", "strace -s 1048576, with times of -tt or -ttt", matches, read, rank=3)
