"""The addresses that clients get of listeners, where these are not those of the sockets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import SettingsError
from kafka_admin_proto.protocol.addresses import (
    HIGHEST_PORT,
    Address,
    is_host,
    is_unspecified,
    parse_addresses,
    without_brackets,
)

_LISTENERS = "advertised_listeners"


def advertised_host(host: str, given: str | None) -> str:
    """The host in the addresses that clients get: the given one, or that of the sockets."""
    return without_brackets(host if given is None else given)


def advertised_addresses(
    given: Mapping[str, str | Sequence[str]], listeners: Iterable[str], brokers: int
) -> dict[str, list[Address]]:
    """The addresses of every node, in their order, by listener.

    One address of several nodes is that of the first, and the others have the next ports. Raises
    SettingsError, which names the listener, for what cannot be an address of the cluster's.
    """
    by_listener: dict[str, list[Address]] = {}
    there = list(listeners)
    for name, text in given.items():
        place = f"{_LISTENERS}[{name!r}]"
        if name.upper() not in there:
            raise SettingsError(f"{place} is of no listener; there are {', '.join(there)}")
        if name.upper() in by_listener:
            raise SettingsError(f"{place}: the listener has addresses already; leave these out")
        try:
            texts = text.split(",") if isinstance(text, str) else text
            addresses = [address for each in texts for address in parse_addresses(each)]
        except SettingsError as error:
            raise SettingsError(f"{place}: {error}") from None
        if len(addresses) == 1:
            host, port = addresses[0].host, addresses[0].port
            addresses = [Address(host, port + index) for index in range(brokers)]
        if len(addresses) != brokers or addresses[-1].port > HIGHEST_PORT:
            raise SettingsError(
                f"{place} has {counted(len(addresses), 'addresses')} for "
                f"{counted(brokers, 'brokers')}, with ports up to {HIGHEST_PORT}; give one for "
                "each, or that of the first, whose port the others count on from"
            )
        for each in addresses:
            if not is_host(each.host):
                raise SettingsError(
                    f"{place}: {each.host!r} is no host; expected a name or an IP address"
                )
            check_reachable(each.host)
        by_listener[name.upper()] = addresses
    return by_listener


def check_reachable(host: str) -> None:
    """Raise SettingsError for an address to listen on that no client can connect to."""
    if is_unspecified(host):
        raise SettingsError(
            f"clients cannot connect to {host}, which is all addresses of this machine; give "
            "the name or address by which they know it, as advertised_host or in "
            "advertised_listeners"
        )
