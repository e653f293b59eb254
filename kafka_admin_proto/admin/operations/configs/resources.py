"""Resources that have configs, and the broker to ask about each."""

from __future__ import annotations

from typing import Literal

import msgspec

from kafka_admin_proto.admin.caller import Target
from kafka_admin_proto.admin.errors import InstructionError
from kafka_admin_proto.arguments import check_fields

ResourceType = Literal["topic", "broker", "broker_logger", "client_metrics", "group"]

#: On the wire.
_NUMBERS: dict[ResourceType, int] = {
    "topic": 2, "broker": 4, "broker_logger": 8, "client_metrics": 16, "group": 32,
}  # fmt: skip
_TYPES = {number: name for name, number in _NUMBERS.items()}


class ConfigResource(msgspec.Struct, frozen=True):
    """A resource with configs. A broker without a name stands for the default of all brokers.

    Brokers and their loggers are named by the broker's id as text.
    """

    type: ResourceType
    name: str = ""

    def __post_init__(self) -> None:
        check_fields(self, "ConfigResource")
        if self.type not in _NUMBERS:
            raise InstructionError(f"{self.type!r} has no configs; there are {', '.join(_NUMBERS)}")
        if self.type in ("broker", "broker_logger") and self.name and not _is_id(self.name):
            raise InstructionError(
                f"{self.type} {self.name[:40]!r} is no broker: give its id as text"
            )

    @property
    def number(self) -> int:
        """The type on the wire."""
        return _NUMBERS[self.type]


def resource_of(number: int, name: str) -> ConfigResource | None:
    """The resource that an answer is about; None for a type of a newer Kafka's.

    None also for a broker whose name is no id: no request was about that.
    """
    found = _TYPES.get(number)
    try:
        return None if found is None else ConfigResource(found, name)
    except ValueError:
        return None


def type_number(name: ResourceType) -> int:
    """The type on the wire; raises InstructionError for what has no configs."""
    return ConfigResource(name).number


def route(resource: ConfigResource, otherwise: Target) -> int | Target:
    """The broker to ask: its own configs and loggers are known to that broker alone."""
    if resource.type in ("broker", "broker_logger") and resource.name:
        return int(resource.name)
    return otherwise


def _is_id(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 11 and int(text) < 1 << 31
