"""SECURITY.md names a test for each promise, and what it says of addresses and keys is so."""

from __future__ import annotations

import inspect
import re
import subprocess
from pathlib import Path

from kafka_admin_proto.cli.server.serve import serve
from kafka_admin_proto.server import Cluster, SyncCluster
from tests.helpers.requirements import skip_or_fail

ROOT = Path(__file__).parents[2]
POLICY = (ROOT / "SECURITY.md").read_text("utf-8")


def test_each_promise_names_tests_that_there_are() -> None:
    promises = POLICY.partition("## What is promised")[2].partition("\n## ")[0].split("\n- ")[1:]
    assert len(promises) > 5
    for promise in promises:
        named = re.findall(r"`(tests/\S+?\.py)`", promise)
        assert named, promise
        assert [each for each in named if not (ROOT / each).is_file()] == []


def test_the_first_pages_lead_to_it() -> None:
    for name in ("README.md", "CONTRIBUTING.md", "docs/trust.md"):
        assert "SECURITY.md" in (ROOT / name).read_text("utf-8"), name


def test_servers_listen_on_this_machine_alone() -> None:
    hosts = [inspect.signature(each).parameters["host"].default for each in (Cluster, SyncCluster)]
    hosts += [option.default for option in serve.params if option.name == "host"]
    assert hosts == ["127.0.0.1"] * 3


#: Not in one piece: this file is in the repository, too.
_KEY = b"PRIVATE KEY" + b"-----"


def test_no_private_key_is_in_the_repository() -> None:
    if not (ROOT / ".git").exists():
        skip_or_fail("this is no checkout")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    names = [name for name in listed.stdout.decode().split("\0") if name]
    assert len(names) > 1000
    assert [name for name in names if _KEY in (ROOT / name).read_bytes()] == []
