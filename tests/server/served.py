"""A cluster in this process, asked one request at a time through its codecs, without a socket."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID, uuid4

from kafka_admin_proto import codec
from kafka_admin_proto.server.apis import Caller, served_apis
from kafka_admin_proto.server.brokers.registration import Registration, first_records, register
from kafka_admin_proto.server.network.node import Listener
from kafka_admin_proto.server.releases import ReleaseNumber
from kafka_admin_proto.server.respond import respond
from kafka_admin_proto.server.state import Log, State
from kafka_admin_proto.values import Message
from tests.server.differential.requests.drawing import Ids, Step
from tests.server.still_clock import StillClock


class Served:
    """``ask`` answers as a node of a cluster of three would; ``configs`` are those of each."""

    def __init__(
        self,
        release: str = "4.4",
        nodes: int = 3,
        log: Log | None = None,
        configs: Mapping[str, str] | None = None,
    ) -> None:
        static = {each: {"node.id": str(each), **(configs or {})} for each in range(1, nodes + 1)}
        number = ReleaseNumber.parse(release)
        self.state = State(number, "b25lIG9mIGEga2luZA", static, log=log)
        self.state.clock = StillClock()
        self.state.append(first_records(number))
        register(
            self.state,
            [
                Registration(each, [Listener("PLAINTEXT", "h", "h", 9000 + each)], None, uuid4())
                for each in static
            ],
        )
        self.versions = {each.api_key: each.versions for each in served_apis(number)}

    def ask(
        self,
        request: Message,
        version: int | None = None,
        node: int = 1,
        principal: str = "User:ANONYMOUS",
        host: str = "127.0.0.1",
    ) -> Any:
        """The response as its bytes say, after its records are appended."""
        assert request.api_key is not None
        if version is None:
            version = self.versions[request.api_key].highest
        seen = codec(type(request), version)
        caller = Caller(node, version, "client", principal, host=host, may_ask_for_tokens=True)
        body = seen.decode(seen.encode(request))
        answer = respond(self.state, request.api_key, body, caller)
        self.state.append(answer.records)
        sent = codec(type(answer.response), version)
        return sent.decode(sent.encode(answer.response))


class DrawnSteps:
    """Steps of the state machine for one cluster; ``request`` is what a test does with them.

    A step without a request, which only a socket can send, is left out.
    """

    nodes = 3

    def __init__(
        self,
        release: str = "4.4",
        configs: Mapping[str, str] | None = None,
        users: Sequence[str] = (),
    ) -> None:
        self.release = release
        self.users = users
        self._configs = configs
        self.reset()
        apis = self.served.versions.items()
        self.versions: Mapping[int, tuple[int, int]] = {
            key: (each.lowest, each.highest) for key, each in apis
        }

    @property
    def existing(self) -> list[str]:
        return sorted(self.served.state.topic_names)

    def reset(self) -> None:
        self.served = Served(self.release, configs=self._configs)
        self._former: dict[str, UUID] = {}

    def take(self, step: Step) -> list[str]:
        if step.make is not None:
            topics = self.served.state.cluster.topics.values()
            current = {each.name: each.id for each in topics}
            self.request(step, step.make(Ids(current, self._former)))
            self._former |= current
        return []

    def request(self, step: Step, request: Message) -> None:
        """Ask what a step asks."""
        principal = f"User:{step.user or 'ANONYMOUS'}"
        self.served.ask(request, step.version, step.node + 1, principal)
