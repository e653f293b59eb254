"""Bring the definitions of Kafka's configs into ``schemas/configs.json``.

Run as ``python -m tools.definitions.config_definitions``. Kafka's own classes of each release
are asked for name, type, default, what is checked, synonyms and whether a running broker takes a
change; no sentence about a config is copied. ``make drift`` compares a release with the file.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tools.kafka_releases import BEFORE_NEWEST, LAST_WITH_ZOOKEEPER, NEWEST
from tools.oracles.jars import FetchError, fetch_runtime
from tools.oracles.java import ProgramError, run

ROOT = Path(__file__).parents[2]
FILE = ROOT / "schemas" / "configs.json"
#: The releases whose configs are known: those that the server plays, and the newest.
RELEASES = (LAST_WITH_ZOOKEEPER, BEFORE_NEWEST, NEWEST)
_SOURCE = Path(__file__).parent / "ConfigDefinitions.java"

#: Kind ("topic", "broker", "group", "client_metrics") → definitions in the order of their checks.
Definitions = dict[str, list[dict[str, Any]]]


def config_definitions(release: str) -> Definitions:
    """What Kafka's classes of a release define; raises FetchError where they cannot be asked."""
    try:
        said = run(fetch_runtime(release), _SOURCE)
    except ProgramError as error:
        raise FetchError(f"{release} does not tell its configs: {error}") from None
    found: Definitions = json.loads(said)
    return found


def written(releases: dict[str, Definitions]) -> str:
    """The text of the file: one line for each config, releases by their minor version."""
    parts = []
    for release, kinds in releases.items():
        rows = []
        for kind, configs in kinds.items():
            lines = ",\n".join(f"   {json.dumps(config)}" for config in configs)
            rows.append(f'  "{kind}": [\n{lines}\n  ]' if lines else f'  "{kind}": []')
        minor = release.rpartition(".")[0]
        parts.append(f' "{minor}": {{\n' + ",\n".join(rows) + "\n }")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def differences(ours: Definitions, theirs: Definitions) -> list[tuple[str, str, str]]:
    """(config, what is here, what is there) for each that differs, "" for nothing."""
    found = []
    for kind in sorted(ours.keys() | theirs.keys()):
        here = {each["name"]: each for each in ours.get(kind, [])}
        there = {each["name"]: each for each in theirs.get(kind, [])}
        for name in sorted(here.keys() | there.keys()):
            if here.get(name) != there.get(name):
                sides = (_facts(here.get(name)), _facts(there.get(name)))
                found.append((f"config {kind} {name}", *sides))
    return found


def _facts(config: dict[str, Any] | None) -> str:
    return "" if config is None else json.dumps({k: v for k, v in config.items() if k != "name"})


def main() -> None:
    FILE.write_text(written({each: config_definitions(each) for each in RELEASES}), "utf-8")
    print(f"configs of {', '.join(RELEASES)} written to {FILE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
