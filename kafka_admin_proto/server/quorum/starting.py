"""The state of a new controller whose brokers are processes of their own."""

from __future__ import annotations

from collections.abc import Mapping

from kafka_admin_proto.server.apis import CONTROLLERS
from kafka_admin_proto.server.brokers.registration import (
    Registration,
    controller_record,
    first_records,
)
from kafka_admin_proto.server.clock import Clock
from kafka_admin_proto.server.quorum.metadata_log import MetadataLog
from kafka_admin_proto.server.releases import ReleaseNumber
from kafka_admin_proto.server.state import State


def new_controller(
    release: ReleaseNumber,
    cluster_id: str,
    static: Mapping[str, str],
    node: Registration,
    clock: Clock,
) -> State:
    """The state, whose log begins with the controller's epoch, the features and its registration.

    ``static`` are the configs of its properties file.
    """
    log = MetadataLog(node.id, clock)
    state = State(release, cluster_id, {node.id: static}, None, log)
    state.metadata_log, state.clock, state.rules = log, clock, CONTROLLERS
    state.pass_offset()
    state.append(first_records(release))
    state.append([controller_record(state, node)])
    return state
