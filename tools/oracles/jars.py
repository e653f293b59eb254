"""Published jars of a Kafka release, fetched once and kept in the checkout's cache.

The ordinary Maven client does the fetching, so that its settings (mirrors, proxies, credentials)
hold here too.  The cache is `.cache/jars/<release>/`; the environment variable
KAFKA_ADMIN_PROTO_CACHE names another folder in place of `.cache`.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tools.oracles.libraries import APPLICATIONS, LOG4J2_BINDING

#: The artifacts whose jars hold message definitions and the classes generated from them.
DEFINITION_ARTIFACTS = (
    "kafka-clients",
    "kafka-metadata",
    "kafka-group-coordinator",
    "kafka-share-coordinator",
    "kafka-transaction-coordinator",
    "kafka-raft",
    "kafka-storage",
    "kafka-streams",
    "kafka_2.13",
)

#: The first and the last (major, minor) release in which an artifact has definitions, where that
#: is not all of them: a jar that was never published must not look like a network that is down.
_FIRST_RELEASES = {
    "kafka-group-coordinator": (3, 4),
    "kafka-share-coordinator": (4, 0),
    "kafka-storage": (3, 0),
    "kafka-transaction-coordinator": (3, 8),
}
_LAST_RELEASES = {"kafka_2.13": (3, 8)}

#: The artifacts that a broker and Kafka's command line classes need, dependencies left out.
_RUNTIME_ARTIFACTS = ("org.apache.kafka:kafka_2.13:{0}", "org.apache.kafka:kafka-tools:{0}")

#: A run takes seconds: Java's second compiler would take more time than it saves.
_MAVEN_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"

_PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1"
_COPY_GOAL = f"{_PLUGIN}:copy"
_COPY_ALL_GOAL = f"{_PLUGIN}:copy-dependencies"

_POM = """\
<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>kafka-admin-proto</groupId>
  <artifactId>jars</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <build>
    <plugins>
      <plugin>
        <groupId>{plugin[0]}</groupId>
        <artifactId>{plugin[1]}</artifactId>
        <version>{plugin[2]}</version>
        <configuration>
          <outputDirectory>${{project.basedir}}</outputDirectory>
          <artifactItems>{items}</artifactItems>
        </configuration>
      </plugin>
    </plugins>
  </build>
</project>
"""

_POM_OF_DEPENDENCIES = """\
<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>kafka-admin-proto</groupId>
  <artifactId>runtime</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>{items}</dependencies>
</project>
"""


class ToolMissingError(Exception):
    """A program that this needs is not installed; the message says what to install."""


class FetchError(Exception):
    """Maven could not bring a jar; the message ends with what Maven said."""


def cache_folder() -> Path:
    """The folder for what can be fetched or made again; git ignores it."""
    named = os.environ.get("KAFKA_ADMIN_PROTO_CACHE")
    folder = Path(named) if named else Path(__file__).resolve().parents[2] / ".cache"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ".gitignore").write_text("*\n")
    return folder


def definition_artifacts(release: str) -> tuple[str, ...]:
    """The names in DEFINITION_ARTIFACTS that `release` (such as "4.4.0") was published with.

    Raises ValueError for a text that is no release.
    """
    if not re.fullmatch(r"\d+\.\d+\.\d+(-\w+)?", release):
        raise ValueError(f"{release!r} is not a release such as 4.4.0")
    major, minor = (int(part) for part in release.split(".")[:2])
    return tuple(
        name
        for name in DEFINITION_ARTIFACTS
        if _FIRST_RELEASES.get(name, (0, 0)) <= (major, minor)
        and (major, minor) <= _LAST_RELEASES.get(name, (major, minor))
    )


def fetch(release: str, artifacts: Sequence[str]) -> list[Path]:
    """Bring the jars that are not in the cache yet, in one Maven run; give the paths of all.

    An artifact is one of Kafka's by its bare name ("kafka-clients", at `release`) or any other by
    "group:artifact:version".  Jars arrive in a folder of their own and are renamed into place, so
    an interrupted run leaves no half jar behind.
    """
    wanted = {}
    for artifact in artifacts:
        coordinates = artifact if ":" in artifact else f"org.apache.kafka:{artifact}:{release}"
        _, name, version = coordinates.split(":")
        wanted[cache_folder() / "jars" / release / f"{name}-{version}.jar"] = coordinates
    return _bring(wanted)


def fetch_of_each(releases: Sequence[str], artifact: str) -> list[Path]:
    """The same for one of Kafka's artifacts in many releases, in one Maven run for all."""
    folder = cache_folder() / "jars"
    return _bring(
        {
            folder / release / f"{artifact}-{release}.jar": f"org.apache.kafka:{artifact}:{release}"
            for release in releases
        }
    )


