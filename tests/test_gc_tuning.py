"""A server's process reuses the memory of its large answers."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

_COUNT = """
import resource
from kafka_admin_proto.gc_tuning import tune_for_server

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(100):
        answer = [b"x" * (1 << 20) for _ in range(3)]
        del answer
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

tune_for_server()
faults()
print(faults())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another allocator")
def test_large_answers_take_no_new_pages() -> None:
    found = subprocess.run(
        [sys.executable, "-c", _COUNT], capture_output=True, text=True, check=True, timeout=30
    )
    assert int(found.stdout) < 10_000  # 48,000 with new pages for each answer
