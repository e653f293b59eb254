"""A broker's process: the broker, its registration, and the controller when it is elected."""

from __future__ import annotations

from functools import partial
from typing import Any, Protocol

from kafka_admin_proto.messages import CreateTopicsRequest, DeleteTopicsRequest
from kafka_admin_proto.messages.create_topics_response import (
    CreatableTopicResult,
    CreateTopicsResponse,
)
from kafka_admin_proto.messages.delete_topics_response import (
    DeletableTopicResult,
    DeleteTopicsResponse,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.simulation.controller.cluster import (
    BROKERS_PATH,
    CONTROLLER_EPOCH_PATH,
    CONTROLLER_PATH,
    ClusterConfig,
)
from kafka_admin_proto.simulation.controller.controller import Controller, controller_data
from kafka_admin_proto.simulation.node import ConnectionRefused, Node, NodeContext, Request
from kafka_admin_proto.simulation.world.store import NodeExistsError, Session, Store, StoreError
from kafka_admin_proto.topic_ids import ZERO_TOPIC_ID
from kafka_admin_proto.values import Message

#: How long a broker waits before it registers again where its last life is still registered.
REGISTER_AGAIN_MS = 100
_NOT_REGISTERED = -1


class BrokerNode(Node, Protocol):
    """The broker inside the process; ``broker_epoch`` is that of its registration."""

    broker_epoch: int


class BrokerProcess:
    """The node that the world runs for a broker id."""

    def __init__(
        self, context: NodeContext, store: Store, config: ClusterConfig, broker: BrokerNode
    ) -> None:
        self.broker: BrokerNode = broker
        self.controller: Controller | None = None
        self._context = context
        self._store = store
        self._config = config
        self._session: Session | None = None

    def start(self) -> None:
        """Load the disk, then register: requests of controllers are taken from then on."""
        self.broker.broker_epoch = _NOT_REGISTERED
        self.broker.start()
        self._open_session()

    def handle(self, request: Request) -> Message | None:
        """Pass requests about topics to the controller, all others to the broker."""
        if self.broker.broker_epoch == _NOT_REGISTERED:
            raise ConnectionRefused
        if isinstance(request.body, CreateTopicsRequest):
            return self._create(request.body)
        if isinstance(request.body, DeleteTopicsRequest):
            return self._delete(request, request.body)
        return self.broker.handle(request)

    def state(self) -> dict[str, Any]:
        """The broker's state, and the controller's where this is it."""
        state = dict(self.broker.state())
        if self.controller is not None:
            state["controller"] = self.controller.state()
        return state

    def resign(self) -> None:
        """Resign as controller, so that the processes elect another."""
        if self.controller is not None and self._session is not None:
            self.controller.resign()
            if not self._session.expired:
                self._session.delete(CONTROLLER_PATH)

    def _open_session(self) -> None:
        self._session = self._store.open_session(self._context.node_id, self._session_ended)
        self._register()

    def _session_ended(self) -> None:
        if self.controller is not None:
            self.controller.resign()
        self._open_session()

    def _register(self) -> None:
        session = self._session
        if session is None or session.expired:
            return
        path = f"{BROKERS_PATH}/{self._context.node_id}"
        try:
            self.broker.broker_epoch = session.create(path, b"{}", ephemeral=True)
        except NodeExistsError:
            self._context.call_later(REGISTER_AGAIN_MS, self._register)
            return
        session.watch(CONTROLLER_PATH, lambda path: self._elect())
        self._elect()

    def _elect(self) -> None:
        """Become controller if there is none: create ``/controller``, and take the next epoch."""
        session = self._session
        if session is None or session.expired or self.controller is not None:
            return
        data = controller_data(self._context.node_id, self._context.now_ms)
        try:
            session.create(CONTROLLER_PATH, data, ephemeral=True)
        except StoreError:
            return
        znode = session.get(CONTROLLER_EPOCH_PATH)
        if znode is None:
            epoch, version = 1, 0
            session.create(CONTROLLER_EPOCH_PATH, b"1")
        else:
            epoch = int(znode[0]) + 1
            version = session.set(CONTROLLER_EPOCH_PATH, b"%d" % epoch, version=znode[1])
        self.controller = Controller(
            self._context, session, self._config, epoch, version, self._resigned
        )
        self.controller.start()

    def _resigned(self) -> None:
        self.controller = None

    def _create(self, body: CreateTopicsRequest) -> Message:
        results = []
        for topic in body.topics:
            error, made = codes.NOT_CONTROLLER, None
            if self.controller is not None:
                rows = {each.partition_index: list(each.broker_ids) for each in topic.assignments}
                error, made = self.controller.create_topic(
                    topic.name, rows or None, topic.num_partitions, topic.replication_factor
                )
            topic_id = (made.topic_id if made else None) or ZERO_TOPIC_ID
            results.append(
                CreatableTopicResult(
                    name=topic.name, topic_id=topic_id, error_code=error, error_message=None
                )
            )
        return CreateTopicsResponse(topics=results)

    def _delete(self, request: Request, body: DeleteTopicsRequest) -> Message | None:
        wanted = [(each.name, each.topic_id) for each in body.topics]
        results: dict[int, DeletableTopicResult] = {}

        def answer(number: int, error: int) -> None:
            name, topic_id = wanted[number]
            results[number] = DeletableTopicResult(name=name, topic_id=topic_id, error_code=error)
            if len(results) == len(wanted):
                rows = [results[each] for each in range(len(wanted))]
                self._context.respond(request, DeleteTopicsResponse(responses=rows))

        for number, (name, topic_id) in enumerate(wanted):
            if self.controller is None:
                answer(number, codes.NOT_CONTROLLER)
            else:
                answered = partial(answer, number)
                self.controller.delete_topic(name, topic_id, body.timeout_ms, answered)
        return None
