"""A single text is no collection of texts, anywhere that callers give one.

The admin client's operations are held by `tests/admin/test_arguments.py`.
"""

from __future__ import annotations

import inspect
import pkgutil
import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import kafka_admin_proto
from kafka_admin_proto.admin import write_reassignment, write_topics_to_move
from kafka_admin_proto.capture import FrameDecoder, read_captures
from kafka_admin_proto.capture.sources import read_frames
from kafka_admin_proto.errors import SettingsError
from kafka_admin_proto.placement import count_moves, place_new, regenerate
from kafka_admin_proto.proxy import Proxy, SyncProxy
from kafka_admin_proto.server import Cluster, SyncCluster
from kafka_admin_proto.server.inspection.stored_records import produce
from kafka_admin_proto.simulation.broker import Disk, FolderDisk
from kafka_admin_proto.testing import Authority

#: It has no files: the hosts are looked at first.
_NO_AUTHORITY = object.__new__(Authority)
#: The records are looked at before the state is.
_NO_STATE: Any = None
#: Function → a call with the text in the place of its collection.
CALLS: dict[str, Callable[[Any], Any]] = {
    "admin.write_reassignment": write_reassignment,
    "admin.write_topics_to_move": write_topics_to_move,
    "capture.read_captures": read_captures,
    "capture.sources.read_frames": lambda names: list(read_frames(names, FrameDecoder())),
    "placement.count_moves": lambda current: count_moves(current, [[1]]),
    "placement.place_new": lambda fixed: place_new({1: None}, 1, 1, fixed=fixed),
    "placement.regenerate": lambda current: regenerate({1: None}, current),
    "proxy.Proxy": lambda filters: Proxy("a:1", filters),
    "proxy.SyncProxy": lambda observers: SyncProxy("a:1", observers=observers),
    "server.Cluster.produce": lambda records: produce(_NO_STATE, "orders", records),
    "server.SyncCluster.produce": lambda records: produce(_NO_STATE, "orders", records),
    "server.Cluster": lambda racks: Cluster(2, racks=racks),
    "server.SyncCluster": lambda racks: SyncCluster(2, racks=racks),
    "simulation.broker.Disk": Disk,
    "simulation.broker.FolderDisk": FolderDisk,
    "testing.Authority.issue": lambda hosts: Authority.issue(_NO_AUTHORITY, "name", hosts=hosts),
}
#: Public, and held by ``test_of_spark``, which needs its extra.
_SPARK = {"tables.queries.StoredTable.batches", "tables.queries.StoredTable.rows"}
#: Collections of texts, and of what a text's letters would be taken for.
_COLLECTION = re.compile(
    r"(Iterable|Sequence|Collection|list|set)\[(str|NewRecord|object|Observer|PartitionReplicas"
    r"|Sequence\[int)"
)


def takes_texts(function: Any) -> bool:
    try:
        given = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    annotations = (str(each.annotation) for each in given)
    return any(not each.startswith("str |") and _COLLECTION.search(each) for each in annotations)


def public_functions() -> set[str]:
    """Public functions, classes and methods that take a collection of texts."""
    found = set()
    prefix = f"{kafka_admin_proto.__name__}."
    for module in pkgutil.walk_packages(kafka_admin_proto.__path__, prefix):
        room = module.name.removeprefix(prefix)
        if not module.ispkg or room.split(".")[0] in ("cli", "messages"):
            continue
        package = import_module(module.name)
        for name in getattr(package, "__all__", ()):
            public = getattr(package, name)
            if room.startswith("admin") and inspect.isclass(public):
                continue
            methods = vars(public) if inspect.isclass(public) else {}
            own = {f"{name}.{each}": method for each, method in methods.items() if each[0] != "_"}
            found |= {
                f"{room}.{each}" for each, f in {name: public, **own}.items() if takes_texts(f)
            }
    return found


def test_all_public_functions_are_here() -> None:
    pytest.importorskip("pyspark")
    assert public_functions() <= CALLS.keys() | _SPARK


@pytest.mark.parametrize("wrong", ["ab", b"ab"], ids=repr)
@pytest.mark.parametrize("name", CALLS)
def test_a_single_text_is_refused(name: str, wrong: object) -> None:
    kind = SettingsError if name.endswith("Cluster") else TypeError
    with pytest.raises(kind, match=r"expected a collection.*, got .*; put a single one into a"):
        CALLS[name](wrong)


def test_of_spark(tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    from kafka_admin_proto.spark.stream.tables import run_stream
    from kafka_admin_proto.tables.ingest.files import list_files
    from kafka_admin_proto.tables.pipeline import run_batch
    from kafka_admin_proto.tables.queries import StoredTable
    from kafka_admin_proto.tables.sinks.delta import DeltaSink
    from kafka_admin_proto.tables.sinks.parquet import ParquetSink

    wrong: Any = "ab"
    nothing: Any = None
    table = StoredTable.__new__(StoredTable)
    calls: list[Callable[[], object]] = [
        lambda: list_files(wrong),
        lambda: table.rows(wrong),
        lambda: table.batches(wrong),
        lambda: DeltaSink(str(tmp_path), {}, work=tmp_path, mode="batch", inputs=wrong),
        lambda: ParquetSink(tmp_path, {}, mode="batch", inputs=wrong),
        lambda: run_batch(nothing, wrong, nothing),
        lambda: run_stream(nothing, wrong, nothing),
    ]
    for call in calls:
        with pytest.raises(TypeError, match="expected a collection, got str; put a single one"):
            call()
