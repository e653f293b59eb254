"""Captures, logs and segments that the tests of the pipeline read."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kafka_admin_proto import (
    AlterConfigsRequest,
    AlterUserScramCredentialsRequest,
    BeginQuorumEpochRequest,
    FetchRequest,
    FetchResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
    StopReplicaRequest,
    VoteRequest,
    VoteResponse,
)
from kafka_admin_proto.messages import alter_configs_request as old_configs
from kafka_admin_proto.messages import begin_quorum_epoch_request as begin
from kafka_admin_proto.messages import incremental_alter_configs_request as configs
from kafka_admin_proto.messages import vote_request as vote
from kafka_admin_proto.messages import vote_response as voted
from kafka_admin_proto.messages.alter_user_scram_credentials_request import ScramCredentialUpsertion
from kafka_admin_proto.messages.fetch_response import FetchableTopicResponse, PartitionData
from kafka_admin_proto.messages.stop_replica_request import (
    StopReplicaPartitionState,
    StopReplicaTopicState,
)
from kafka_admin_proto.records.metadata.records import METADATA_TOPIC
from kafka_admin_proto.topic_ids import METADATA_TOPIC_ID
from tests.capture.packets import Packet, conversation, pcap
from tests.capture.test_captures import SECRET, USUAL, Turn, answers, asks
from tests.capture.test_record_rows import SECRET as RECORD_SECRET
from tests.capture.test_record_rows import TEXT, metadata_batch

SAMPLES = Path(__file__).parents[2] / "samples"
ADMIN, CONTROLLER = SAMPLES / "admin42.pcap.gz", SAMPLES / "controller39.pcap.gz"
LOG = Path(__file__).parents[1] / "records" / "data" / "__cluster_metadata-0"
#: 23:59:59.999 UTC, so that requests and responses are on two days.
MIDNIGHT = 1_700_006_399_999_000
DAY = ("2023-11-14", "2023-11-15")
SECRETS = (SECRET, RECORD_SECRET, TEXT.encode(), b"jaas-pass-77")


def secret_turns() -> list[Turn]:
    """Every place in which a credential travels."""
    jaas = "org.apache.kafka.Login required password='jaas-pass-77';"
    upsertion = ScramCredentialUpsertion(
        name="ann", mechanism=1, iterations=4096, salt=SECRET, salted_password=SECRET
    )
    entry = configs.AlterableConfig(name="sasl.jaas.config", value=jaas)
    retention = configs.AlterableConfig(name="retention.ms", value="5")
    resource = configs.AlterConfigsResource(
        resource_type=2, resource_name="apples", configs=[entry, retention]
    )
    old = old_configs.AlterConfigsResource(
        resource_type=2, resource_name="apples",
        configs=[old_configs.AlterableConfig(name="ssl.key.password", value="jaas-pass-77")],
    )  # fmt: skip
    records = PartitionData(records=metadata_batch())
    of_log = FetchableTopicResponse(topic_id=METADATA_TOPIC_ID, partitions=[records])
    return [
        asks(SaslHandshakeRequest(mechanism="PLAIN"), 1, 1),
        answers(SaslHandshakeResponse(mechanisms=["PLAIN"]), 1, 1),
        asks(SaslAuthenticateRequest(auth_bytes=b"\0alice\0" + SECRET), 2, 2),
        answers(SaslAuthenticateResponse(auth_bytes=SECRET), 2, 2),
        asks(AlterUserScramCredentialsRequest(upsertions=[upsertion]), 0, 3),
        asks(IncrementalAlterConfigsRequest(resources=[resource]), 1, 4),
        answers(IncrementalAlterConfigsResponse(), 1, 4),
        asks(AlterConfigsRequest(resources=[old]), 2, 5),
        asks(FetchRequest(), 13, 6),
        answers(FetchResponse(responses=[of_log]), 13, 6),
    ]


def quorum_turns() -> list[Turn]:
    asked = vote.PartitionData(partition_index=0, replica_epoch=5, replica_id=2)
    told = voted.PartitionData(partition_index=0, leader_id=-1, leader_epoch=4, vote_granted=True)
    new = begin.PartitionData(partition_index=0, leader_id=2, leader_epoch=5)
    gone = StopReplicaPartitionState(partition_index=3, leader_epoch=9, delete_partition=True)
    return [
        asks(VoteRequest(topics=[vote.TopicData(METADATA_TOPIC, [asked])]), 2, 1),
        answers(VoteResponse(topics=[voted.TopicData(METADATA_TOPIC, [told])]), 2, 1),
        asks(BeginQuorumEpochRequest(topics=[begin.TopicData(METADATA_TOPIC, [new])]), 1, 2),
        asks(StopReplicaRequest(
            controller_id=1, controller_epoch=7,
            topic_states=[StopReplicaTopicState(topic_name="apples", partition_states=[gone])],
        ), 4, 3),
    ]  # fmt: skip


def mixed() -> list[list[Packet]]:
    """Packets of several connections in two files of one capture, around midnight.

    What the second connection of a pair of endpoints leaves, long after its end, comes with later
    packets; a third one begins in the middle of a frame, and has a hole.
    """
    start = MIDNIGHT - 500
    usual = conversation(USUAL, ts=start)
    twice = conversation(USUAL, ts=start + 20_000_000, starts=(5, 6))
    secret = conversation(secret_turns(), client=("10.0.0.3", 4000), ts=start + 50)
    broken = conversation(secret_turns(), client=("10.0.0.4", 4000), ts=start + 60, size=40)
    broken = [each for number, each in enumerate(broken) if number not in (9, 15)]
    middle = conversation(USUAL, client=("10.0.0.5", 1), handshake=False, ts=start + 70)[3:]
    early = conversation(USUAL[8:], client=("10.0.0.6", 1), ts=start - 10_000)
    quorum = conversation(quorum_turns(), client=("10.0.0.7", 1), ts=start - 150)
    foreign = conversation([(True, b"GET / HTTP/1.1\r\n\r\n")], client=("10.0.0.8", 1), ts=start)
    packets = [*usual, *twice, *secret, *broken, *middle, *early, *quorum, *foreign]
    packets.sort(key=lambda packet: packet.ts)
    half = len(packets) // 2
    return [packets[:half], packets[half:]]


def write_mixed(folder: Path) -> list[Path]:
    """``mixed`` and the samples, in files whose names are in another order than their packets."""
    folder.mkdir()
    names = [folder / "b.pcap", folder / "a.pcap.gz", folder / "samples.pcap"]
    first, second = (pcap(packets) for packets in mixed())
    names[0].write_bytes(first)
    names[1].write_bytes(gzip.compress(second))
    names[2].write_bytes(gzip.decompress(ADMIN.read_bytes()))
    (folder / "controller.pcap.gz").write_bytes(CONTROLLER.read_bytes())
    return [*names, folder / "controller.pcap.gz"]


def hidden_in(text: str, secrets: Sequence[bytes] = SECRETS) -> list[Any]:
    """The secrets that a text shows: plainly, in hex, or in base64 at any of three positions."""
    from base64 import b64encode

    found = []
    for secret in secrets:
        shown = [secret.hex()]
        if secret.isascii():
            shown.append(secret.decode())
        for shift in range(3):
            whole = b64encode(bytes(shift) + secret).decode()
            shown.append(whole[4 if shift else 0 : len(whole) // 4 * 4 - 4])
        found += [each for each in shown if each in text]
    return found
