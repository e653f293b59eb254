"""The principal of a client's certificate: its subject as Java writes it, and Kafka's rules.

Java's ``X500Principal.getName()`` gives the form of RFC 2253: the last part comes first, and a type
without a keyword there is written as its number, with the value's bytes in hex.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from kafka_admin_proto.errors import SettingsError

_KEYWORDS = {
    "2.5.4.3": "CN",
    "2.5.4.6": "C",
    "2.5.4.7": "L",
    "2.5.4.8": "ST",
    "2.5.4.9": "STREET",
    "2.5.4.10": "O",
    "2.5.4.11": "OU",
    "0.9.2342.19200300.100.1.1": "UID",
    "0.9.2342.19200300.100.1.25": "DC",
}
#: Tags of strings that Java writes as text: UTF8, Printable, T61, IA5, General, BMP.
_STRINGS = frozenset({0x0C, 0x13, 0x14, 0x16, 0x1B, 0x1E})
_ESCAPED = frozenset(',=+<>#;"\\')
_SEQUENCE, _SET, _VERSION = 0x30, 0x31, 0xA0


def subject_of(certificate: bytes) -> str:
    """The subject of a DER certificate, ``CN=client,O=Example``. Raises ValueError."""
    (_, body, _) = next(_elements(certificate))
    (_, signed, _) = next(_elements(body))
    fields = [(tag, value) for tag, value, _ in _elements(signed)]
    if fields and fields[0][0] == _VERSION:
        fields.pop(0)
    # Serial number, algorithm, issuer, validity, subject.
    return name_text(fields[4][1])


def name_text(name: bytes) -> str:
    """A name, given as the content of its DER, in the form of RFC 2253."""
    parts = []
    for _, pairs, _ in _elements(name):
        parts.append("+".join(_pair(pair) for _, pair, _ in _elements(pairs)))
    return ",".join(reversed(parts))


def _pair(pair: bytes) -> str:
    (_, identifier, _), (tag, value, whole) = _elements(pair)
    number = _identifier(identifier)
    keyword = _KEYWORDS.get(number)
    if keyword is None or tag not in _STRINGS:
        return f"{keyword or number}=#{whole.hex()}"
    text = value.decode("utf-8", "replace")
    escaped = [
        "\\00" if each == "\0" else f"\\{each}" if each in _ESCAPED else each for each in text
    ]
    start = len(text) - len(text.lstrip(" \r"))
    end = len(text.rstrip(" \r"))
    for index, each in enumerate(text):
        if not start <= index < end:
            escaped[index] = f"\\{each}"
    return f"{keyword}={''.join(escaped)}"


def _identifier(data: bytes) -> str:
    numbers, value = [], 0
    for byte in data:
        value = value << 7 | byte & 0x7F
        if not byte & 0x80:
            numbers.append(value)
            value = 0
    first = min(numbers[0] // 40, 2)
    return ".".join(map(str, [first, numbers[0] - 40 * first, *numbers[1:]]))


def _elements(data: bytes) -> Iterator[tuple[int, bytes, bytes]]:
    """Tag, content and all bytes of successive DER elements. Raises ValueError."""
    at = 0
    while at < len(data):
        start = at
        if len(data) < at + 2:
            raise ValueError("DER that ends within an element")
        tag, size = data[at], data[at + 1]
        at += 2
        if size & 0x80:
            width = size & 0x7F
            size = int.from_bytes(data[at : at + width], "big")
            at += width
        if not 0 <= size <= len(data) - at:
            raise ValueError("DER that ends within an element")
        yield tag, data[at : at + size], data[start : at + size]
        at += size


class NameRules:
    """``ssl.principal.mapping.rules``: DEFAULT, RULE:pattern/replacement/[LU]; the first that fits.

    Raises SettingsError for an invalid rule. Patterns are Python's regular expressions.
    """

    def __init__(self, text: str = "DEFAULT") -> None:
        self._rules: list[tuple[re.Pattern[str], str, str] | None] = []
        at, text = 0, text.strip()
        while at < len(text):
            rule = _RULE.match(text, at)
            if rule is None:
                raise SettingsError(
                    f"ssl.principal.mapping.rules: {text[at:]!r} is neither DEFAULT nor "
                    "RULE:pattern/replacement/ with L or U behind it"
                )
            at = rule.end()
            if rule["default"]:
                self._rules.append(None)
                continue
            try:
                pattern = re.compile(rule["pattern"])
            except re.error as error:
                raise SettingsError(
                    f"ssl.principal.mapping.rules: {rule['pattern']!r} is no pattern: {error}"
                ) from None
            self._rules.append((pattern, rule["replacement"], rule["case"]))

    def name_of(self, subject: str) -> str | None:
        """The user's name; None if no rule fits, for which the connection is closed."""
        for rule in self._rules:
            if rule is None:
                return subject
            pattern, replacement, case = rule
            found = pattern.fullmatch(subject)
            if found is None:
                continue
            name = pattern.sub(partial(_filled, replacement), subject)
            return name.lower() if case == "L" else name.upper() if case == "U" else name
        return None


_RULE = re.compile(
    r"\s*(?:(?P<default>DEFAULT)|RULE:(?P<pattern>(?:\\.|[^\\/])*)/"
    r"(?P<replacement>(?:\\.|[^\\/])*)/(?P<case>[LU]?))\s*(?:,\s*|$)"
)
_REFERENCE = re.compile(r"\\(.)|\$(\d+)")


def _filled(replacement: str, match: re.Match[str]) -> str:
    """A replacement in Java's notation: $1 is a group, \\x the character x."""

    def part(each: re.Match[str]) -> str:
        if each[1]:
            return each[1]
        digits = each[2]
        groups = match.re.groups
        # As many digits as name a group; a digit that names no group stands for itself.
        while int(digits) > groups and len(digits) > 1:
            digits = digits[:-1]
        if int(digits) > groups:
            return each[0]
        return (match[int(digits)] or "") + each[2][len(digits) :]

    return _REFERENCE.sub(part, replacement)
