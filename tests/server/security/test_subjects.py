"""Principals of certificates: subjects as Java writes them, and Kafka's rules for names."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_admin_proto.errors import SettingsError
from kafka_admin_proto.server.security.subjects import NameRules, name_text
from tests.helpers.java_tool import JavaTool
from tests.helpers.profile import draws
from tests.helpers.requirements import require_oracle
from tools.kafka_releases import NEWEST
from tools.oracles.jars import fetch
from tools.oracles.libraries import SLF4J

TOOL = Path(__file__).parents[2] / "java" / "PrincipalTool.java"


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
#: With General, Universal (which Java shows as bytes) and BMP.
TAGS = (UTF8, PRINTABLE, T61, IA5, 0x1B, 0x1C, 0x1E)


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


Ask = Callable[..., str | None]


@pytest.fixture(scope="module")
def java() -> Iterator[Ask]:
    """The forms of a name in Java and Kafka, None for a refused name."""
    require_oracle()
    tool = JavaTool(TOOL, fetch(NEWEST, ["kafka-clients", *SLF4J]))

    def ask(*words: bytes) -> str | None:
        (answer,) = tool.ask([" ".join(base64.b64encode(each).decode() for each in words)])
        return None if answer == "!" else base64.b64decode(answer).decode()

    yield ask
    tool.close()


_texts = st.text(st.sampled_from(' ,=+<>#;"\\\r\0aZ9é☃\U0001f600'), max_size=6)
_parts = st.builds(part, st.sampled_from(list(TYPES)), _texts, st.sampled_from(TAGS))


@pytest.mark.exhaustive
@settings(max_examples=draws(300))
@given(st.lists(st.lists(_parts, min_size=1, max_size=2), max_size=3))
def test_names_are_java_s(java: Ask, parts: list[list[bytes]]) -> None:
    found = java(der(0x30, name(*parts)))
    if found is not None:  # a second value of a set may be out of order
        assert name_text(name(*parts)) == found


RULES = (
    "DEFAULT", "RULE:^CN=(.*?),.*$/$1/", "RULE:^CN=(.*?),OU=(.*?)(,.*)?$/$2@$1/L",
    "RULE:^CN=(.*?),.*$/$1$12$0/U", "RULE:CN=a.*/b\\$1/", "RULE:^(a+)$/$1/,DEFAULT",
    " RULE:^UID=(.*)$/$1/ , RULE:^.*$/all/ ", "RULE:.*/x/", "RULE:CN=(.)(.)?.*/[$1$2]/",
    "nothing", "RULE:a/b", "RULE:^CN=(.*)/$1//",
)  # fmt: skip


@pytest.mark.exhaustive
@settings(max_examples=draws(200))
@given(
    st.sampled_from(RULES),
    st.lists(st.sampled_from(["CN=a", "CN=Bob", "OU=X", "UID=u", "a", "O=Æ"]), max_size=3),
)
def test_rules_are_kafka_s(java: Ask, rules: str, names: list[str]) -> None:
    subject = ",".join(names)
    try:
        found = NameRules(rules).name_of(subject)
    except SettingsError:
        found = None
    assert found == java(rules.encode(), subject.encode())
