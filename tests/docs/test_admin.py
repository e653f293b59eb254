"""The examples of ``docs/admin.md``, in order, on a cluster of four brokers with ACLs."""

from __future__ import annotations

from pathlib import Path

from tests.docs.pages import DOCS, run_page

_AUTHORIZER = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"


def test_the_page_runs(tmp_path: Path) -> None:
    configs = {"authorizer.class.name": _AUTHORIZER, "super.users": "User:ANONYMOUS"}
    run_page(DOCS / "admin.md", tmp_path, brokers=4, configs=configs)
