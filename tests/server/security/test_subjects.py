"""Principals of certificates: subjects as Java writes them, and Kafka's rules for names."""

from __future__ import annotations

import pytest

from kafka_admin_proto.errors import SettingsError
from kafka_admin_proto.server.security.subjects import NameRules, name_text


def der(tag: int, content: bytes) -> bytes:
    size = len(content)
    if size < 0x80:
        return bytes([tag, size]) + content
    length = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(length)]) + length + content


#: Object identifiers in DER, with what Java calls them in this form.
TYPES = {
    "CN": "550403", "C": "550406", "L": "550407", "ST": "550408", "STREET": "550409",
    "O": "55040a", "OU": "55040b", "UID": "0992268993f22c640101", "DC": "0992268993f22c640119",
    "1.2.840.113549.1.9.1": "2a864886f70d010901", "2.5.4.5": "550405", "2.999.3": "883703",
}  # fmt: skip
UTF8, PRINTABLE, T61, IA5 = 0x0C, 0x13, 0x14, 0x16


def part(kind: str, text: str, tag: int = UTF8) -> bytes:
    return der(0x30, der(6, bytes.fromhex(TYPES[kind])) + der(tag, text.encode()))


def name(*parts: list[bytes]) -> bytes:
    """The content of a name whose parts are sets of types with their values."""
    return b"".join(der(0x31, b"".join(each)) for each in parts)


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ([], ""),
        ([[part("CN", "client")]], "CN=client"),
        ([[part("C", "NO")], [part("O", "Example")], [part("CN", "me")]], "CN=me,O=Example,C=NO"),
        ([[part("CN", "a"), part("UID", "b")]], "CN=a+UID=b"),
        ([[part("CN", 'a,b+c"d\\e<f>g;h=i#j')]], 'CN=a\\,b\\+c\\"d\\\\e\\<f\\>g\\;h\\=i\\#j'),
        ([[part("CN", "  a b ")]], "CN=\\ \\ a b\\ "),
        ([[part("CN", "ærlig")]], "CN=ærlig"),
        (
            [[part("1.2.840.113549.1.9.1", "a@b.no", IA5)]],
            "1.2.840.113549.1.9.1=#1606614062 2e6e6f".replace(" ", ""),
        ),
    ],
)
def test_subjects(parts: list[list[bytes]], text: str) -> None:
    assert name_text(name(*parts)) == text


@pytest.mark.parametrize("data", [b"\x31", b"\x31\x05ab", b"\x31\x84\xff\xff\xff\xff"])
def test_names_that_are_none(data: bytes) -> None:
    with pytest.raises(ValueError, match="ends within"):
        name_text(data)


SUBJECT = "CN=kafka1,OU=SME,O=mycp,L=Fulton,ST=MD,C=US"


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ("DEFAULT", SUBJECT),
        ("RULE:^CN=(.*?),OU=SME.*$/$1/", "kafka1"),
        ("RULE:^CN=(.*?),OU=SME.*$/$1/U", "KAFKA1"),
        ("RULE:^CN=(.*?),OU=(.*?),O=(.*?),L=(.*?),ST=(.*?),C=(.*?)$/$1@$2/L", "kafka1@sme"),
        ("RULE:^UID=(.*)$/$1/, RULE:^CN=(.*?),.*$/$1@$2/", "kafka1@$2"),
        ("RULE:^UID=(.*)$/$1/,DEFAULT", SUBJECT),
        ("RULE:^CN=(.*?),.*$/$12/", "kafka12"),
        ("RULE:^UID=(.*)$/$1/", None),
        ("", None),
    ],
)
def test_rules(rules: str, expected: str | None) -> None:
    assert NameRules(rules).name_of(SUBJECT) == expected


@pytest.mark.parametrize("rules", ["NOTHING", "RULE:a", "RULE:(/x/", "RULE:a/b/X", "DEFAULT extra"])
def test_rules_that_are_none(rules: str) -> None:
    with pytest.raises(SettingsError, match=r"ssl.principal.mapping.rules"):
        NameRules(rules)
