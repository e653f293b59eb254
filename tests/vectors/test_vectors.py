"""Golden bytes written by Kafka's own classes (made by make_vectors.py)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kafka_admin_proto import TrailingBytesError, codec
from kafka_admin_proto.capture import FrameDecoder, read_blocks
from kafka_admin_proto.capture.record import frame_record

HERE = Path(__file__).parent
VECTORS: list[dict[str, Any]] = json.loads((HERE / "messages.json").read_text("utf-8"))
SAMPLE = HERE.parents[1] / "samples" / "create_topics.hex"


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: f"{v['message']}-v{v['version']}")
def test_bytes_and_json_are_those_of_java(vector: dict[str, Any]) -> None:
    found = codec(vector["message"], vector["version"])
    wire = bytes.fromhex(vector["wire"])
    value = found.decode(wire, strict=True)
    assert found.encode(value) == wire
    assert found.from_json(vector["json"]) == value  # accepts the names of older releases too
    assert _older_names(found.to_json(value)) == _older_names(vector["json"])
    with pytest.raises(TrailingBytesError) as caught:
        found.decode(wire + b"\xff")
    assert caught.value.value == value


def test_all_five_messages_of_the_mission_have_vectors() -> None:
    assert {
        ("CreateTopicsRequest", 0),
        ("CreateTopicsRequest", 1),
        ("VoteRequest", 0),
        ("BeginQuorumEpochRequest", 0),
        ("UpdateMetadataRequest", 7),
    } <= {(vector["message"], vector["version"]) for vector in VECTORS}


def test_the_sample_dump_decodes_as_java_reads_it() -> None:
    golden = json.loads((HERE / "create_topics.json").read_text("utf-8"))
    decoder = FrameDecoder()
    frames = [
        frame for block in read_blocks(SAMPLE.read_bytes()) for frame in decoder.decode(block)
    ]
    assert len(frames) == len(golden) == 18
    for frame, java in zip(frames, golden, strict=True):
        assert frame.problem is None
        assert frame.codec is not None
        assert (frame.codec.name, frame.api_version) == (java["message"], java["version"])
        assert frame_record(frame)["body"] == java["json"]
        assert frame.correlation_id == java["header"]["correlationId"]
        assert frame.client_id == java["header"].get("clientId")
        assert frame.body is not None
        assert frame.codec.encode(frame.body) == frame.data[frame.body_offset :]


def _older_names(obj: Any) -> Any:
    """VoteRequest's fields had other names before 4.1: one spelling for the comparison."""
    if isinstance(obj, list):
        return [_older_names(item) for item in obj]
    if isinstance(obj, dict):
        return {k.replace("candidate", "replica"): _older_names(v) for k, v in obj.items()}
    return obj
