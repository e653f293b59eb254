"""Topic ids: both texts, the reserved ids, new ones."""

from __future__ import annotations

import base64
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_admin_proto import KafkaAdminProtoError, TopicIdError, topic_ids
from kafka_admin_proto.topic_ids import (
    METADATA_TOPIC_ID,
    ZERO_TOPIC_ID,
    random_topic_id,
    topic_id_from_text,
    topic_id_to_text,
)
from tests.helpers.profile import draws


def test_the_reserved_ones() -> None:
    """t268: neither is an id that a topic gets."""
    assert str(ZERO_TOPIC_ID) == "00000000-0000-0000-0000-000000000000"
    assert str(METADATA_TOPIC_ID) == "00000000-0000-0000-0000-000000000001"
    assert topic_id_to_text(METADATA_TOPIC_ID) == "AAAAAAAAAAAAAAAAAAAAAQ"


@given(st.uuids())
@settings(max_examples=draws(300))
def test_both_texts_are_read(topic_id: UUID) -> None:
    text = topic_id_to_text(topic_id)
    assert text == base64.urlsafe_b64encode(topic_id.bytes).decode()[:22]
    for form in (text, f"{text}==", str(topic_id), str(topic_id).upper()):
        assert topic_id_from_text(form) == topic_id


@pytest.mark.parametrize(
    "text",
    [
        "", "apples", "A" * 21, "A" * 23, "A" * 22 + "=", "A" * 21 + "+", "A" * 21 + "é", " " * 22,
        "46bdb63f9e8d4a38bf7bee4eb2a794e4", "{46bdb63f-9e8d-4a38-bf7b-ee4eb2a794e4}",
        "46bdb63f-9e8d-4a38-bf7b-ee4eb2a794eg", "46bdb63f-9e8d-4a38-bf7b-ee4eb2a794e4\n",
        "x" * 10_000,
    ],
)  # fmt: skip
def test_other_texts_are_not(text: str) -> None:
    with pytest.raises(TopicIdError, match="is not a topic id; expected 22 characters") as caught:
        topic_id_from_text(text)
    assert isinstance(caught.value, KafkaAdminProtoError)
    assert isinstance(caught.value, ValueError)
    assert len(str(caught.value)) < 250


@given(st.text(max_size=40))
@settings(max_examples=draws(300))
def test_any_text_is_an_id_or_that_error(text: str) -> None:
    try:
        topic_id = topic_id_from_text(text)
    except TopicIdError:
        return
    assert topic_id_from_text(topic_id_to_text(topic_id)) == topic_id


def test_new_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """t268: a new id is no reserved one."""
    assert len({random_topic_id() for _ in range(100)}) == 100
    dashed = UUID(bytes=b"\xf8" + bytes(15), version=4)
    plain = UUID(int=7, version=4)
    drawn = iter([dashed, dashed, plain])
    monkeypatch.setattr(topic_ids, "uuid4", lambda: next(drawn))
    assert topic_id_to_text(dashed).startswith("-")
    assert random_topic_id() == plain
