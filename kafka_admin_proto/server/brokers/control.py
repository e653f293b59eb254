"""The commands of a cluster's control socket, which stop and start its brokers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from kafka_admin_proto.control_socket import Command

if TYPE_CHECKING:
    from kafka_admin_proto.server.cluster import Cluster

#: Commands with their arguments, as the help shows them; those of faults follow.
COMMANDS = {
    "status": "what each broker does, and who is the active controller",
    "stop BROKER": "end it as SIGTERM does: what it leads moves first",
    "kill BROKER": "end it as SIGKILL does: it is missed when its session is over",
    "start BROKER": "start one that has ended, on its ports",
    "fence BROKER": "let the controller take it for lost, though it runs",
    "unfence BROKER": "let it be there again",
    "delay SECONDS [BROKER]": "let it, or all, see changes so late; 0: at once; inf: no more",
    "lag SECONDS BROKER": "let its replicas get records so late; 0: at once; inf: no more",
    "group NAME": "the members, assignment, offsets and lag of a group, as JSON",
    "rebalance NAME": "let the members of a group join again",
}


def commands_of(cluster: Cluster) -> dict[str, Command]:
    return {usage: partial(carry_out, cluster) for usage, carry_out in _CALLS.items()}


async def _status(cluster: Cluster) -> str:
    quorum = cluster.state.quorum
    states = " ".join(f"{each}={state}" for each, state in cluster.broker_states.items())
    controller = quorum.controller if quorum.available else "none"
    return f"{states} controller={controller} epoch={quorum.epoch}"


def _change(method: str, *states: str) -> Callable[[Cluster, str], Awaitable[str | None]]:
    """A command that calls a method for a broker, which has no effect in these of its states."""

    async def change(cluster: Cluster, broker: str) -> str | None:
        number = _number(broker)
        state = cluster.broker_states.get(number)
        begun = getattr(cluster, method)(number)
        if begun is not None:
            await begun
        return f"ok: broker {broker} was {state} already" if state in states else None

    return change


async def _delay(cluster: Cluster, seconds: str, broker: str | None = None) -> None:
    cluster.delay_metadata(_seconds(seconds), None if broker is None else _number(broker))


async def _lag(cluster: Cluster, seconds: str, broker: str) -> None:
    cluster.delay_replication(_seconds(seconds), _number(broker))


async def _group(cluster: Cluster, name: str) -> str:
    found = cluster.group(name)
    values = msgspec.structs.asdict(found)
    for each in ("committed", "lag"):
        values[each] = {f"{topic}-{number}": n for (topic, number), n in values[each].items()}
    return msgspec.json.encode(values).decode()


async def _rebalance(cluster: Cluster, name: str) -> None:
    cluster.rebalance(name)


_CALLS: dict[str, Callable[..., Awaitable[str | None]]] = {
    "status": _status,
    "stop BROKER": _change("stop_broker", "ended"),
    "kill BROKER": _change("kill_broker", "ended"),
    "start BROKER": _change("start_broker", "running", "fenced", "starting"),
    "fence BROKER": _change("fence_broker", "fenced"),
    "unfence BROKER": _change("unfence_broker", "running"),
    "delay SECONDS [BROKER]": _delay,
    "lag SECONDS BROKER": _lag,
    "group NAME": _group,
    "rebalance NAME": _rebalance,
}


def _seconds(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{text!r} is no number of seconds") from None


def _number(broker: str) -> int:
    if not broker.isdecimal():
        raise ValueError(f"{broker!r} is no broker's id")
    return int(broker)
