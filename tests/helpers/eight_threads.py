"""Eight threads that begin with the package at once, in a process where nothing has used it.

    python -m tests.helpers.eight_threads FOLDER      # FOLDER has definitions to load

Each thread goes through the golden vectors, messages and records in an order of its own, so that
all that is made when it is first needed (classes, codecs, fused code) is asked for by several of
them at a time. Prints the number of codecs, and whether Python ran with its global lock.
"""

from __future__ import annotations

import json
import random
import sys
import sysconfig
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Barrier
from typing import Any

from kafka_admin_proto import codec, load_schemas
from kafka_admin_proto.codec import Codec
from kafka_admin_proto.records import Batch, Record, read_records, write_batch
from kafka_admin_proto.records.batches.model import CompressionName
from kafka_admin_proto.schema.catalog import catalog

THREADS = 8
VECTORS = json.loads((Path(__file__).parents[1] / "vectors/messages.json").read_text("utf-8"))
#: Of all messages, by their order: fused code takes some milliseconds for each.
_EVERY = 12

Made = list[tuple[Codec[Any], type[Any]]]


def _vector(vector: dict[str, Any]) -> Made:
    found = codec(vector["message"], vector["version"])
    wire = bytes.fromhex(vector["wire"])
    value = found.decode(wire)
    assert found.encode(value) == wire
    assert found.from_json(json.loads(found.to_json_text(value))) == value
    return [(found, type(value))]


def _message(name: str, dialect: str) -> Made:
    found = codec(name, catalog().entry(name, dialect).versions.highest, dialect=dialect)
    value = found.value_class()
    assert found.decode(found.encode(value)) == value
    return [(found, type(found.decode(found.encode(value))))]


def _records(compression: CompressionName) -> Made:
    records = [Record(each, 0, b"key", b"x" * each) for each in range(50)]
    data = write_batch(Batch.of(records, compression=compression))
    assert read_records(data).batches[0].records == records
    return []


def _works(dialect: str) -> list[Callable[[], Made]]:
    shipped = catalog().names()[::_EVERY]
    return [
        *(partial(_vector, each) for each in VECTORS),
        *(partial(_message, name, "kafka") for name in shipped),
        *(partial(_message, name, dialect) for name in catalog().names(dialect)),
        *(partial(_records, name) for name in ("none", "gzip")),
    ]


def _run(works: list[Callable[[], Made]], start: Barrier, seed: int) -> dict[int, Made]:
    # Two threads have one order: they ask for everything at the same moment.
    order = random.Random(seed // 2).sample(range(len(works)), len(works))
    start.wait()
    return {each: works[each]() for each in order}


def main(folder: Path) -> None:
    works = _works(load_schemas(folder, dialect="loaded"))
    start = Barrier(THREADS)
    with ThreadPoolExecutor(THREADS) as pool:
        runs = list(pool.map(partial(_run, works, start), range(THREADS)))
    assert all(run == runs[0] for run in runs[1:]), "threads have codecs or classes of their own"
    has_lock = getattr(sys, "_is_gil_enabled", lambda: True)()
    # Python switches the lock on again for an extension that does not say it does without.
    assert has_lock == (not sysconfig.get_config_var("Py_GIL_DISABLED"))
    made = {found for each in runs[0].values() for found, _ in each}
    print(len(made), "codecs", "with" if has_lock else "without", "the global lock")


if __name__ == "__main__":
    sys.setswitchinterval(1e-6)
    main(Path(sys.argv[1]))
