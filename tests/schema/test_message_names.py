"""A message is found by the word of a user, in the dialect first and then among Kafka's own."""

from __future__ import annotations

from typing import Literal

import pytest

from kafka_admin_proto.capture.dumps.frame_decoder import FrameDecoder
from kafka_admin_proto.cli.captures.filters import api_keys
from kafka_admin_proto.errors import UnknownMessageError
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.schema.message_names import api_names, find_message


@pytest.mark.parametrize("dialect", catalog().dialects())
def test_each_message_is_found_in_its_dialect_and_kafkas_in_all(dialect: str) -> None:
    for name in catalog().names(dialect):
        assert find_message(name, dialect=dialect) == (name, dialect)
        assert find_message(name.upper(), dialect=dialect) == (name, dialect)
    own = catalog().names(dialect)
    for name in catalog().names():
        if name not in own:
            assert find_message(name, dialect=dialect) == (name, "kafka")
    for api in api_names(dialect, "kafka"):
        name, found = find_message(api, dialect=dialect)
        assert name == f"{api}Request"
        keys = {catalog().entry(name, found).api_key}
        assert keys == {None} or api_keys(api.lower(), dialect) == keys


@pytest.mark.parametrize(
    ("word", "type_", "dialect", "version", "found"),
    [
        ("StopReplica", "request", "kip-516", None, ("StopReplicaRequest", "kip-516")),
        ("StopReplica", "response", "kip-516", 4, ("StopReplicaResponse", "kip-516")),
        ("StopReplica", "request", "kip-516", 2, ("StopReplicaRequest", "kafka")),
        ("createtopics", "response", "kip-516", 5, ("CreateTopicsResponse", "kafka")),
        ("19", "response", "kip-516", None, ("CreateTopicsResponse", "kafka")),
        ("5", "request", "kip-516", 4, ("StopReplicaRequest", "kip-516")),
    ],
)
def test_the_version_decides_between_two(
    word: str,
    type_: Literal["request", "response"],
    dialect: str,
    version: int | None,
    found: tuple[str, str],
) -> None:
    assert find_message(word, type=type_, dialect=dialect, version=version) == found
    if version is not None:  # it is also what bare bodies are read by
        direction = type_
        FrameDecoder(unit="body", direction=direction, api=word, version=version, dialect=dialect)


def test_what_there_is_not() -> None:
    """In the user's own word, and with apis as they are called."""
    for word, dialect, said in (
        ("AlterTopix", "kip-4a", "'AlterTopix'; did you mean AlterTopic?"),
        ("AlterTopic", "kafka", "'AlterTopic'"),
        ("Metadat", "kafka", "'Metadat'; did you mean Metadata?"),
        ("MetadatRequest", "kafka", "'MetadatRequest'; did you mean Metadata?"),
        ("leadrchangemessage", "kafka", "'leadrchangemessage'; did you mean LeaderChangeMessage?"),
        ("foo", "kafka", "'foo'"),
        ("9999", "kafka", "'9999'"),
    ):
        with pytest.raises(UnknownMessageError) as caught:
            find_message(word, dialect=dialect)
        assert str(caught.value) == f"there is no api or message {said}"
