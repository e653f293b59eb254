"""Write the golden files beside this one with Kafka's own classes.

Run as ``python -m tests.vectors.make_vectors``.

``messages.json``: values of the messages the package began with. Each goes from JSON through
Java's JsonConverter into Java's object and out of it as bytes; the bytes and the JSON that Java
writes for them are kept. ``create_topics.json``: what Java reads in the frames of
``samples/create_topics.hex``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tools.oracles.oracle import JavaOracle

HERE = Path(__file__).parent
SAMPLE = HERE.parents[1] / "samples" / "create_topics.hex"
TOPIC_ID = "Rr22P56NSji_e-5OsqeU5A"
PARTITION = {
    "partitionIndex": 0, "controllerEpoch": 3, "leader": 1, "leaderEpoch": 4, "isr": [1, 2],
    "zkVersion": 5, "replicas": [1, 2, 3], "offlineReplicas": [3],
}  # fmt: skip
BROKER = {
    "id": 1,
    "endpoints": [
        {"port": 9092, "host": "b1.example", "listener": "PLAINTEXT", "securityProtocol": 0},
        {"port": 9093, "host": "b1.example", "listener": "SSL", "securityProtocol": 1},
    ],
    "rack": "r-1",
}  # fmt: skip
CREATE_TOPICS = {
    "topics": [
        {
            "name": "apples", "numPartitions": 6, "replicationFactor": 3, "assignments": [],
            "configs": [{"name": "retention.ms", "value": "3600000"},
                        {"name": "cleanup.policy", "value": None}],
        },
        {
            "name": "pears-ü", "numPartitions": -1, "replicationFactor": -1,
            "assignments": [{"partitionIndex": 0, "brokerIds": [1, 2]},
                            {"partitionIndex": 1, "brokerIds": [2, 1]}],
            "configs": [],
        },
    ],
    "timeoutMs": 30000,
}  # fmt: skip
CREATED = {"topics": [{"name": "apples", "errorCode": 0}, {"name": "pears-ü", "errorCode": 36}]}
CREATED_V1 = {
    "topics": [
        {"name": "apples", "errorCode": 0, "errorMessage": None},
        {"name": "pears-ü", "errorCode": 44, "errorMessage": "at least 3 replicas, not 2 – ask us"},
    ]
}


def voters(topic: dict[str, Any], **top: Any) -> dict[str, Any]:
    return {**top, "topics": [{"topicName": "__cluster_metadata", "partitions": [topic]}]}


CANDIDATE = {"partitionIndex": 0, "candidateEpoch": 7, "candidateId": 2}
DIRECTORIES = {"candidateDirectoryId": TOPIC_ID, "voterDirectoryId": "AAAAAAAAAAAAAAAAAAAAAQ"}
REPLICA = {
    "partitionIndex": 0, "replicaEpoch": 7, "replicaId": 2, "preVote": True,
    "replicaDirectoryId": TOPIC_ID, "voterDirectoryId": "AAAAAAAAAAAAAAAAAAAAAQ",
}  # fmt: skip
LOG_END = {"lastOffsetEpoch": 6, "lastOffset": 123456789012}
LEADER = {"partitionIndex": 0, "leaderId": 2, "leaderEpoch": 7}
ENDPOINTS = [{"name": "CONTROLLER", "host": "c2.example", "port": 9094}]

#: (release, message, version, value as Java's JSON)
VALUES: list[tuple[str, str, int, dict[str, Any]]] = [
    ("3.9.2", "CreateTopicsRequest", 0, CREATE_TOPICS),
    ("3.9.2", "CreateTopicsRequest", 0, {"topics": [], "timeoutMs": -1}),
    ("3.9.2", "CreateTopicsRequest", 1, {**CREATE_TOPICS, "validateOnly": True}),
    ("3.9.2", "CreateTopicsResponse", 0, CREATED),
    ("3.9.2", "CreateTopicsResponse", 1, CREATED_V1),
    ("3.9.2", "VoteRequest", 0, voters(CANDIDATE | LOG_END, clusterId="U2hhcmVkQ2x1c3Rlcklk")),
    ("3.9.2", "VoteRequest", 0, {"clusterId": None, "topics": []}),
    ("3.9.2", "VoteRequest", 1,
     voters(CANDIDATE | DIRECTORIES | LOG_END, clusterId=None, voterId=3)),
    ("4.4.0", "VoteRequest", 2, voters(REPLICA | LOG_END, clusterId="c", voterId=3)),
    ("3.9.2", "VoteResponse", 0,
     voters(LEADER | {"errorCode": 0, "voteGranted": True}, errorCode=0)),
    ("3.9.2", "VoteResponse", 1,
     voters(LEADER | {"errorCode": 74, "voteGranted": False}, errorCode=0,
            nodeEndpoints=[{"nodeId": 2, "host": "c2.example", "port": 9094}])),
    ("3.9.2", "BeginQuorumEpochRequest", 0, voters(LEADER, clusterId="U2hhcmVkQ2x1c3Rlcklk")),
    ("3.9.2", "BeginQuorumEpochRequest", 1,
     voters(LEADER | {"voterDirectoryId": TOPIC_ID}, clusterId=None, voterId=3,
            leaderEndpoints=ENDPOINTS)),
    ("3.9.2", "BeginQuorumEpochResponse", 0, voters(LEADER | {"errorCode": 0}, errorCode=0)),
    ("3.9.2", "BeginQuorumEpochResponse", 1,
     voters(LEADER | {"errorCode": 74}, errorCode=3,
            nodeEndpoints=[{"nodeId": 2, "host": "c2.example", "port": 65535}])),
    ("3.9.2", "EndQuorumEpochRequest", 0,
     voters(LEADER | {"preferredSuccessors": [3, 1]}, clusterId=None)),
    ("3.9.2", "EndQuorumEpochResponse", 0, voters(LEADER | {"errorCode": 0}, errorCode=0)),
    ("3.9.2", "UpdateMetadataRequest", 7,
     {"controllerId": 1, "controllerEpoch": 3, "brokerEpoch": 42,
      "topicStates": [{"topicName": "apples", "topicId": TOPIC_ID, "partitionStates": [PARTITION]},
                      {"topicName": "none", "topicId": "AAAAAAAAAAAAAAAAAAAAAA",
                       "partitionStates": []}],
      "liveBrokers": [BROKER, {"id": 2, "endpoints": [], "rack": None}]}),
    ("3.9.2", "UpdateMetadataRequest", 7,
     {"controllerId": -1, "controllerEpoch": 0, "brokerEpoch": -1, "topicStates": [],
      "liveBrokers": []}),
    ("3.9.2", "UpdateMetadataResponse", 7, {"errorCode": 11}),
]  # fmt: skip


def messages() -> list[dict[str, Any]]:
    """The golden rows of messages.json."""
    rows = []
    for release in ("3.9.2", "4.4.0"):
        with JavaOracle(release) as oracle:
            for wanted, name, version, value in VALUES:
                if wanted == release:
                    wire, obj = oracle.encode(name, version, value)
                    rows.append(_row(name, version, wire, obj, release))
    return rows


def create_topics() -> list[dict[str, Any]]:
    """The golden rows of create_topics.json: header and body of each frame, in order."""
    rows = []
    with JavaOracle("3.9.2") as oracle:
        for comment, payload in _frames(SAMPLE.read_text("ascii")):
            kind = "Request" if " request" in comment else "Response"
            version = int(comment.split(" v")[1][0])
            header = ("RequestHeader", 1) if kind == "Request" else ("ResponseHeader", 0)
            read = oracle.decode(*header, payload)
            body = payload[len(payload) - read.left :]
            name = f"CreateTopics{kind}"
            row = _row(name, version, body, oracle.decode(name, version, body).json, "3.9.2")
            rows.append({**row, "header": read.json})
    return rows


def _row(name: str, version: int, wire: bytes, obj: Any, release: str) -> dict[str, Any]:
    source = f"kafka-clients {release}"
    return {"message": name, "version": version, "wire": wire.hex(), "json": obj, "source": source}


def _frames(text: str) -> list[tuple[str, bytes]]:
    """Comment and payload of each block of an xxd dump, cut without any of our readers."""
    found = []
    for block in text.strip().split("\n\n"):
        lines = block.splitlines()
        data = bytes.fromhex("".join(line[10:49].replace(" ", "") for line in lines[1:]))
        assert int.from_bytes(data[:4], "big") == len(data) - 4
        found.append((lines[0], data[4:]))
    return found


def main() -> None:
    for name, rows in (("messages", messages()), ("create_topics", create_topics())):
        text = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
        (HERE / f"{name}.json").write_text(f"[\n{text}\n]\n", "utf-8")
        print(f"{len(rows)} vectors in {name}.json")


if __name__ == "__main__":
    main()
