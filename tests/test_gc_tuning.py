"""Processes of servers, and those that read captures, reuse the memory of large blocks."""

from __future__ import annotations

import platform

import pytest

from tests.helpers.processes import python

_COUNT = """
import resource, sys
from kafka_admin_proto import gc_tuning

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(100):
        answer = [b"x" * (1 << 20) for _ in range(3)]
        del answer
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

getattr(gc_tuning, sys.argv[1])()
faults()
print(faults())
"""


@pytest.mark.parametrize("tune", ["tune_for_server", "tune_gc"])
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another allocator")
def test_large_answers_take_no_new_pages(tune: str) -> None:
    found = python("-c", _COUNT, tune, check=True)
    assert int(found.stdout) < 10_000  # 48,000 with new pages for each answer
