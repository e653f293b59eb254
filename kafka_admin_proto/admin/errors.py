"""What can go wrong between a client and a cluster.

The tree is drawn in `kafka_admin_proto.errors`. Each message says what failed and what to do.

Names of Kafka's own errors (TOPIC_ALREADY_EXISTS) appear in BrokerError and in results only:
errors of the client never carry a name of the server's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kafka_admin_proto.errors import KafkaAdminProtoError
from kafka_admin_proto.protocol.error_codes import find_error


class AdminError(KafkaAdminProtoError):
    """The base of the admin client's errors; each message ends with what to do."""


class ConfigurationError(AdminError, ValueError):
    """A setting, a property or a combination of them that cannot work."""


class InstructionError(AdminError, ValueError):
    """Instructions of the caller that cannot be carried out; nothing was sent for them.

    They contradict each other, name what there is not, or no request can carry them.
    """


class ConnectionFailedError(AdminError):
    """No connection to a broker. ``address`` is host:port, as it was used."""

    def __init__(self, message: str, *, address: str = "") -> None:
        super().__init__(message, address)
        self.address = address

    def __str__(self) -> str:
        return str(self.args[0])


class ConnectionLostError(ConnectionFailedError):
    """An open connection ended. ``may_have_acted`` says whether the request had been sent."""

    def __init__(self, message: str, *, address: str = "", may_have_acted: bool = False) -> None:
        super().__init__(message, address=address)
        self.may_have_acted = may_have_acted


class NoSuchBrokerError(ConnectionFailedError):
    """The cluster has no broker of that id, or an address is not that of a broker."""


class UnresolvedError(ConnectionFailedError):
    """The host of an address is known neither to the DNS nor to the hosts file."""


class TlsError(ConnectionFailedError):
    """The TLS handshake failed."""


class AuthenticationError(ConnectionFailedError):
    """The broker refused the credentials, or has none of the mechanisms."""


class RequestTimedOutError(AdminError, TimeoutError):
    """The timeout is over. ``may_have_acted`` says whether the cluster may still do the work."""

    def __init__(self, message: str, *, may_have_acted: bool = False) -> None:
        super().__init__(message, may_have_acted)
        self.may_have_acted = may_have_acted

    def __str__(self) -> str:
        return str(self.args[0])


class ItemsFailedError(AdminError):
    """Results that ``raise_for_errors`` was given have errors; ``failed`` are those results."""

    def __init__(self, message: str, *, failed: Sequence[Any] = ()) -> None:
        super().__init__(message, failed)
        self.failed = failed

    def __str__(self) -> str:
        return str(self.args[0])


class BrokerError(AdminError):
    """An error code that a broker answered with; ``error`` is Kafka's name of it.

    ``about`` is the one thing that it is about, as {"topic": "orders", "partition": 3}, and
    ``context`` the same in words; without such a thing ``context`` is what was asked.
    """

    def __init__(
        self,
        code: int,
        message: str | None = None,
        *,
        context: str = "",
        about: Mapping[str, str | int] | None = None,
    ) -> None:
        super().__init__(code, message, context, about)
        found = find_error(code)
        self.code = code
        self.error: str = str(code) if found is None else found.name
        self.message: str = message or ("" if found is None else found.meaning)
        self.about: dict[str, str | int] = dict(about or {})
        self.context: str = context or " ".join(f"{k} {v!r}" for k, v in self.about.items())

    @property
    def retriable(self) -> bool:
        """Whether Kafka says that the same request may succeed later."""
        found = find_error(self.code)
        return found is not None and bool(found.retriable)

    def __str__(self) -> str:
        where = f"{self.context}: " if self.context else ""
        return f"{where}{self.error}{': ' + self.message if self.message else ''}"
