"""Which versions of which apis each Kafka release takes: ``schemas/releases.json``.

Run as ``python -m tools.definitions.releases``. Reads the definitions of requests out of
``kafka-clients`` of the last patch of each minor release (Maven Central, by coordinates). A version
that is still being developed there (``latestVersionUnstable``) does not count.
"""

from __future__ import annotations

import argparse
import json
import re
import zipfile
from pathlib import Path

import msgspec

from kafka_admin_proto.protocol.releases import Release
from kafka_admin_proto.schema.versions import VersionRange
from tools.oracles import jars

SCHEMAS = Path(__file__).parents[2] / "schemas"
#: The first is the oldest release whose messages all have definitions.
RELEASES = (
    "2.8.2", "3.0.2", "3.1.2", "3.2.3", "3.3.2", "3.4.1", "3.5.2", "3.6.2", "3.7.2", "3.8.1",
    "3.9.2", "4.0.1", "4.1.2", "4.2.1", "4.3.1", "4.4.0",
)  # fmt: skip
_TEXT_OR_COMMENT = re.compile(r'("(?:[^"\\]|\\.)*")|//.*')


def read_release(patch: str) -> Release:
    """The release of that jar; raises FetchError or ToolMissingError."""
    (jar,) = jars.fetch(patch, ["kafka-clients"])
    versions, deprecated = {}, {}
    with zipfile.ZipFile(jar) as archive:
        for entry in sorted(archive.namelist()):
            if not re.fullmatch(r"common/message/\w+Request\.json", entry):
                continue
            # `read_message` would refuse old releases, which break some of today's rules.
            text = _TEXT_OR_COMMENT.sub(r"\1", archive.read(entry).decode())
            spec, _ = json.JSONDecoder().raw_decode(text.strip())
            taken = VersionRange.parse(spec["validVersions"])
            if spec.get("latestVersionUnstable"):
                taken = VersionRange(taken.lowest, taken.highest - 1)
            if taken.empty:
                continue
            versions[spec["apiKey"]] = str(taken)
            old = VersionRange.parse(spec.get("deprecatedVersions", "none"))
            if not old.empty:
                deprecated[spec["apiKey"]] = str(old)
    return Release(
        patch=patch,
        versions=dict(sorted(versions.items())),
        deprecated=dict(sorted(deprecated.items())),
    )


def main() -> None:
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    found = [read_release(patch) for patch in RELEASES]
    text = msgspec.json.format(msgspec.json.encode(found), indent=1).decode()
    (SCHEMAS / "releases.json").write_text(text + "\n", "utf-8")
    print(f"{len(found)} releases written")


if __name__ == "__main__":
    main()
