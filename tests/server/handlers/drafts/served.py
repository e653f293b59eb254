"""A cluster of three that serves a draft, asked through the draft's codecs without a socket."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafka_admin_proto.messages.fence_broker_record import FenceBrokerRecord
from kafka_admin_proto.protocol.error_codes import error_name
from kafka_admin_proto.protocol.versions import supported
from kafka_admin_proto.server.brokers.replicas import catch_up
from kafka_admin_proto.server.brokers.view import TOPIC_RESOURCE
from kafka_admin_proto.values import Message
from tests.server.served import Served


class ServedDraft(Served):
    """Time passes when a test says so: ``pass_time`` ends what the cluster was asked to begin."""

    def __init__(self, dialect: str) -> None:
        super().__init__()
        self.dialect = dialect
        self.state.rules = dialect
        self._waiting: list[Callable[[], None]] = []
        self.state.later = lambda delay_s, function: self._waiting.append(function)

    def ask(
        self,
        request: Message,
        version: int | None = None,
        node: int = 1,
        principal: str = "User:ANONYMOUS",
        host: str = "127.0.0.1",
    ) -> Any:
        if request.dialect != "kafka":
            version = supported(request.message_name, dialect=request.dialect).highest
        return super().ask(request, version, node, principal, host)

    def pass_time(self) -> None:
        waiting, self._waiting = self._waiting, []
        for each in waiting:
            each()
        catch_up(self.state)

    def fence(self, broker: int) -> None:
        self.state.append([FenceBrokerRecord(broker, self.state.cluster.brokers[broker].epoch)])

    def codes(self, request: Message) -> dict[str, str | int]:
        """What became of each topic: the error's name, 0 without one."""
        found = {}
        for each in self.ask(request).items:
            name = each.topic if hasattr(each, "topic") else each.topic_name
            assert name not in found  # the response is a map
            code = each.error_code
            found[name] = error_name(code, dialect=self.dialect) or code if code else 0
        return found

    def replicas(self, name: str) -> list[list[int]]:
        """The replicas of each partition, in order."""
        topic = self.state.topic(name)
        assert topic is not None
        return [each.replicas for _, each in sorted(topic.partitions.items())]

    def configs(self, name: str) -> dict[str, str | None]:
        return dict(self.state.configs(TOPIC_RESOURCE, name))

    @property
    def topics(self) -> set[str]:
        return set(self.state.topic_names)
