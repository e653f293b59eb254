"""Drawn steps for ours beside a real three-node cluster.

Run as ``python -m tests.server.differential.real_cluster [RELEASE] [--seed N] [--steps N]``,
with ``--outages`` for nodes that end, ``--secured`` for users and ACLs, and ``--records`` for
producers and consumers; with ``--raw`` each
step is a request that only a raw client sends. It ends with 1 when something differs that
``differences.json`` does not list.
"""

from __future__ import annotations

import argparse
import contextlib
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from kafka_admin_proto.server import SyncCluster
from kafka_admin_proto.values import Message
from tests.server.configs.real_configs import configs_of, listener_configs_of
from tests.server.differential.machine import run_steps
from tests.server.differential.outages import PROPERTIES, OutageSides
from tests.server.differential.policy import ConfigPolicy, TopicPolicy
from tests.server.differential.requests import RAW_REQUEST, outages, records, security, shares
from tests.server.differential.requests.drawing import Step
from tests.server.differential.requests.security import PASSWORDS, SUPER_USERS
from tests.server.differential.sides import Sides
from tests.server.differential.wire import Nodes
from tools.clusters import Listener, kraft, sasl_properties
from tools.kafka_releases import BEFORE_NEWEST, LAST_WITH_ZOOKEEPER, NEWEST
from tools.oracles.jars import fetch_runtime
from tools.oracles.java import class_path

#: With policies in 3.9.2, without in the others.
RELEASES = (NEWEST, BEFORE_NEWEST, LAST_WITH_ZOOKEEPER)
#: A slow machine is no reason for another leader or for a broker less.
PATIENT = {"broker.session.timeout.ms": "60000", "controller.quorum.fetch.timeout.ms": "30000"}
#: Lines that are printed of what differs after a step.
_SHOWN_LINES = 12
_COMPILE_S = 120.0


@contextlib.contextmanager
def both_clusters(
    folder: Path,
    release: str,
    questions: Sequence[tuple[Message, int]] = (),
    properties: dict[str, str] = PATIENT,
) -> Iterator[Sides]:
    """A real cluster of a release and ours with the same configs; ``folder`` is for the nodes.

    Those of 3.9.2 have the same policies, in Java and in Python.
    """
    classes, java, python = _policies(folder, release)
    java, python = {**properties, **java}, {**properties, **python}
    with kraft(folder, release, nodes=3, properties=java, classes=classes) as real:
        configs = configs_of(real) | python
        minor = release.rpartition(".")[0]
        with SyncCluster(3, release=minor, configs=configs) as ours:
            sides = Sides(real.bootstrap, ours.bootstrap_servers, ours.state, questions=questions)
            try:
                yield sides
            finally:
                sides.close()


both_with_records = partial(both_clusters, questions=records.questions())
run_records = partial(run_steps, requests=records.REQUESTS, first=[records.first_topics])
both_with_shares = partial(
    both_clusters,
    questions=[*records.questions(), *shares.questions()],
    properties={**PATIENT, **shares.PROPERTIES},
)
run_shares = partial(
    run_steps,
    requests=(*records.KEEP_TOPICS, *shares.REQUESTS * 5),
    first=shares.FIRST,
    reset_every=60,
)


@contextlib.contextmanager
def both_with_outages(
    folder: Path, release: str, questions: Sequence[tuple[Message, int]] = ()
) -> Iterator[OutageSides]:
    """As ``both_clusters``, with nodes that may end."""
    with kraft(folder, release, nodes=3, properties=PROPERTIES) as real:
        configs = configs_of(real) | PROPERTIES
        with (
            SyncCluster(3, release=release.rpartition(".")[0], configs=configs) as ours,
            contextlib.closing(OutageSides(real, ours, questions)) as sides,
        ):
            yield sides


