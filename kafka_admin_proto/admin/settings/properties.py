"""Java's .properties files, read as ``java.util.Properties`` reads them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from kafka_admin_proto.admin.errors import ConfigurationError

_BLANKS = " \t\f"
_ENDS = "\r\n"
_ESCAPES = {"t": "\t", "r": "\r", "n": "\n", "f": "\f"}


def read_properties(path: str | Path) -> dict[str, str]:
    """The properties of a file in ISO 8859-1, the last one of each name.

    Raises ConfigurationError for a file that cannot be read, or that Java would not read.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise ConfigurationError(f"cannot read {path}: {error.strerror or error}") from None
    except ValueError as error:  # a NUL or a surrogate, which no path has
        raise ConfigurationError(f"cannot read {str(path)!r}: {error}") from None
    return parse_properties(data.decode("latin-1"), str(path))


def parse_properties(text: str, file: str = "the properties") -> dict[str, str]:
    r"""The properties in a text, whose characters may be written as ``\uXXXX``.

    ``file`` is what errors call them. Values are never in an error: they may be passwords.
    """
    properties = {}
    for line in _logical_lines(text):
        key_end, value_start = _split(line)
        try:
            key = _unescaped(line[:key_end])
            properties[key] = _unescaped(line[value_start:])
        except ValueError:
            # A name in front of a bad escape is safe to show; the rest of the line is not.
            name = line[:key_end] if "\\u" not in line[:key_end] else "a name"
            raise ConfigurationError(
                f"{file}: {name} has a \\u without four hex digits; write \\\\ for a backslash"
            ) from None
    return properties


def _logical_lines(text: str) -> Iterator[str]:
    """Lines without comments, with continued ones joined."""
    line = ""
    at, size = 0, len(text)
    at_start, is_continued, is_escaped = True, False, False
    while at < size:
        char = text[at]
        at += 1
        if at_start:
            if char in _BLANKS or (char in _ENDS and not is_continued):
                continue
            at_start = is_continued = False
        if not line and char in "#!":
            while at < size and text[at] not in _ENDS:
                at += 1
            at += 1
            at_start = True
        elif char not in _ENDS:
            line += char
            is_escaped = char == "\\" and not is_escaped
        elif not line:
            at_start = True
        elif is_escaped and at < size:
            line = line[:-1]
            at_start = is_continued = True
            is_escaped = False
            if char == "\r" and text[at] == "\n":
                at += 1
        else:
            yield line[:-1] if is_escaped else line
            line = ""
            at_start, is_escaped = True, False
    if line:
        yield line[:-1] if is_escaped else line


def _split(line: str) -> tuple[int, int]:
    """Where the key of a line ends and where its value starts."""
    end, size = 0, len(line)
    is_escaped = has_separator = False
    start = size
    while end < size:
        char = line[end]
        if not is_escaped and char in "=:" + _BLANKS:
            has_separator = char in "=:"
            start = end + 1
            break
        is_escaped = char == "\\" and not is_escaped
        end += 1
    while start < size:
        if line[start] not in _BLANKS:
            if has_separator or line[start] not in "=:":
                break
            has_separator = True
        start += 1
    return end, start


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    parts: list[str] = []
    at = 0
    while at < len(text):
        char = text[at]
        at += 1
        if char == "\\" and at < len(text):
            char = text[at]
            at += 1
            if char == "u":
                digits = text[at : at + 4]
                if len(digits) < 4 or not all(c in "0123456789abcdefABCDEF" for c in digits):
                    raise ValueError(char)
                char = chr(int(digits, 16))
                at += 4
            else:
                char = _ESCAPES.get(char, char)
        parts.append(char)
    # Java's characters are UTF-16: a pair of escapes may be one character.
    joined = "".join(parts).encode("utf-16-le", "surrogatepass")
    return joined.decode("utf-16-le", "surrogatepass")