def _bring(wanted: Mapping[Path, str]) -> list[Path]:
    """Let each path have the jar of its coordinates."""
    if all(jar.exists() for jar in wanted):
        return list(wanted)
    with one_process_at_a_time():
        missing = {jar.name: jar for jar in wanted if not jar.exists()}
        for jar in missing.values():
            jar.parent.mkdir(parents=True, exist_ok=True)
        if missing:
            with tempfile.TemporaryDirectory(dir=cache_folder() / "jars", prefix=".part-") as part:
                _copy([wanted[jar] for jar in missing.values()], Path(part))
                for arrived in Path(part).glob("*.jar"):
                    arrived.replace(missing[arrived.name])
    return list(wanted)


@contextlib.contextmanager
def one_process_at_a_time() -> Iterator[None]:
    """Let no other process bring jars meanwhile: workers of a test run need the same ones."""
    with (cache_folder() / "jars.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def fetch_runtime(release: str) -> list[Path]:
    """The jars that run a broker of `release` and Kafka's tools, dependencies included."""
    wanted = [each.format(release) for each in _RUNTIME_ARTIFACTS]
    if int(release.split(".")[0]) >= 4:
        wanted.append(LOG4J2_BINDING)
    return _fetch_with_dependencies(release, wanted)


def fetch_application(name: str) -> list[Path]:
    """The jars that run "streams" or "connect", dependencies included."""
    wanted = APPLICATIONS[name]
    return _fetch_with_dependencies(f"{name}-{wanted[0].rpartition(':')[2]}", wanted)


def _fetch_with_dependencies(name: str, wanted: Sequence[str]) -> list[Path]:
    """The jars of the cache's `runtime/<name>/`, which appears when it is complete."""
    folder = cache_folder() / "runtime" / name
    if not folder.exists():
        with one_process_at_a_time():
            if not folder.exists():
                _bring_with_dependencies(wanted, folder)
    return sorted(folder.glob("*.jar"))


def _bring_with_dependencies(wanted: Sequence[str], folder: Path) -> None:
    """Let the folder, which is not there, have the jars of the artifacts."""
    folder.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".part-") as part:
        made = Path(part) / folder.name
        _copy_with_dependencies(wanted, made)
        made.rename(folder)


def _copy(coordinates: Sequence[str], folder: Path) -> None:
    """Let Maven copy the artifacts into `folder`."""
    items = []
    for group, artifact, version in (each.split(":") for each in coordinates):
        items.append(
            f"<artifactItem><groupId>{group}</groupId><artifactId>{artifact}</artifactId>"
            f"<version>{version}</version></artifactItem>"
        )
    pom = folder / "pom.xml"
    pom.write_text(_POM.format(plugin=_COPY_GOAL.split(":"), items="".join(items)))
    _maven(pom, coordinates, _COPY_GOAL)


def _copy_with_dependencies(coordinates: Sequence[str], folder: Path) -> None:
    """Let Maven copy the artifacts and all that they need at run time into `folder`, a new one."""
    items = []
    for group, artifact, version in (each.split(":") for each in coordinates):
        items.append(
            f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId>"
            f"<version>{version}</version></dependency>"
        )
    pom = folder.parent / "pom.xml"
    pom.write_text(_POM_OF_DEPENDENCIES.format(items="".join(items)))
    options = (f"-DoutputDirectory={folder}", "-DincludeScope=runtime")
    _maven(pom, coordinates, _COPY_ALL_GOAL, *options)


def _maven(pom: Path, coordinates: Sequence[str], *goal: str) -> None:
    """Run Maven: on its local repository alone first, so that nothing there is asked for again."""
    wanted = ", ".join(coordinates)
    if os.environ.get("KAFKA_ADMIN_PROTO_NO_FETCH") == "1":
        raise FetchError(f"not fetched, for tools/oracles/pinned.py does not list it: {wanted}")
    maven = shutil.which("mvn")
    if maven is None:
        raise ToolMissingError("mvn is not on the PATH; install Apache Maven (package `maven`)")
    for options in (["--offline"], []):
        run = subprocess.run(
            [maven, "--quiet", "--batch-mode", *options, "--file", str(pom), *goal],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            env={"MAVEN_OPTS": _MAVEN_OPTIONS, **os.environ},
        )
        if run.returncode == 0:
            return
    raise FetchError(f"mvn could not fetch {wanted}:\n{run.stdout[-2000:]}")
