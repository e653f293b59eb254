r"""Properties files are read as Java reads them, and the logins in them as Kafka does."""

from __future__ import annotations

import base64
import contextlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_admin_proto.admin import ConfigurationError
from kafka_admin_proto.admin.settings.jaas import read_jaas
from kafka_admin_proto.admin.settings.properties import parse_properties, read_properties
from tests.helpers.java_tool import JavaTool
from tests.helpers.profile import draws
from tests.helpers.requirements import require_oracle
from tools.kafka_releases import NEWEST
from tools.oracles.jars import fetch
from tools.oracles.libraries import SLF4J

TOOL = Path(__file__).parents[2] / "java" / "PropertiesTool.java"

#: What the rules of the format are about, and some that they are not.
blanks_and_signs = ["\\", "\\\\", "\n", "\r", "\r\n", "\\\n", "\\\r\n", " ", "\t", "\f", *"=:#!"]
words = ["a", "b.c", "u", r"\u0041", r"\u00e9", r"\ud83d\ude00", r"\u12", r"\t", r"\n", r"\q", "é"]
pieces = st.sampled_from([*blanks_and_signs, *words])
texts = st.lists(pieces, max_size=25).map("".join)


@given(texts)
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        found = parse_properties(text)
    except ConfigurationError as error:
        assert "four hex digits" in str(error)
    else:
        assert all(isinstance(value, str) for value in found.values())


def escaped(text: str) -> str:
    r"""As java.util.Properties.store writes it: \uXXXX for what is not ASCII."""
    units = text.encode("utf-16-be", "surrogatepass")
    codes = [int.from_bytes(units[at : at + 2], "big") for at in range(0, len(units), 2)]
    return "".join(
        f"\\{chr(code)}"
        if chr(code) in "\\=:#! "
        else chr(code)
        if 0x21 <= code < 0x7F
        else f"\\u{code:04x}"
        for code in codes
    )


@given(st.dictionaries(st.text(min_size=1), st.text()))
def test_what_is_written_is_read(properties: dict[str, str]) -> None:
    lines = [f"{escaped(key)}={escaped(value)}\n" for key, value in properties.items()]
    assert parse_properties("".join(lines)) == properties


EXAMPLE = rb"""
# a comment \
security.protocol = SASL_SSL
! another
sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \
    username="alice" \
    password="s\u00e9cret";
empty
with\ space:\tvalue\ !
path=C:\\stores\\x
"""


def test_an_example(tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_bytes(EXAMPLE)
    assert read_properties(file) == {
        "security.protocol": "SASL_SSL",
        "sasl.jaas.config": (
            "org.apache.kafka.common.security.plain.PlainLoginModule required "
            'username="alice" password="s\xe9cret";'
        ),
        "empty": "",
        "with space": "\tvalue !",
        "path": "C:\\stores\\x",
    }


def test_errors_name_the_file_and_no_value(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"cannot read .*nowhere: No such file"):
        read_properties(tmp_path / "nowhere")
    file = tmp_path / "client.properties"
    file.write_text("password=hush\\u12\n")
    with pytest.raises(
        ConfigurationError, match=r"client.properties: password has a \\u"
    ) as caught:
        read_properties(file)
    assert "hush" not in str(caught.value)


@pytest.mark.exhaustive
def test_java_reads_the_same() -> None:
    samples = [EXAMPLE, *(example.encode("latin-1") for example in examples(draws(2000)))]
    with contextlib.closing(JavaTool(TOOL, [])) as tool:
        answers = tool.ask([base64.b64encode(each).decode() for each in samples])
    for sample, answer in zip(samples, answers, strict=True):
        assert ours(sample) == answer, sample


def ours(data: bytes) -> str:
    """What PropertiesTool answers: keys and values in hex of UTF-16, sorted."""
    try:
        found = parse_properties(data.decode("latin-1"))
    except ConfigurationError:
        return "refused"
    units = {
        key.encode("utf-16-be", "surrogatepass").hex(): value.encode(
            "utf-16-be", "surrogatepass"
        ).hex()
        for key, value in found.items()
    }
    return " ".join(f"{key}={units[key]}" for key in sorted(units))


def examples(count: int) -> list[str]:
    found: list[str] = []

    @given(texts)
    def collect(text: str) -> None:
        found.append(text)

    while len(found) < count:
        collect()
    return found


JAAS_TOOL = Path(__file__).parents[2] / "java" / "JaasTool.java"
PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"

login_words = [
    "username",
    "password",
    "alice",
    "a-b_c$d",
    "x.y",
    '"hush"',
    "'it\\'s'",
    '"a\\"b\\\\c"',
]
signs = ["=", ";", '"="', "';'"]
strings = ['"tab\\tnew\\nline"', '"\\101\\7"', '"\u00e9 \u20ac"', '""', '"// no comment"']
between = [" ", "\t", "\n", " = ", "=", " // comment\n", " /* comment\n */ "]
login_pieces = st.sampled_from([*login_words, *strings, *signs, *between])
options = st.tuples(
    st.sampled_from(login_words[:5]),
    st.sampled_from(["=", " = ", "=\n"]),
    st.sampled_from([*login_words, *strings]),
    st.sampled_from([" ", "\n", *between[5:]]),
)
logins = st.one_of(
    st.lists(options.map("".join), max_size=4).map("".join),
    st.lists(login_pieces, max_size=8).map("".join),
).map(lambda text: f"{PLAIN} required {text};")


@given(logins)
def test_any_login_is_read_or_refused(login: str) -> None:
    assert ours_of_login(login)


@pytest.mark.parametrize("end", [";;", "; alice", "x = ;", "x = =;", 'x "=" y;', "x = ; ;"])
def test_signs_are_no_values(end: str) -> None:
    assert ours_of_login(f"{PLAIN} required {end}") == "refused"


@pytest.mark.exhaustive
def test_kafka_reads_the_same() -> None:
    require_oracle()
    samples: list[str] = []

    @settings(max_examples=draws(2000))
    @given(logins)
    def collect(login: str) -> None:
        samples.append(login)

    collect()
    with contextlib.closing(JavaTool(JAAS_TOOL, fetch(NEWEST, ["kafka-clients", *SLF4J]))) as tool:
        answers = tool.ask([base64.b64encode(each.encode()).decode() for each in samples])
    for sample, answer in zip(samples, answers, strict=True):
        assert ours_of_login(sample) == answer, sample


def ours_of_login(login: str) -> str:
    """What JaasTool answers: options in base64, sorted."""
    try:
        found = read_jaas(login)
    except ConfigurationError:
        return "refused"
    rows = {text(key): text(value) for key, value in found.items()}
    return " ".join(f"{key}:{rows[key]}" for key in sorted(rows)) or "none"


def text(value: str) -> str:
    return base64.b64encode(value.encode()).decode()
