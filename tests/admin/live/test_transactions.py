"""Transactions and delegation tokens beside Kafka's own commands and clients."""

from __future__ import annotations

import asyncio
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from kafka_admin_proto.admin import AdminClient, BrokerError, NewTopic, TopicPartitions
from tests.admin.live.helpers.each_broker import until
from tests.admin.live.helpers.kafka_tools import KafkaTools
from tests.admin.live.helpers.secured import PASSWORDS, Secured
from tools.clusters import Cluster


@contextmanager
def open_transaction(bootstrap: str, transactional_id: str, topic: str) -> Iterator[Any]:
    """kafka-python's producer, with one record written to partition 0 in an open transaction."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from kafka import KafkaProducer

        producer = KafkaProducer(bootstrap_servers=bootstrap, transactional_id=transactional_id)
        try:
            producer.init_transactions()
            producer.begin_transaction()
            producer.send(topic, b"value", partition=0).get(timeout=30)
            yield producer
        finally:
            producer.close(timeout=0)


def test_an_open_transaction_is_seen_aborted_and_fenced(
    cluster: Cluster, kafka_tools: KafkaTools, unique: Callable[[str], str]
) -> None:
    topic, id_ = unique("transacted"), unique("transaction")
    at = ("--bootstrap-server", cluster.bootstrap)

    async def begun() -> None:
        async with AdminClient(cluster.bootstrap, timeout=40) as admin:
            await admin.create_topics([NewTopic(topic, 2, 2)])

    async def seen() -> None:
        async with AdminClient(cluster.bootstrap, timeout=40) as admin:
            listing = await admin.list_transactions(states=["Ongoing", "NoSuchState"])
            assert not listing.failed
            assert listing.unknown_states == ["NoSuchState"]
            (listed,) = [each for each in listing.transactions if each.transactional_id == id_]
            assert listed.state == "Ongoing"
            long_ones = await admin.list_transactions(min_duration_ms=3_600_000)
            assert id_ not in {each.transactional_id for each in long_ones.transactions}
            found, none = await admin.describe_transactions([id_, "no-such-id"])
            assert none.error == "TRANSACTIONAL_ID_NOT_FOUND"
            assert (found.state, found.coordinator) == ("Ongoing", listed.coordinator)
            assert found.producer_id == listed.producer_id
            assert found.partitions == [TopicPartitions(topic, [0])]
            assert found.start_time_ms is not None
            table = kafka_tools.run(
                "TransactionsCommand", *at, "describe", "--transactional-id", id_
            )
            row = table.splitlines()[-1].split()
            assert row[:4] == [
                str(found.coordinator), id_, str(found.producer_id), str(found.producer_epoch)
            ]  # fmt: skip
            wanted = [(topic, 0), (topic, 1), ("no-such-topic", 0)]
            zero, one, unknown = await admin.describe_producers(wanted)
            (producer,) = zero.producers
            assert (producer.producer_id, producer.transaction_start_offset) == (
                found.producer_id, 0
            )  # fmt: skip
            assert (one.producers, one.error) == ([], None)
            assert unknown.error == "UNKNOWN_TOPIC_OR_PARTITION"
            producers = kafka_tools.run(
                "TransactionsCommand", *at, "describe-producers", "--topic", topic, "--partition",
                "0",
            )  # fmt: skip
            assert producers.splitlines()[-1].split()[0] == str(found.producer_id)
            fenced, other = await admin.fence_producers([id_, "no-such-id-yet"])
            assert (fenced.error, other.error) == (None, None)
            assert fenced.producer_epoch is not None
            (after,) = await admin.describe_transactions([id_])
            assert (after.state, after.partitions) == ("Empty", [])
            assert after.producer_epoch == fenced.producer_epoch

    async def aborted() -> None:
        async with AdminClient(cluster.bootstrap, timeout=40) as admin:
            (before,) = await admin.describe_producers([(topic, 0)])
            starts = [each.transaction_start_offset for each in before.producers]
            (start,) = (each for each in starts if each)
            hanging = await admin.find_open_transaction(topic, 0, start)
            result = await admin.abort_transaction(hanging)
            assert result.error is None
            (after,) = await admin.describe_producers([(topic, 0)])
            assert not any(each.transaction_start_offset for each in after.producers)

    asyncio.run(begun())
    with open_transaction(cluster.bootstrap, id_, topic) as producer:
        asyncio.run(seen())
        with pytest.raises(Exception, match=r"(?i)fenced|epoch"):
            producer.commit_transaction()
    with open_transaction(cluster.bootstrap, unique("transaction"), topic):
        asyncio.run(aborted())


async def test_tokens_are_refused_where_nobody_has_logged_in(cluster: Cluster) -> None:
    async with AdminClient(cluster.bootstrap, timeout=20) as admin:
        with pytest.raises(BrokerError, match="DELEGATION_TOKEN"):
            await admin.create_delegation_token()
        with pytest.raises(BrokerError, match="DELEGATION_TOKEN"):
            await admin.describe_delegation_tokens()


async def test_tokens_beside_kafkas_own_command(
    secured: Secured, kafka_tools: KafkaTools, tmp_path: Path
) -> None:
    config = tmp_path / "admin.properties"
    config.write_text(
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
        "sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required "
        f'username="admin" password="{PASSWORDS["admin"]}";\n'
    )
    at = ("--bootstrap-server", secured.address("SASL"), "--command-config", str(config))

    # Without an owner, the command asks for no owner's tokens.
    mine = ("--owner-principal", "User:admin")

    admin = AdminClient(secured.address("SASL"), command_config=config, timeout=20)
    async with admin:
        token = await admin.create_delegation_token(
            renewers=["User:bob"], max_lifetime_ms=86_400_000
        )
        assert (token.owner, token.requester) == ("User:admin", "User:admin")
        assert token.max_ms - token.issued_ms == 86_400_000

        async def is_listed() -> bool:
            return await admin.describe_delegation_tokens(["User:admin"]) == [token]

        await until(is_listed, "the token")
        seen = kafka_tools.run("DelegationTokenCommand", *at, "--describe", *mine)
        assert re.search(rf"{re.escape(token.token_id)}\s+\S+\s+User:admin", seen)
        assert await admin.describe_delegation_tokens(["User:nobody"]) == []
        renewed = await admin.renew_delegation_token(token.hmac, period_ms=3_600_000)
        assert 0 < renewed <= token.max_ms
        other = await admin.create_delegation_token(owner="User:bob")
        assert (other.owner, other.requester) == ("User:bob", "User:admin")

        async def both_are_listed() -> bool:
            """Those that a user has asked for count as its own."""
            listed = await admin.describe_delegation_tokens(["User:admin"])
            return {each.token_id for each in listed} == {token.token_id, other.token_id}

        await until(both_are_listed, "both tokens")
        await admin.expire_delegation_token(token.hmac)
        with pytest.raises(BrokerError, match="DELEGATION_TOKEN_OWNER_MISMATCH"):
            await admin.expire_delegation_token(other.hmac)

        async def other_is_left() -> bool:
            left = await admin.describe_delegation_tokens(["User:admin"])
            return [each.token_id for each in left] == [other.token_id]

        await until(other_is_left, "one token is left")
        with pytest.raises(BrokerError, match="DELEGATION_TOKEN_NOT_FOUND"):
            await admin.renew_delegation_token(token.hmac)
