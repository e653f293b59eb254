"""One instruction for each topic of a batch."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto.admin.alter import TopicAlteration, once_each
from kafka_admin_proto.admin.errors import InstructionError
from tests.helpers.mistyped import mistyped

NAMES = st.sampled_from("abc")


@given(st.lists(st.tuples(NAMES, st.integers())))
def test_the_last_instruction_of_each_topic_counts(batch: list[tuple[str, int]]) -> None:
    found = once_each(batch, lambda item: item[0], duplicates="last")
    assert dict(found) == dict(batch)
    assert [name for name, _ in found] == list(dict.fromkeys(name for name, _ in batch))


@given(st.lists(NAMES))
def test_several_instructions_for_a_topic_are_refused(names: list[str]) -> None:
    if len({*names}) == len(names):
        assert once_each(names, str) == names
    else:
        with pytest.raises(InstructionError, match="several instructions to delete"):
            once_each(names, str, what="delete")


def test_duplicates_are_refused_or_the_last_counts() -> None:
    with pytest.raises(ValueError, match="'refuse' or 'last'"):
        once_each([], str, duplicates=mistyped("first"))


def test_no_value_of_a_credential_is_shown() -> None:
    shown = repr(TopicAlteration("a", configs={"sasl.jaas.config": "hidden", "retention.ms": "1"}))
    assert "hidden" not in shown
    assert "'retention.ms': '1'" in shown
