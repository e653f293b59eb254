"""The marker ``kafka``, whose arguments are settings of the cluster of ``kafka_cluster``.

Settings of a test, its class and its module are put together, and go before those that the fixture
``kafka_cluster_settings`` returns; mappings are merged key by key. A marker without arguments is a
label of the suite's own, and left alone. All else that would have no effect is a sentence: a
setting that ``Cluster`` does not have, two values for one, and a marker on what does not use the
fixture.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pytest

from kafka_admin_proto.near_names import near_names
from kafka_admin_proto.wire.types.base import shown, with_article

MARKER = "kafka"
MARKER_HELP = (
    f"{MARKER}(**settings): arguments of kafka_admin_proto.server.Cluster for the cluster of the "
    "fixture kafka_cluster in this test, class or module"
)
_FIXTURE = "kafka_cluster"
_SETTINGS_FIXTURE = "kafka_cluster_settings"
_PLUGIN = "kafka_admin_proto.testing.pytest_plugin"
#: Why a class's or module's marker has no effect, kept with its tests.
_UNUSED = pytest.StashKey[str]()


class MarkerError(ValueError):
    """Settings of a marker or of the fixture that cannot work, or would have no effect."""


def marked_settings(item: pytest.Item) -> dict[str, Any]:
    """The settings of the item's markers. Raises MarkerError for those that cannot be."""
    merged: dict[str, Any] = {}
    #: Who gave a setting, or one key of a mapping, which has the path (setting, key).
    given_by: dict[tuple[Any, ...], pytest.Item | pytest.Collector] = {}
    for node, mark in _markers(item):
        if mark.args:
            raise MarkerError(
                f"the marker {MARKER} on {_name(node)} has arguments without a name; name each, as "
                f"in pytest.mark.{MARKER}(brokers=3)"
            )
        for name, value in mark.kwargs.items():
            _check_name(name, f"the marker {MARKER} on {_name(node)}")
            twice = _given_twice(name, merged[name], value) if name in merged else None
            if twice is not None:
                raise MarkerError(
                    f"the markers {MARKER} on {_name(given_by[twice])} and on {_name(node)} give "
                    f"{_path_text(twice)} two values; leave one out"
                )
            keys = value if isinstance(value, Mapping) else ()
            for path in ((name,), *((name, key) for key in keys)):
                given_by.setdefault(path, node)
            merged[name] = _over(merged.get(name), value)
    return merged


def settings_of(returned: Any, marked: Mapping[str, Any]) -> dict[str, Any]:
    """What the fixture of the settings returned, with the markers' settings over it.

    Raises MarkerError, which names the fixture, for what is no mapping of arguments of ``Cluster``.
    """
    if not isinstance(returned, Mapping):
        raise MarkerError(
            f"the fixture {_SETTINGS_FIXTURE} returned "
            f"{'None' if returned is None else with_article(type(returned).__name__)}; expected a "
            'dict of arguments of Cluster, such as {"brokers": 3}'
        )
    for name in returned:
        _check_name(name, f"what the fixture {_SETTINGS_FIXTURE} returned")
    given = {name: _over(returned.get(name), value) for name, value in marked.items()}
    return {**returned, **given}


def _over(first: Any, then: Any) -> Any:
    """The later value; of two mappings all keys, where the later value of a key counts."""
    both = isinstance(first, Mapping) and isinstance(then, Mapping)
    return {**first, **then} if both else then


def _given_twice(name: str, first: Any, then: Any) -> tuple[Any, ...] | None:
    """The path of a setting, or of a key of it, for which both have values that differ."""
    if isinstance(first, Mapping) and isinstance(then, Mapping):
        differing = (key for key in first if key in then and first[key] != then[key])
        return next(((name, key) for key in differing), None)
    return None if first == then else (name,)


def _path_text(path: tuple[Any, ...]) -> str:
    name, *keys = path
    return str(name) + "".join(f"[{shown(key)}]" for key in keys)


def check_markers(item: pytest.Item) -> None:
    """Raise MarkerError for an item's markers that cannot work or have no effect."""
    if not marked_settings(item):
        return
    override = _blind_override(item)
    if override is not None:
        raise MarkerError(
            f"the marker {MARKER} has no effect on {_name(item)}: its fixture {_FIXTURE} is that "
            f"of the module {override}, which does not read markers; override {_SETTINGS_FIXTURE} "
            f"instead, let the fixture take {_FIXTURE}, the plugin's, or take the marker away"
        )
    if any(node is item for node, _ in _markers(item)) and not _uses_cluster(item):
        raise MarkerError(_no_effect(f"{_name(item)}, which does not use"))
    if _UNUSED in item.stash:
        raise MarkerError(item.stash[_UNUSED])


def note_unused_markers(config: pytest.Config, items: Iterable[pytest.Item]) -> None:
    """Keep a sentence with the tests of a marked class or module of which none uses the fixture.

    Where single tests of a file were asked for, or those that failed last, others may use it.
    """
    if any("::" in each for each in config.args) or config.getoption("lf", False):
        return
    below: dict[pytest.Item | pytest.Collector, list[pytest.Item]] = {}
    for item in items:
        for node in {node for node, _ in _markers(item) if node is not item}:
            below.setdefault(node, []).append(item)
    for node, tests in below.items():
        if not any(map(_uses_cluster, tests)):
            for item in tests:
                item.stash[_UNUSED] = _no_effect(f"{_name(node)}, none of whose tests uses")


def _markers(item: pytest.Item) -> Iterator[tuple[pytest.Item | pytest.Collector, pytest.Mark]]:
    """The markers with arguments that count for an item, the nearest first."""
    for node, mark in item.iter_markers_with_node(MARKER):
        if mark.args or mark.kwargs:
            yield node, mark  # type: ignore[misc]


def _uses_cluster(item: pytest.Item) -> bool:
    return _FIXTURE in getattr(item, "fixturenames", ())


def _blind_override(item: pytest.Item) -> str | None:
    """The module of a fixture that overrides the plugin's, and cannot know the item's markers.

    One that takes the overridden fixture hands them on, and one that takes ``request`` may read
    them.
    """
    info = getattr(item, "_fixtureinfo", None)  # pytest has no public name for it
    overriding = info.name2fixturedefs.get(_FIXTURE, ()) if info is not None else ()
    for fixture in reversed(overriding):  # the last one counts, and may take the one before
        module = getattr(fixture.func, "__module__", "another module")
        if module == _PLUGIN or "request" in fixture.argnames:
            return None
        if _FIXTURE not in fixture.argnames:
            return str(module)
    return None


def _check_name(name: object, where: str) -> None:
    from inspect import signature  # the server is slow to import, and most runs have no marker

    from kafka_admin_proto.server import Cluster, SyncCluster

    known = [each for each in signature(Cluster).parameters]
    if name in known:
        return
    if isinstance(name, str) and name[:1] != "_" and hasattr(SyncCluster, name):
        hint = f"the running cluster has it: use {_FIXTURE}.{name} in the test"
    else:
        close = near_names(str(name), known, most=1)
        hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(known)}"
    raise MarkerError(f"{where} has no setting {name}; {hint}")


def _name(node: pytest.Item | pytest.Collector) -> str:
    return node.nodeid or "the run"


def _no_effect(where: str) -> str:
    return (
        f"the marker {MARKER} has no effect on {where} the fixture {_FIXTURE}; name the fixture as "
        "an argument or in usefixtures (that request.getfixturevalue will ask for it is not seen), "
        "or take the marker away"
    )
