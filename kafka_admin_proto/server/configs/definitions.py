"""What a release of Kafka defines: its configs and features, from ``schemas/configs.json``.

The file is written by ``tools/definitions/config_definitions.py`` out of Kafka's own classes.
"""

from __future__ import annotations

from functools import cache, cached_property

import msgspec

from kafka_admin_proto.errors import UnknownReleaseError
from kafka_admin_proto.schema.catalog import catalog


class Validator(msgspec.Struct, frozen=True):
    """What a value is checked for; ``kind`` is the name of Kafka's class.

    ``min`` and ``max`` are a Range's, ``values`` those that a ValidString or ValidList takes (any
    where there are none), ``text`` what a validator of its own kind says of itself.
    ``isEmptyAllowed`` is None in releases that look at a list's items only, empty ones alike.
    """

    kind: str
    min: int | float | None = None
    max: int | float | None = None
    values: tuple[str, ...] = ()
    validators: tuple[Validator, ...] = ()
    text: str = ""
    isEmptyAllowed: bool | None = None
    isNullAllowed: bool = False


class ConfigDefinition(msgspec.Struct, frozen=True):
    """One config.

    ``synonyms`` are the broker's configs that stand for it, the one that counts most first.
    ``update`` is "per-broker" or "cluster-wide" where a running broker takes a change of it.
    """

    name: str
    type: str
    default: str | None = None
    required: bool = False
    validator: Validator | None = None
    internal: bool = False
    synonyms: tuple[str, ...] = ()
    update: str | None = None

    @property
    def sensitive(self) -> bool:
        """Whether its value is never shown."""
        return self.type in ("PASSWORD", "UNKNOWN")


class Feature(msgspec.Struct, frozen=True):
    """A feature: the levels that a node supports, and the level of a new cluster."""

    name: str
    min: int
    max: int
    default: int


class Definitions(msgspec.Struct, dict=True):
    """All of a release, in the order in which Kafka checks them.

    ``broker_quotas`` are configs of brokers that are not in a properties file, and are shown only
    where they are set.
    """

    topic: tuple[ConfigDefinition, ...]
    broker: tuple[ConfigDefinition, ...]
    broker_quotas: tuple[ConfigDefinition, ...]
    group: tuple[ConfigDefinition, ...]
    client_metrics: tuple[ConfigDefinition, ...]
    features: tuple[Feature, ...]

    @cached_property
    def topics(self) -> dict[str, ConfigDefinition]:
        """Those of topics by name."""
        return {each.name: each for each in self.topic}

    @cached_property
    def brokers(self) -> dict[str, ConfigDefinition]:
        """Those of brokers by name, quotas included."""
        return {each.name: each for each in (*self.broker, *self.broker_quotas)}

    @cached_property
    def in_properties(self) -> dict[str, ConfigDefinition]:
        """Those of brokers that may stand in a properties file, by name."""
        return {each.name: each for each in self.broker}

    @cached_property
    def groups(self) -> dict[str, ConfigDefinition]:
        """Those of groups by name."""
        return {each.name: each for each in self.group}

    @cached_property
    def metrics(self) -> dict[str, ConfigDefinition]:
        """Those of subscriptions to clients' metrics by name."""
        return {each.name: each for each in self.client_metrics}


@cache
def definitions(release: str) -> Definitions:
    """What release "4.3" or "3.9" defines; raises UnknownReleaseError for another one."""
    data = (catalog().folder / "configs.json").read_bytes()
    releases = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
    found = releases.get(release)
    if found is None:
        raise UnknownReleaseError(
            f"no configs of release {release!r}; there are those of {', '.join(releases)}"
        )
    return msgspec.json.decode(found, type=Definitions)
