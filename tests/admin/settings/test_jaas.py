"""Logins are read as Kafka reads sasl.jaas.config."""

from __future__ import annotations

import base64
import contextlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_admin_proto.admin import ConfigurationError
from kafka_admin_proto.admin.settings.jaas import read_jaas
from tests.helpers.java_tool import JavaTool
from tests.helpers.profile import draws
from tests.helpers.requirements import require_oracle
from tools.kafka_releases import NEWEST
from tools.oracles.jars import fetch
from tools.oracles.libraries import SLF4J

TOOL = Path(__file__).parents[2] / "java" / "JaasTool.java"
PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"

words = ["username", "password", "alice", "a-b_c$d", "x.y", '"hush"', "'it\\'s'", '"a\\"b\\\\c"']
signs = ["=", ";", '"="', "';'"]
strings = ['"tab\\tnew\\nline"', '"\\101\\7"', '"\u00e9 \u20ac"', '""', '"// no comment"']
between = [" ", "\t", "\n", " = ", "=", " // comment\n", " /* comment\n */ "]
pieces = st.sampled_from([*words, *strings, *signs, *between])
options = st.tuples(
    st.sampled_from(words[:5]),
    st.sampled_from(["=", " = ", "=\n"]),
    st.sampled_from([*words, *strings]),
    st.sampled_from([" ", "\n", *between[5:]]),
)
logins = st.one_of(
    st.lists(options.map("".join), max_size=4).map("".join),
    st.lists(pieces, max_size=8).map("".join),
).map(lambda text: f"{PLAIN} required {text};")


@given(logins)
def test_any_login_is_read_or_refused(login: str) -> None:
    assert ours(login)


@pytest.mark.parametrize("end", [";;", "; alice", "x = ;", "x = =;", 'x "=" y;', "x = ; ;"])
def test_signs_are_no_values(end: str) -> None:
    assert ours(f"{PLAIN} required {end}") == "refused"


@pytest.mark.exhaustive
def test_kafka_reads_the_same() -> None:
    require_oracle()
    samples: list[str] = []

    @settings(max_examples=draws(2000))
    @given(logins)
    def collect(login: str) -> None:
        samples.append(login)

    collect()
    with contextlib.closing(JavaTool(TOOL, fetch(NEWEST, ["kafka-clients", *SLF4J]))) as tool:
        answers = tool.ask([base64.b64encode(each.encode()).decode() for each in samples])
    for sample, answer in zip(samples, answers, strict=True):
        assert ours(sample) == answer, sample


def ours(login: str) -> str:
    """What JaasTool answers: options in base64, sorted."""
    try:
        found = read_jaas(login)
    except ConfigurationError:
        return "refused"
    rows = {text(key): text(value) for key, value in found.items()}
    return " ".join(f"{key}:{rows[key]}" for key in sorted(rows)) or "none"


def text(value: str) -> str:
    return base64.b64encode(value.encode()).decode()
