"""The README and the pages whose blocks all run are run as a newcomer reads them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kafka_admin_proto.schema.catalog import catalog
from tests.docs.pages import DOCS, ROOT, run_page
from tests.docs.test_blocks import RUN_WHOLE
from tests.helpers.every_message import EVERY
from tests.helpers.requirements import require_oracle
from tools.site.pages.code_blocks import code_blocks
from tools.site.pictures import message_bytes

README = ROOT / "README.md"
_AUTHORIZER = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
#: The clusters of pages that need another than a plain one.
CLUSTERS: dict[str, dict[str, Any]] = {
    "admin.md": {
        "brokers": 4,
        "configs": {"authorizer.class.name": _AUTHORIZER, "super.users": "User:ANONYMOUS"},
    }
}


@pytest.mark.parametrize("name", sorted(RUN_WHOLE))
def test_the_page_runs(name: str, tmp_path: Path) -> None:
    run_page(DOCS / name, tmp_path, **CLUSTERS.get(name, {}))


def test_the_readme_runs(tmp_path: Path) -> None:
    run_page(README, tmp_path)
    languages = [each.language for each in code_blocks(README.read_text("utf-8"))]
    assert languages == ["sh", "python", "console"]


def test_the_readmes_numbers() -> None:
    counts = f"{len(catalog().names())} messages, {len(EVERY)} versions"
    assert counts in README.read_text("utf-8")


def test_the_readmes_picture() -> None:
    """``python -m tools.site.pictures.message_bytes`` writes it anew."""
    assert message_bytes.FILE.read_text("utf-8") == message_bytes.create_topics().standalone()


REAL_BROKER = DOCS / "real-broker.md"
#: What the page writes for the address of its broker.
SHOWN = "127.0.0.1:24225"


@pytest.mark.exhaustive
def test_the_page_of_a_real_broker_runs(tmp_path: Path) -> None:
    require_oracle()
    (start,) = [each for each in code_blocks(REAL_BROKER.read_text("utf-8")) if each.title]
    file = tmp_path / start.title
    file.write_text(start.text, "utf-8")
    folder = tmp_path / "page"
    folder.mkdir()
    with subprocess.Popen(
        [sys.executable, file],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as broker:  # fmt: skip
        try:
            assert broker.stdout is not None
            address = broker.stdout.readline().strip()
            run_page(REAL_BROKER, folder, {SHOWN: address})
            broker.communicate("\n", timeout=60)
        finally:
            broker.terminate()
    assert broker.returncode == 0
