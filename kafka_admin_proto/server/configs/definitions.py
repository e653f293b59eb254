"""The configs and features that a release of Kafka defines, from ``schemas/configs.json``.

The file is written by ``tools/definitions/config_definitions.py`` out of Kafka's own classes.
"""

from __future__ import annotations

from functools import cache, cached_property

import msgspec

from kafka_admin_proto.records.metadata.names import METADATA_VERSION
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.server.releases import ReleaseNumber
from kafka_admin_proto.structs import decodable


class Validator(msgspec.Struct, frozen=True):
    """The check of a config's values; ``kind`` is the name of Kafka's class.

    ``min`` and ``max`` are the bounds of a Range, ``values`` the values that a ValidString or
    ValidList accepts (any if empty), ``text`` the description of any other validator.
    ``isEmptyAllowed`` is None in releases that check a list's items only.
    """

    kind: str
    min: int | float | None = None
    max: int | float | None = None
    values: tuple[str, ...] = ()
    text: str = ""
    isEmptyAllowed: bool | None = None

    @property
    def rule(self) -> str:
        """What values it accepts, in a few words; empty for any."""
        if self.values:
            return f"of {', '.join(self.values)}"
        bounds = (("at least", self.min), ("at most", self.max))
        return " and ".join(f"{word} {bound}" for word, bound in bounds if bound is not None) or (
            self.text
        )


class ConfigDefinition(msgspec.Struct, frozen=True):
    """One config.

    ``synonyms`` are the broker's configs for the same value, by falling precedence.
    ``update`` is "per-broker" or "cluster-wide" where a running broker takes a change of it.
    """

    name: str
    type: str
    default: str | None = None
    validator: Validator | None = None
    internal: bool = False
    synonyms: tuple[str, ...] = ()
    update: str | None = None

    @property
    def sensitive(self) -> bool:
        """Whether its value is never shown."""
        return self.type in ("PASSWORD", "UNKNOWN")

    @property
    def drops_repeated(self) -> bool:
        """Whether repeated items of its list are dropped: by the ValidList of 4.x."""
        check = self.validator
        return check is not None and check.kind == "ValidList" and check.isEmptyAllowed is not None

    @property
    def documentation(self) -> str | None:
        """Its type, values, default and use, from the definition; None where Kafka has none.

        Kafka's own sentences about a config are not repeated here.
        """
        if self.type == "UNKNOWN":
            return None
        rule = self.validator.rule if self.validator is not None else ""
        words = [f"A value of type {self.type}" + (f", {rule}" if rule else "")]
        if self.default is not None:
            words.append(f"{self.default} by default" if self.default else "empty by default")
        if self.update is not None:
            words.append(f"changed {self.update} while brokers run")
        return "; ".join(words) + "."


class Feature(msgspec.Struct, frozen=True):
    """A feature: the levels that a node supports, and the level of a new cluster."""

    name: str
    min: int
    max: int
    default: int


@decodable
class Definitions(msgspec.Struct, dict=True):
    """The configs and features of a release, in the order in which Kafka checks them.

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
    def metadata_version(self) -> int:
        return next(each.max for each in self.features if each.name == METADATA_VERSION)

    @cached_property
    def topics(self) -> dict[str, ConfigDefinition]:
        return {each.name: each for each in self.topic}

    @cached_property
    def brokers(self) -> dict[str, ConfigDefinition]:
        """The configs of brokers by name, quotas included."""
        return {each.name: each for each in (*self.broker, *self.broker_quotas)}

    @cached_property
    def in_properties(self) -> dict[str, ConfigDefinition]:
        """The configs of brokers that a properties file may have, by name."""
        return {each.name: each for each in self.broker}

    @cached_property
    def groups(self) -> dict[str, ConfigDefinition]:
        return {each.name: each for each in self.group}

    @cached_property
    def metrics(self) -> dict[str, ConfigDefinition]:
        """The configs of subscriptions to clients' metrics by name."""
        return {each.name: each for each in self.client_metrics}


@cache
def definitions(release: ReleaseNumber) -> Definitions:
    data = (catalog().folder / "configs.json").read_bytes()
    releases = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
    return msgspec.json.decode(releases[str(release)], type=Definitions)
