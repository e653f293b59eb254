"""No private key is in the repository: tests make theirs in folders of their own."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.helpers.requirements import skip_or_fail

ROOT = Path(__file__).parents[3]
#: Not in one piece: this file is in the repository, too.
_KEY = b"PRIVATE KEY" + b"-----"


def test_no_private_key_is_in_the_repository() -> None:
    if not (ROOT / ".git").exists():
        skip_or_fail("this is no checkout")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    names = [name for name in listed.stdout.decode().split("\0") if name]
    assert len(names) > 1000
    assert [name for name in names if _KEY in (ROOT / name).read_bytes()] == []
