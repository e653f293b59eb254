"""The names and security protocols of listeners, and the configs of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kafka_admin_proto.errors import SettingsError
from kafka_admin_proto.server.configs.definitions import definitions
from kafka_admin_proto.server.configs.values import ConfigFailure, check, parse
from kafka_admin_proto.server.network.node import SECURITY_PROTOCOLS

if TYPE_CHECKING:
    from typing import Any

#: The SASL mechanisms of a listener by default.
MECHANISMS = "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512"
_RESERVED = "CONTROLLER"


def checked_listeners(listeners: Mapping[str, str]) -> dict[str, str]:
    """Security protocols by listener, in capitals. Raises SettingsError for an unknown one."""
    found: dict[str, str] = {}
    for name, protocol in listeners.items():
        key = name.upper()
        if not key or key == _RESERVED or key in found:
            raise SettingsError(
                f"the listener {name!r} cannot be had: names differ, are not empty, and "
                f"{_RESERVED} is the controllers' own"
            )
        if protocol.upper() not in SECURITY_PROTOCOLS:
            raise SettingsError(
                f"the listener {name} has the security protocol {protocol!r}; expected one of "
                f"{', '.join(SECURITY_PROTOCOLS)}"
            )
        found[key] = protocol.upper()
    if not found:
        raise SettingsError("a cluster has one listener or more, NAME:PROTOCOL each")
    return found


class ListenerConfigs:
    """The configs of a listener; ``listener.name.<name>.…`` take precedence."""

    def __init__(self, name: str, configs: Mapping[str, str], release: str) -> None:
        prefix = f"listener.name.{name.lower()}."
        self.own: dict[str, str] = {
            key.removeprefix(prefix): value
            for key, value in configs.items()
            if key.startswith(prefix)
        }
        self.texts: Mapping[str, str] = {**configs, **self.own}
        self._release = release

    def value(self, name: str) -> Any:
        """The value of a config. Raises SettingsError for a text that Kafka refuses."""
        config = definitions(self._release).in_properties[name]
        try:
            value = parse(config, self.texts.get(name, config.default), self._release)
            check(config, value)
        except ConfigFailure as error:
            raise SettingsError(str(error.message)) from None
        return value
