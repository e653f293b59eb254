"""A client without operations: it takes its settings as arguments and sends any request.

A command that needs one family of operations adds that one and loads no other::

    class TopicClient(DescribeTopics, BaseClient): ...
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self

from kafka_admin_proto.admin.caller import Target
from kafka_admin_proto.admin.network.tracing import Trace
from kafka_admin_proto.admin.session.session import Session
from kafka_admin_proto.admin.settings.config import client_config
from kafka_admin_proto.schema.versions import VersionRange
from kafka_admin_proto.values import Message

if TYPE_CHECKING:
    from kafka_admin_proto.admin.drafts import Dialect


class BaseClient(Session):
    """A session whose settings are arguments.

    ``command_config`` is a properties file of Kafka's tools, or such a mapping; arguments go before
    it. With ``sasl_delegation_token`` ``sasl_username`` and ``sasl_password`` are the id of a token
    and its HMAC in base64 (KIP-48). ``sasl_oauth_token_provider`` is a function that returns a
    token of OAUTHBEARER, or an object with such a method ``token``; it is called in a thread,
    before each login. Times are in seconds, ``timeout`` for all attempts of one call.
    ``max_release``, as "3.9", is the release of Kafka whose versions of requests are the newest to
    send. ``trace`` is called with each request and response as they pass. With the ``dialect`` of
    a draft of KIP-4 the client sends that draft's messages where it has them (docs/drafts.md).
    Raises ConfigurationError.
    """

    def __new__(cls, *arguments: object, dialect: Dialect = "kafka", **settings: object) -> Self:
        kind: type[Self] = cls
        if dialect != "kafka":
            from kafka_admin_proto.admin.drafts import client_class  # for drafts only

            kind = client_class(cls, dialect)
        return super().__new__(kind)

    def __init__(
        self,
        bootstrap_servers: str | Sequence[str] | None = None,
        *,
        bootstrap_controllers: str | Sequence[str] | None = None,
        command_config: str | Path | Mapping[str, str] | None = None,
        security_protocol: str | None = None,
        sasl_mechanism: str | None = None,
        sasl_username: str | None = None,
        sasl_password: str | None = None,
        sasl_delegation_token: bool | None = None,
        sasl_oauth_token_provider: object = None,
        ssl_context: ssl.SSLContext | None = None,
        client_id: str | None = None,
        timeout: float | None = None,
        request_timeout: float | None = None,
        connect_timeout: float | None = None,
        max_release: str | None = None,
        trace: Trace | None = None,
        dialect: Dialect = "kafka",
    ) -> None:
        config = client_config(
            bootstrap_servers,
            bootstrap_controllers=bootstrap_controllers,
            command_config=command_config,
            security_protocol=security_protocol,
            sasl_mechanism=sasl_mechanism,
            sasl_username=sasl_username,
            sasl_password=sasl_password,
            sasl_delegation_token=sasl_delegation_token,
            sasl_oauth_token_provider=sasl_oauth_token_provider,
            ssl_context=ssl_context,
            client_id=client_id,
            timeout=timeout,
            request_timeout=request_timeout,
            connect_timeout=connect_timeout,
            max_release=max_release,
        )
        super().__init__(config, trace=trace)
        self.dialect = dialect

    async def send(
        self,
        message: Message,
        *,
        broker: int | Target = Target.ANY,
        version: int | None = None,
        timeout: float | None = None,
    ) -> Message:
        """The response to any request, at ``version`` or else the highest that both sides have.

        It is sent again only if it surely was not sent. Error codes in the response are left to the
        caller. Raises as ``call`` does.
        """
        wanted = None if version is None else VersionRange(version, version)
        reply = await self.call(
            message, Message, to=broker, timeout=timeout, repeatable=False, versions=wanted
        )
        return reply.body
