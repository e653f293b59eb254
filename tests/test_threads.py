"""Threads that use the package at the same moment: one codec and class of each, and right bytes.

``make test-threads`` runs this with a Python that has no global lock.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.helpers.processes import python

ROOT = Path(__file__).parents[1]
LOADED = ("CreateTopicsRequest", "FetchResponse", "MetadataResponse", "VoteRequest")


def test_eight_threads_share_what_is_made_when_it_is_first_needed(tmp_path: Path) -> None:
    """In a process of its own: in this one other tests have made it all."""
    for name in LOADED:
        shutil.copy(ROOT / f"schemas/kafka/{name}.json", tmp_path)
    done = python("-m", "tests.helpers.eight_threads", tmp_path, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[0]) > len(LOADED) + 30
