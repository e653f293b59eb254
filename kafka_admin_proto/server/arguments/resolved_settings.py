"""The arguments of a cluster, and what follows from them: configs, limits, apis and logins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

from kafka_admin_proto.arguments import listed
from kafka_admin_proto.errors import SettingsError
from kafka_admin_proto.policies.loading import Policies
from kafka_admin_proto.protocol.addresses import without_brackets
from kafka_admin_proto.protocol.connection import Limits
from kafka_admin_proto.server.apis import CONTROLLERS, DIALECTS, served_apis
from kafka_admin_proto.server.arguments.advertised import (
    advertised_addresses,
    advertised_host,
    check_reachable,
)
from kafka_admin_proto.server.arguments.settings import check_settings
from kafka_admin_proto.server.brokers.registration import Registration
from kafka_admin_proto.server.configs.properties import (
    properties_of_controller,
    properties_of_nodes,
)
from kafka_admin_proto.server.network.limits import check_given_once, frame_bytes, limits_of
from kafka_admin_proto.server.network.node import Listener, Node
from kafka_admin_proto.server.releases import ReleaseNumber

if TYPE_CHECKING:
    from kafka_admin_proto.messages.create_topics_request import CreatableTopic
    from kafka_admin_proto.protocol.versions import Api
    from kafka_admin_proto.records.metadata.entities import Acl
    from kafka_admin_proto.server.network.limits import NetworkLimits
    from kafka_admin_proto.server.network.service import Trace
    from kafka_admin_proto.server.security.access import Security

#: The listeners of a cluster by default.
LISTENERS = {"PLAINTEXT": "PLAINTEXT"}
#: The listener of a controller without brokers of its own, and its id, with which Kafka's
#: properties files for controllers begin too.
OF_CONTROLLER = {"CONTROLLER": "PLAINTEXT"}
CONTROLLER_ID = 3000


class Settings:
    """What the arguments of ``Cluster`` are, by the names that they have there, in their last form.

    ``configs`` are texts, with those that follow from other arguments. Raises SettingsError for an
    argument or config that cannot work or would have no effect.
    """

    def __init__(self, given: Mapping[str, Any]) -> None:
        try:
            given = {**given, **{each: listed(given[each], each) for each in ("racks", "acls")}}
        except TypeError as error:
            raise SettingsError(str(error)) from None
        check_settings(given)
        self.brokers: int = given["brokers"]
        self.release: ReleaseNumber = ReleaseNumber.parse(given["release"])
        self.host: str = without_brackets(given["host"])
        self.port: int = given["port"]
        #: The racks by node; none where none are given.
        self.racks: dict[int, str] = dict(enumerate(given["racks"], 1))
        self.sync_delay_s: float = given["sync_delay_s"]
        self.propagation_delay_s: float = given["propagation_delay_s"]
        self.rules: str = given["rules"] if self.brokers else CONTROLLERS
        #: The dialect whose messages are served beside Kafka's own, "kafka" if there is none.
        self.dialect = self.rules if self.rules in DIALECTS else "kafka"
        self.data: Path | None = None if given["data"] is None else Path(given["data"])
        self.trace: Trace | None = given["trace"]
        configs: dict[str, str | float | bool] = dict(given["configs"] or {})
        if self.dialect != "kafka" and (given["acls"] or "authorizer.class.name" in configs):
            raise SettingsError(
                f"the draft {self.rules} says nothing of who may do what; leave "
                "authorizer.class.name and ACLs out"
            )
        self.acls: list[Acl] = []
        if given["acls"]:
            from kafka_admin_proto.server.security.authorizer.files import AUTHORIZED, acls_of

            self.acls = acls_of(given["acls"], self.release)
            configs = {**AUTHORIZED, **configs}
        self.listeners: Mapping[str, str] = LISTENERS if self.brokers else OF_CONTROLLER
        if given["listeners"] != LISTENERS:
            from kafka_admin_proto.server.security.listeners import checked_listeners

            self.listeners = checked_listeners(given["listeners"])
        self._advertised_host = advertised_host(self.host, given["advertised_host"])
        self._advertised = advertised_addresses(
            given["advertised_listeners"] or {}, self.listeners, self.brokers
        )
        if len(self._advertised) < len(self.listeners):
            check_reachable(self._advertised_host)
        policies = given["create_topic_policy"], given["alter_config_policy"]
        self.configs: Mapping[str, str] = {}
        if configs:
            from kafka_admin_proto.server.configs.given import checked_configs

            has_policy = policies != (None, None)
            self.configs = checked_configs(
                configs, self.release, self.listeners, has_policy=has_policy
            )
        self.policies: Policies = Policies(self.configs, *policies)
        limits: Limits | None = given["limits"]
        network_limits: NetworkLimits | None = given["network_limits"]
        check_given_once(self.configs, limits, network_limits)
        if limits is None:
            largest = frame_bytes(self.configs, self.release)
            limits = Limits() if largest is None else Limits(frame_bytes=largest)
        self.limits = limits
        self.network_limits: NetworkLimits = network_limits or limits_of(self.configs, self.release)
        self.security: Security | None = None
        if self.listeners not in (LISTENERS, OF_CONTROLLER) or given["users"]:
            from kafka_admin_proto.server.security.access import Security

            users, on_disk = given["users"] or {}, self.data is not None
            self.security = Security(
                self.listeners, users, self.configs, self.release, limits, on_disk=on_disk
            )
            self.configs = {**self.security.configs, **self.configs}
        self.apis: tuple[Api, ...] = served_apis(self.release, self.rules)
        if given["api_versions"]:
            from kafka_admin_proto.server.faults.older import with_versions

            self.apis = with_versions(self.apis, given["api_versions"])
        self.topics: list[CreatableTopic] = []
        if given["topics"]:
            from kafka_admin_proto.server.arguments.initial_topics import checked_topics

            self.topics = checked_topics(given["topics"], self.release, self.brokers, self.configs)

    def nodes(self) -> dict[int, Node]:
        """The nodes by their ids, with listeners that are not bound yet."""
        ids = range(1, self.brokers + 1)
        if not self.brokers:
            (name,) = self.listeners
            listener = Listener(name, self.host, self._advertised_host, self.port)
            return {CONTROLLER_ID: Node(CONTROLLER_ID, [listener])}
        return {each: Node(each, [*self._node_listeners(each)]) for each in ids}

    def properties(
        self, nodes: Iterable[Node], folders: Iterable[str]
    ) -> dict[int, dict[str, str]]:
        """The configs of each node's properties file, by id; ``folders`` are the ``log.dirs``."""
        listeners = {each.id: list(each.listeners.values()) for each in nodes}
        if not self.brokers:
            (folder,) = folders
            (listener,) = listeners[CONTROLLER_ID]
            found = properties_of_controller(CONTROLLER_ID, listener, folder, self.configs)
            return {CONTROLLER_ID: found}
        by_id = dict(zip(listeners, folders, strict=True))
        return properties_of_nodes(listeners, by_id, self.racks, self.configs, self.release)

    def registration(self, node: Node, directory: UUID) -> Registration:
        """What a node, whose log is in the directory of that id, is registered with."""
        listeners = list(node.listeners.values())
        return Registration(node.id, listeners, self.racks.get(node.id), directory)

    def _node_listeners(self, node_id: int) -> Iterator[Listener]:
        """The first listener has the first ports, one for each node; others have those behind."""
        for number, (name, protocol) in enumerate(self.listeners.items()):
            port = self.port + number * self.brokers + node_id - 1 if self.port else 0
            listener = Listener(name, self.host, self._advertised_host, port, protocol)
            if name in self._advertised:
                address = self._advertised[name][node_id - 1]
                listener.advertised_host, listener.advertised_port = address.host, address.port
            yield listener
