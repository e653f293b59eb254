"""Records of the metadata log in Fetch: masked, as they may hold credentials."""

from __future__ import annotations

import base64
from typing import Any
from uuid import UUID

import pytest

from kafka_admin_proto import EncodeError, FetchResponse, JsonError, codec
from kafka_admin_proto.capture.frames import FrameOrigin, codec_of, frame_of_payload
from kafka_admin_proto.messages.fetch_response import FetchableTopicResponse, PartitionData
from kafka_admin_proto.protocol import read_response, write_response
from kafka_admin_proto.records.batches.batches import Batch, Record, write_batch
from kafka_admin_proto.wire.options import JsonOptions
from kafka_admin_proto.wire.secrets import METADATA_TOPIC, METADATA_TOPIC_ID
from tests.package.secrets.credentials import SECRET, hides


def fetched(version: int) -> FetchResponse:
    """The metadata log beside another topic, each by its name or, from version 13 on, its id."""
    records = write_batch(Batch.of([Record(0, 1, None, SECRET.encode())]))
    by_name = version < 13
    topics = [
        FetchableTopicResponse(
            topic=name if by_name else "",
            topic_id=UUID(int=0) if by_name else topic_id,
            partitions=[PartitionData(high_watermark=7, records=records)] * 2,
        )
        for name, topic_id in ((METADATA_TOPIC, METADATA_TOPIC_ID), ("apples", UUID(int=2)))
    ]
    if version >= 12:
        topics[0].unknown_tagged_fields = ((99, SECRET.encode()),)
    return FetchResponse(responses=topics)


@pytest.mark.parametrize("version", [4, 11, 12, 13, 17])
@pytest.mark.parametrize("zero_copy", [False, True])
def test_records_of_the_metadata_log_are_masked(version: int, zero_copy: bool) -> None:
    c = codec(FetchResponse, version)
    value = c.decode(c.encode(fetched(version)), zero_copy=zero_copy)
    log, apples = value.responses
    assert SECRET not in repr(log) + str(log.__rich_repr__())
    assert repr(log).count("high_watermark=7") == 2
    assert repr(value).count("'********'") == (3 if version >= 12 else 2)
    assert SECRET in repr(apples) or zero_copy
    assert log.partitions[0].records is not None  # what is shown is a copy

    for found in (c.to_json(value, mask=True), c.grammar.to_json(value, JsonOptions(mask=True))):
        masked_log, shown_apples = found["responses"]
        parts = [[part["records"] for part in each["partitions"]] for each in found["responses"]]
        assert parts[0] == ["********"] * 2
        assert base64.b64decode(parts[1][0]) == fetched(version).responses[1].partitions[0].records
        if version >= 12:
            assert masked_log["_unknownTaggedFields"] == [{"tag": 99, "data": "********"}]
        assert masked_log["partitions"][0]["highWatermark"] == 7
        assert shown_apples != masked_log
    sizes = c.to_json(value, mask=True, records="size")["responses"][0]["partitions"][0]
    assert "records" not in sizes
    assert c.from_json(c.to_json(value)) == c.decode(c.encode(value))


def test_a_frame_with_the_metadata_log_hides_it_in_repr() -> None:
    body = fetched(12)
    body.responses.pop()
    payload = write_response(body, 12, 5)
    response = read_response(payload, 1, 12)
    assert response.error is None
    assert SECRET not in repr(response)
    assert SECRET not in repr(
        frame_of_payload(response, payload, 0, codec_of(response), FrameOrigin(""))
    )


def test_errors_do_not_quote_records() -> None:
    wrong: Any = {"value": SECRET}
    not_records: list[Any] = [SECRET, wrong, [SECRET]]
    for records in not_records:
        value = fetched(12)
        value.responses[0].partitions[0].records = records
        with pytest.raises(EncodeError, match="expected bytes or None") as caught:
            value.encode(12)
        assert hides(caught.value)
    c = codec(FetchResponse, 12)
    obj = c.to_json(fetched(12))
    for records in [SECRET + "!", wrong]:
        obj["responses"][0]["partitions"][0]["records"] = records
        with pytest.raises(JsonError) as refused:
            c.from_json(obj)
        assert hides(refused.value)
