"""The jars that a whole broker of a Kafka release runs with, fetched once through Maven."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from tools.jars import FetchError, ToolMissingError, cache_folder

_GOAL = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"
_POM = """\
<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>kafka-admin-proto</groupId>
  <artifactId>broker</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
    <dependency>
      <groupId>org.apache.kafka</groupId>
      <artifactId>kafka_2.13</artifactId>
      <version>{release}</version>
    </dependency>
    <dependency>
      <groupId>org.apache.kafka</groupId>
      <artifactId>kafka-tools</artifactId>
      <version>{release}</version>
    </dependency>
  </dependencies>
</project>
"""


def broker_jars(release: str) -> list[Path]:
    """Broker, command line tools and all that they depend on; raises as ``tools.jars.fetch``."""
    folder = cache_folder() / "jars" / f"broker-{release}"
    if not folder.exists():
        maven = shutil.which("mvn")
        if maven is None:
            raise ToolMissingError("mvn is not on the PATH; install Apache Maven (package `maven`)")
        with tempfile.TemporaryDirectory(dir=cache_folder(), prefix=".part-") as part:
            pom = Path(part) / "pom.xml"
            pom.write_text(_POM.format(release=release))
            done = subprocess.run(
                [maven, "-q", "-B", "-f", str(pom), _GOAL, "-DincludeScope=runtime",
                 f"-DoutputDirectory={part}/jars"],
                stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
            )  # fmt: skip
            if done.returncode:
                raise FetchError(f"mvn could not fetch a broker {release}:\n{done.stdout[-2000:]}")
            folder.parent.mkdir(exist_ok=True)
            (Path(part) / "jars").rename(folder)
    return sorted(folder.glob("*.jar"))
