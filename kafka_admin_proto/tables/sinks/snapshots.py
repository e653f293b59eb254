"""The data files that a table has now, whichever sink has written it."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from pyarrow import fs

from kafka_admin_proto.errors import MissingExtraError
from kafka_admin_proto.tables.sinks.data_files import Location

#: Schemes of the object stores that delta-rs reaches.
_DELTA_STORES = ("s3", "s3a", "gs", "abfs", "abfss", "az")


def snapshot_names(out: Location, table: str) -> list[str] | None:
    """The names of a table's data files in its folder; None where there is no table.

    Of a Delta table it is the newest snapshot, whatever is written later. Raises MissingExtraError
    where a Delta table needs delta-rs.
    """
    if _may_be_delta(out, table):
        from kafka_admin_proto.tables.sinks.delta import file_names, open_table

        found = open_table(out, table)
        if found is not None:
            return file_names(found)
    system, folder = out.folder(table)
    listed = system.get_file_info(fs.FileSelector(folder, allow_not_found=True))
    return sorted(each.base_name for each in listed if _is_data_file(each)) or None


def _may_be_delta(out: Location, table: str) -> bool:
    if out.is_local and not (Path(out.uri) / table / "_delta_log").exists():
        return False
    if not out.is_local and out.uri.partition("://")[0] not in _DELTA_STORES:
        return False
    installed = importlib.util.find_spec("deltalake") is not None
    if out.is_local and not installed:
        raise MissingExtraError(
            f"{out.uri} has Delta tables: pip install 'kafka-admin-proto[delta]'"
        )
    return installed


def _is_data_file(file: fs.FileInfo) -> bool:
    return file.is_file and file.base_name[:1] not in ("_", ".") and file.extension == "parquet"
