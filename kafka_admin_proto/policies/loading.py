"""The policies of a cluster: found by the names in its configs, configured, and closed."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from kafka_admin_proto.arguments import is_async
from kafka_admin_proto.errors import SettingsError
from kafka_admin_proto.policies.policies import OWN_FAILURES, masked

#: Kafka's configs with the class of a policy.
CREATE_TOPIC_CONFIG = "create.topic.policy.class.name"
ALTER_CONFIG_CONFIG = "alter.config.policy.class.name"
_METHODS = ("configure", "validate", "close")
_NONE: Mapping[str, str] = {}
_EXPECTED = "configure(configs), validate(metadata) and close()"


class _Source(msgspec.Struct, frozen=True):
    """A policy's class as a user knows it: the setting, and the name there. ``make`` makes it."""

    setting: str
    name: str
    make: Callable[[], Any]


class Policies:
    """The CreateTopicPolicy and the AlterConfigPolicy of a cluster, from its start to its end.

    Each is an object, or a class that a broker's config names as ``module:Class`` and that is made
    when the cluster starts. All failures are SettingsErrors, whose cause is the policy's own error.
    """

    def __init__(
        self, configs: Mapping[str, str], create_topic_policy: object, alter_config_policy: object
    ) -> None:
        self._sources = (
            _source(CREATE_TOPIC_CONFIG, configs, "create_topic_policy", create_topic_policy),
            _source(ALTER_CONFIG_CONFIG, configs, "alter_config_policy", alter_config_policy),
        )
        self._configured: list[tuple[_Source, Any, Mapping[str, str]]] = []

    def configure(self, configs: Mapping[str, str]) -> list[Any]:
        """Make both policies and configure them; None stands for one that was not given."""
        return [each and self._begun(each, configs) for each in self._sources]

    def close(self) -> None:
        """Close the policies that are configured, each whether or not the other one fails."""
        failures = []
        for source, policy, configs in self._configured:
            try:
                _call(source, "close()", policy.close, configs)
            except SettingsError as failure:
                failures.append(failure)
        self._configured.clear()
        if failures:
            raise SettingsError("; ".join(map(str, failures))) from failures[0].__cause__

    def _begun(self, source: _Source, configs: Mapping[str, str]) -> Any:
        policy = _call(source, "the constructor", source.make)
        _check_methods(source.setting, source.name, policy)
        given = MappingProxyType(dict(configs))
        _call(source, "configure(configs)", lambda: policy.configure(given), configs)
        self._configured.append((source, policy, given))
        return policy


def _source(
    config: str, configs: Mapping[str, str], argument: str, policy: object
) -> _Source | None:
    """The policy that a config or an argument gives, or None."""
    if policy is None:
        if config not in configs:
            return None
        name = configs[config].strip()
        return _Source(config, name, named_class(config, name))
    if config in configs:
        raise SettingsError(f"{argument} and the config {config} both give a policy; leave one out")
    check_policy(argument, policy, f", or its name as module:Class in the config {config}")
    return _Source(argument, type(policy).__qualname__, lambda: policy)


def check_policy(argument: str, policy: object, instead: str = "") -> None:
    """Raise SettingsError for what is no policy; ``instead`` is what may be given for a class."""
    if isinstance(policy, type):
        raise SettingsError(
            f"{argument} is the class {policy.__qualname__}; give an object of it{instead}"
        )
    _check_methods(argument, type(policy).__qualname__, policy)


def named_class(
    setting: str, name: str, what: str = "policy", has: str = _EXPECTED
) -> Callable[[], Any]:
    """The class that a setting names as ``module:Class``; SettingsError where there is none.

    ``what`` such a class is, and the methods that it ``has``, are for the error.
    """
    module, colon, attribute = name.partition(":")
    if not colon:
        raise SettingsError(
            f"{setting}: {name!r} is not of the form module:Class; a {what} is a Python class "
            f"here, since Java's cannot be loaded, and has {has}"
        )
    try:
        found = getattr(importlib.import_module(module), attribute)
    except OWN_FAILURES as error:  # of the module's own code
        raise SettingsError(
            f"{setting}: no {what} {name!r}: {reason(error)}; name it as module:Class"
        ) from error
    if not isinstance(found, type):
        raise SettingsError(f"{setting}: {name!r} is no class; name a class as module:Class")
    return found


def _check_methods(setting: str, name: str, policy: object) -> None:
    """Raises SettingsError unless the object has the methods of a policy."""
    for each in _METHODS:
        method = getattr(policy, each, None)
        if not callable(method):
            raise SettingsError(f"{setting}: {name} has no method {each}; a policy has {_EXPECTED}")
        if is_async(method):
            raise SettingsError(
                f"{setting}: {each} of {name} is a coroutine function, which would never run; "
                "write it without async"
            )


def _call(
    source: _Source, what: str, function: Callable[[], Any], configs: Mapping[str, str] = _NONE
) -> Any:
    """Call a policy's own code. Raises SettingsError, in one line, for any error of it.

    Secrets among the configs that it has got are masked there.
    """
    try:
        return function()
    except OWN_FAILURES as error:
        text = f"{source.setting}: {what} of {source.name} failed: {reason(error, configs)}"
        raise SettingsError(text) from error


def reason(error: BaseException, configs: Mapping[str, str] = _NONE) -> str:
    """An error's type and text in one line; the type alone if its ``__str__`` fails."""
    try:
        return " ".join(masked(f"{type(error).__name__}: {error}", configs).split())
    except OWN_FAILURES:
        return type(error).__name__
