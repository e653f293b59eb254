"""Configs as brokers show them, beside what they were sent."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto.admin import ConfigChange, ConfigResource, NewTopic, TopicAlteration
from kafka_admin_proto.admin.config_values import ConfigSetter, same_value

_NEEDED: dict[type[ConfigSetter], dict[str, Any]] = {
    NewTopic: {"name": "a"},
    TopicAlteration: {"name": "a"},
    ConfigChange: {"resource": ConfigResource("topic", "a")},
}


@pytest.mark.parametrize("value", [1000, 0.5, True, b"x", ["x"]], ids=repr)
@pytest.mark.parametrize("kind", ConfigSetter.__subclasses__())
def test_a_value_that_is_no_text_is_refused_where_it_is_given(
    kind: type[ConfigSetter], value: object
) -> None:
    for field in kind.config_fields:
        given = type(value).__name__
        words = f"^{kind.__name__}: config 'retention.ms' in {field} is given as {given}; "
        with pytest.raises(TypeError, match=words):
            kind(**_NEEDED[kind], **{field: {"retention.ms": value}})


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ("0.50", "0.5"),
        ("007", "7"),
        (" 1000 ", "1000"),
        ("TRUE", "true"),
        ("compact, delete", "compact,delete"),
        ("compact,delete,compact", "compact,delete"),
        ("compact,compact", "compact"),
        ("0.1234567890123456789", "0.12345678901234568"),
        ("1e-5", "1.0E-5"),
        ("0.5d", "0.5"),
        ("1", "1.0"),
        ("9223372036854775807", "9223372036854775807"),
    ],
)
def test_another_text_of_the_same_value(sent: str, shown: str) -> None:
    assert same_value(sent, shown)
    assert same_value(shown, sent)


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ("1", "2"),
        ("9223372036854775807", "9223372036854775806"),
        ("true", "false"),
        ("true", "1"),
        ("compact", "compact,delete"),
        ("compact,delete", "delete,compact"),
        ("delete,compact,delete", "compact,delete"),
        ("0.5", "0.5000001"),
        ("f", "d"),
        ("Producer", "producer"),
        ("", None),
        (None, "0"),
    ],
)
def test_other_values(sent: str | None, shown: str | None) -> None:
    assert not same_value(sent, shown)
    assert not same_value(shown, sent)


@given(st.none() | st.text(), st.none() | st.text())
def test_any_text_is_itself_and_none_fails(one: str | None, other: str | None) -> None:
    assert same_value(one, one)
    assert same_value(one, other) == same_value(other, one)
