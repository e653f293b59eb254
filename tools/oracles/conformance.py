"""Every message and version of two releases against Kafka's own classes, both ways.

Run as ``make conformance``: prints a table, writes it to ``docs/conformance.md`` with ``--write``,
and ends with exit code 1 where anything disagrees that is not listed as a difference on purpose.
`comparison` says what is compared.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from kafka_admin_proto.codec import Codec, codec
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.testing import messages
from tools.oracles.comparison import ONLY_JAVA_READS, READ_ALIKE, RELEASES, Check, Findings
from tools.oracles.oracle import JavaOracle, Message, why_unavailable

PAGE = Path(__file__).parents[2] / "docs" / "conformance.md"


def skipped(release: str, name: str, version: int) -> str | None:
    """Why that version of the release is not compared: the releases themselves disagree on it.

    The overlay lists changed layouts.
    """
    if release == RELEASES[-1]:
        return None
    return catalog().overlay(name).layout_changed.get(str(version))


def codec_of(name: str, version: int) -> Codec[Any]:
    """Our codec for what a release calls so.

    Before 4.0 the keys of internal topics' records had no api key: the number that is their api key
    now was their only version.
    """
    is_key = catalog().entry(name).type == "coordinator-key"
    return codec(name, 0 if is_key else version)


def sweep(values: int, seed: int, shard: int = 0, shards: int = 1) -> dict[str, Findings]:
    """Compare every ``shards``-th message, with so many values each way; by release."""
    found = {release: Findings() for release in RELEASES}
    oracles = {release: JavaOracle(release) for release in RELEASES}
    try:
        known = {r: {m.name: m for m in oracle.messages()} for r, oracle in oracles.items()}
        names = sorted({name for messages_ in known.values() for name in messages_})
        for name in names[shard::shards]:
            lowest = min(k[name].lowest for k in known.values() if name in k)
            highest = max(k[name].highest for k in known.values() if name in k)
            for version in range(lowest, highest + 1):
                drawn: list[Any] = []
                for release, oracle in oracles.items():
                    message = known[release].get(name)
                    if not _has(message, version) or skipped(release, name, version):
                        continue
                    mine = codec_of(name, version)
                    drawn = drawn or list(draw(mine, values, seed))
                    key = name, version
                    check = Check(key, mine, oracle, found[release], values, seed)
                    check.run(drawn)
    finally:
        for oracle in oracles.values():
            oracle.close()
    return found


def _has(message: Message | None, version: int) -> bool:
    return message is not None and message.lowest <= version <= message.highest


def draw(mine: Codec[Any], count: int, seed: int) -> Iterator[Any]:
    """``count`` values from the package's strategies; again from the first where there are less."""
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import seed as seeded

    found: list[Any] = []

    @seeded(f"{seed} {mine.name} {mine.version}")
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(messages(mine.name, mine.version))
    def collect(value: Any) -> None:
        found.append(value)

    collect()
    for index in range(count):
        yield found[index % len(found)]


# --- the page --------------------------------------------------------------------------------


def table(found: dict[str, Findings]) -> str:
    """One line a release."""
    head = "| release | messages | versions | Java → here | here → Java | damaged | disagreements |"
    lines = [head, "|---|---|---|---|---|---|---|"]
    for release, f in found.items():
        lines.append(
            f"| {release} | {len(f.messages)} | {f.versions} | {f.from_java} | {f.to_java} "
            f"| {f.damaged} | {len(f.disagreements) or 'none'} |"
        )
    return "\n".join(lines)


def exceptions(versions: Iterable[tuple[str, int]]) -> str:
    """The versions that are left out, each with what the older release has instead."""
    lines = []
    for name, version in versions:
        if reason := skipped(RELEASES[0], name, version):
            lines.append(f"- {name} v{version}: {reason}")
    return "\n".join(lines)


def page(found: dict[str, Findings], versions: Iterable[tuple[str, int]]) -> str:
    """``docs/conformance.md``."""
    reasons = {name: each.reason for name, each in ONLY_JAVA_READS.items()} | READ_ALIKE
    listed = "\n".join(f"- **{name}**: {reason}." for name, reason in reasons.items())
    return f"""# Conformance

Written by `make conformance`: every message and version of two releases against Kafka's own
classes. Java → here: values that Java draws, its bytes decoded and encoded again, its JSON
compared; here → Java: values that `kafka_admin_proto.testing` draws, the same the other way;
damaged: such bytes cut, flipped, extended, with wrong lengths or foreign tags, which both sides
refuse or read alike. SubscriptionInfoData of Kafka Streams is left out: Kafka has no class for
its JSON.

{table(found)}

## Versions on which the releases themselves disagree
The newest release's layout is the one here; the older one's is not compared.

{exceptions(versions)}

## Damaged bytes: differences on purpose
{listed}
"""


def run(values: int, seed: int) -> dict[str, Findings]:
    """The whole sweep, on as many processes as there are processors."""
    shards = os.cpu_count() or 1
    total = {release: Findings() for release in RELEASES}
    with ProcessPoolExecutor(shards) as pool:
        parts = [pool.submit(sweep, values, seed, shard, shards) for shard in range(shards)]
        for part in parts:
            for release, findings in part.result().items():
                total[release].add(findings)
    return total


def older_versions() -> list[tuple[str, int]]:
    """Every (message, version) of the older release."""
    with JavaOracle(RELEASES[0]) as oracle:
        return [(m.name, v) for m in oracle.messages() for v in range(m.lowest, m.highest + 1)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--values", type=int, default=200, help="of each version, each way")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 31))
    parser.add_argument("--write", action="store_true", help=f"the table to docs/{PAGE.name}")
    arguments = parser.parse_args()
    if reason := why_unavailable():
        print(f"not compared with Java: {reason}")
        return int(os.environ.get("KAFKA_ADMIN_PROTO_REQUIRE_ALL") == "1")
    found = run(arguments.values, arguments.seed)
    print(table(found))
    for release, findings in found.items():
        for name, count in sorted(findings.on_purpose.items()):
            print(f"{release}: {count} times {name}")
    disagreements = [line for findings in found.values() for line in findings.disagreements]
    for line in disagreements[:50]:
        print(line)
    if disagreements:
        print(f"{len(disagreements)} disagreements; again with --seed {arguments.seed}")
        return 1
    if arguments.write:
        PAGE.write_text(page(found, older_versions()), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
