"""The login of the proxy itself at a broker, before a client's requests are passed to it."""

from __future__ import annotations

import asyncio

from kafka_admin_proto.errors import KafkaAdminProtoError
from kafka_admin_proto.protocol.connection.client import ClientConnection
from kafka_admin_proto.protocol.connection.events import (
    NEED_DATA,
    ConnectionClosed,
    ProofNeeded,
    Ready,
)
from kafka_admin_proto.protocol.connection.limits import Limits
from kafka_admin_proto.protocol.connection.sasl_client import Sasl


class BrokerLogin(asyncio.Protocol):
    """The asyncio protocol of a connection until ``done``; OSError or SaslError where that fails.

    Its transport gets another protocol then: a broker says nothing that it is not asked for.
    """

    def __init__(self, sasl: Sasl, limits: Limits) -> None:
        self._connection = ClientConnection(sasl=sasl, defer_proofs=True, limits=limits)
        self._transport: asyncio.Transport | None = None
        self._proof: asyncio.Future[bytes] | None = None
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.write(self._connection.start())

    def data_received(self, data: bytes) -> None:
        self._go_on(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._fail(OSError("the broker closed the connection during the login"))

    def _go_on(self, data: bytes = b"") -> None:
        try:
            if data:
                self._connection.receive_data(data)
            while (event := self._connection.next_event()) is not NEED_DATA:
                if isinstance(event, Ready):
                    if not self.done.done():
                        self.done.set_result(None)
                    return
                if isinstance(event, ConnectionClosed):
                    return
                if isinstance(event, ProofNeeded):  # it takes a while to compute
                    loop = asyncio.get_running_loop()
                    self._proof = loop.run_in_executor(None, event.compute)
                    self._proof.add_done_callback(self._prove)
                    break
        except KafkaAdminProtoError as error:
            self._fail(error)
        assert self._transport is not None
        self._transport.write(self._connection.data_to_send())

    def _prove(self, proof: asyncio.Future[bytes]) -> None:
        error = None if proof.cancelled() else proof.exception()
        if error is not None:
            self._fail(error)
        if proof.cancelled() or self.done.done():
            return
        assert self._transport is not None
        self._transport.write(self._connection.send_proof(proof.result()))
        self._go_on()

    def _fail(self, error: BaseException) -> None:
        if not self.done.done():
            self.done.set_exception(error)