@contextlib.contextmanager
def both_secured(
    folder: Path, release: str, configs: Mapping[str, str] | None = None
) -> Iterator[Sides]:
    """As ``both_clusters``, with an authorizer, users who log in, and further ``configs``."""
    listener = Listener("SASL", "SASL_PLAINTEXT", sasl_properties(["PLAIN"], PASSWORDS))
    classes, java, python = _policies(folder, release)
    properties = {
        **PATIENT,
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": SUPER_USERS,
        "sasl.enabled.mechanisms": "PLAIN",
        **(configs or {}),
    }
    with kraft(
        folder,
        release,
        nodes=3,
        properties=properties | java,
        listeners=[listener],
        classes=classes,
    ) as real:
        own = configs_of(real) | properties | listener_configs_of(real) | python
        with SyncCluster(
            3,
            release=release.rpartition(".")[0],
            configs=own,
            listeners={"PLAINTEXT": "PLAINTEXT", "SASL": "SASL_PLAINTEXT"},
            users=PASSWORDS,
        ) as ours:
            users = {
                name: (
                    Nodes(real.address("SASL"), (name, password)),
                    Nodes(ours.addresses("SASL"), (name, password)),
                )
                for name, password in PASSWORDS.items()
            }
            sides = Sides(real.bootstrap, ours.bootstrap_servers, ours.state, users)
            try:
                yield sides
            finally:
                sides.close()


run_with_outages = partial(run_steps, requests=outages.REQUESTS, first=[outages.first_topics])
run_records_with_outages = partial(
    run_steps, requests=(*records.REQUESTS, *[outages.outage] * 10), first=[records.first_topics]
)


run_secured = partial(run_steps, requests=security.REQUESTS, first=[security.first_topics])


run_raw = partial(run_steps, requests=[RAW_REQUEST])
run_raw_secured = partial(run_steps, requests=[security.RAW_REQUEST], first=[security.first_topics])


def _policies(folder: Path, release: str) -> tuple[Path | None, dict[str, str], dict[str, str]]:
    """The folder with classes of a release's policies, their configs in Java, and in Python."""
    if release != LAST_WITH_ZOOKEEPER:
        return None, {}, {}
    policies = {
        "create.topic.policy.class.name": TopicPolicy.__name__,
        "alter.config.policy.class.name": ConfigPolicy.__name__,
    }
    python = {config: f"{TopicPolicy.__module__}:{name}" for config, name in policies.items()}
    return compiled_policies(folder / "classes", release), policies, python


def compiled_policies(folder: Path, release: str) -> Path:
    """The folder with the policies' classes, compiled for a release."""
    jars = class_path(fetch_runtime(release))
    sources = (Path(__file__).parents[2] / "java").glob("*Policy.java")
    subprocess.run(["javac", "-d", folder, "-cp", jars, *sources], check=True, timeout=_COMPILE_S)
    return folder


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("release", nargs="?", choices=RELEASES, default=NEWEST)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--steps", type=int, default=150)
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--outages", action="store_true", help="end nodes and start them again")
    kind.add_argument("--secured", action="store_true", help="with users and an authorizer")
    kind.add_argument("--shares", action="store_true", help="of share groups, and for records")
    parser.add_argument("--records", action="store_true", help="of producers and consumers")
    parser.add_argument("--raw", action="store_true", help="requests of a raw client alone")
    arguments = parser.parse_args()
    if arguments.raw and (arguments.outages or arguments.records or arguments.shares):
        parser.error("--raw goes with --secured or alone")
    if arguments.records and (arguments.secured or arguments.shares):
        parser.error("--records goes with --outages or alone")
    count = 0
    both: Callable[[Path, str], contextlib.AbstractContextManager[Sides]] = both_clusters
    run = run_raw if arguments.raw else run_steps
    if arguments.outages and arguments.records:
        both = partial(both_with_outages, questions=records.questions())
        run = run_records_with_outages
    elif arguments.outages:
        both, run = both_with_outages, run_with_outages
    elif arguments.records:
        both, run = both_with_records, run_records
    elif arguments.shares:
        both, run = both_with_shares, run_shares
    elif arguments.secured:
        both, run = both_secured, run_secured
        if arguments.raw:
            run = run_raw_secured
    with tempfile.TemporaryDirectory() as folder, both(Path(folder), arguments.release) as sides:

        def report(step: Step, lines: list[str]) -> None:
            nonlocal count
            count += 1
            print("\n   ".join([repr(step), *lines[:_SHOWN_LINES]]), flush=True)
            sides.reset()

        run(sides, arguments.steps, report, arguments.seed)
        ended = f" ({sides.outages})" if isinstance(sides, OutageSides) else ""
        print(f"{sides.steps} steps{ended}, {count} with differences that are not listed")
        if arguments.shares:
            found = sides.members[0]
            shown = ", ".join(f"{many} {kind}" for kind, many in found.acknowledged.items())
            print(f"{found.answers} rows of answers acknowledged records of their members: {shown}")
    return int(count > 0)


if __name__ == "__main__":
    sys.exit(main())
