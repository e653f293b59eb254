"""Threads that use the package at the same moment: one codec and class of each, and right bytes.

``make test-threads`` runs this with a Python that has no global lock.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOADED = ("CreateTopicsRequest", "FetchResponse", "MetadataResponse", "VoteRequest")


def test_eight_threads_share_what_is_made_when_it_is_first_needed(tmp_path: Path) -> None:
    """In a process of its own: in this one other tests have made it all."""
    for name in LOADED:
        shutil.copy(ROOT / f"schemas/kafka/{name}.json", tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "tests.helpers.eight_threads", str(tmp_path)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[0]) > len(LOADED) + 30
