"""The formats, each a module of ``formats/``, and the choice among them."""

from __future__ import annotations

import re
from importlib import import_module
from pkgutil import iter_modules

from kafka_admin_proto.arguments import as_bytes
from kafka_admin_proto.capture.dumps import formats
from kafka_admin_proto.capture.dumps.blocks import Block, Reader
from kafka_admin_proto.capture.dumps.text import lines, quoted, sample_lines, sample_of
from kafka_admin_proto.errors import DumpError


def _readers() -> list[Reader]:
    modules = iter_modules(formats.__path__, f"{formats.__name__}.")
    return [import_module(each.name).READER for each in modules]


#: By name. The first format that matches is used.
READERS: dict[str, Reader] = {
    reader.name: reader for reader in sorted(_readers(), key=lambda reader: reader.rank)
}

#: For the error message: a string with an escape, and the characters of a line that was meant to be
#: hex, or base64.
_ESCAPES = re.compile(r"[\"'].*\\[x0-7]")
_MEANT_AS_HEX = re.compile(r"[0-9a-fA-FxX,:\\\s]")
_MEANT_AS_BASE64 = re.compile(r"[A-Za-z0-9+/_-]")
#: Lines before a dump up to which the error message still recognises it.
_LOOK_PAST = 10


def read_blocks(data: bytes, format: str = "auto") -> list[Block]:
    """The blocks of bytes in an input, at least one.

    ``format`` is "auto" or a name in READERS. DumpError says what is wrong, and in which line.
    """
    data = as_bytes(data)
    if format != "auto" and format not in READERS:
        raise DumpError(f"there is no input format {format!r}; there are auto, {_names()}")
    if not data or (format != "raw" and not data.strip()):
        raise DumpError("the input is empty")
    reader = _guess(data) if format == "auto" else READERS[format]
    blocks = reader.read(data)
    if not blocks:
        raise DumpError("no bytes in the input, only blank lines and comments")
    return blocks


def _guess(data: bytes) -> Reader:
    sample = sample_of(data)
    for reader in READERS.values():
        if reader.matches(sample):
            return reader
    first = next(sample_lines(sample), None)
    if first is None:
        raise DumpError("no bytes in the input, only blank lines and comments")
    raise _not_understood(data, sample, *first)


def _not_understood(data: bytes, sample: bytes, number: int, line: str) -> DumpError:
    """The error for an input whose first line that is not blank is ``line``."""
    if _ESCAPES.search(line):
        return _closest("escaped", data, number)
    if 4 * len(_MEANT_AS_HEX.findall(line)) >= 3 * len(line):
        return _closest("hex", data, number)
    following = [text for n, text in lines(sample) if n > number]
    for skipped in range(min(len(following), _LOOK_PAST)):
        rest = "\n".join(following[skipped:]).encode()
        for name, reader in READERS.items():
            if name != "raw" and reader.matches(rest):
                after = f"the text from line {number + 1 + skipped} on looks like {name}"
                return _error(f"cannot make out {quoted(line)}; {after}", number)
    if 10 * len(_MEANT_AS_BASE64.findall(line)) >= 9 * len(line):
        return _closest("base64", data, number)
    return _error(f"cannot make out {quoted(line)}; it is not close to any dump", number)


def _closest(name: str, data: bytes, number: int) -> DumpError:
    closest = f"the input is closest to {name}"
    try:
        READERS[name].read(data)
    except DumpError as error:
        return _error(f"{error.fault}; {closest}", error.line)
    return _error(f"{closest}, but that would be a guess", number)


def _error(fault: str, line: int) -> DumpError:
    return DumpError(f"{fault}. Formats (--input-format): {_names()}", line=line)


def _names() -> str:
    return ", ".join(READERS)
