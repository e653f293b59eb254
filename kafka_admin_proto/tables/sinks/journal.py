"""The journal of a run that puts its tables in place: it says which files go where.

The next run carries it out if this one is killed. By then anybody who may write to the folder may
have changed it, so each name has to be one that a run gives: nothing else is moved or removed.
"""

from __future__ import annotations

import re
from collections.abc import Container
from pathlib import Path

import msgspec

from kafka_admin_proto.kept_files import KeptFileError, read_kept_json, refuse_links
from kafka_admin_proto.structs import decodable
from kafka_admin_proto.tables.sinks.origin import Origin
from kafka_admin_proto.tables.sinks.workspace import STAGING

JOURNAL = ".journal.json"
#: A batch names some dozen files; a hundred thousand names fit.
_MOST_BYTES = 16 << 20
_STAGING_NAME = re.compile(rf"{re.escape(STAGING)}[0-9a-f]{{12}}")
_DATA_FILE = re.compile(r"[^/._\0][^/\0]{0,200}\.parquet")


@decodable
class Journal(msgspec.Struct, frozen=True):
    """``staging`` is the folder of the run, and ``marker`` what the tables are made of then.

    Names are relative to the folder of the tables. Each of ``removes`` is the file of a table; each
    of ``moves`` leads from the folder of the run to a table, or to a file of it.
    """

    staging: str
    moves: list[tuple[str, str]]
    removes: list[str]
    marker: Origin


def read_journal(folder: Path, tables: Container[str]) -> Journal:
    """The journal in the folder of these tables.

    Raises KeptFileError, before anything is moved, for a journal that no run writes, and for links
    where it leads.
    """
    path = folder / JOURNAL
    journal = read_kept_json(path, Journal, _MOST_BYTES)
    strange = _strange_name(journal, tables)
    if strange is not None:
        raise KeptFileError(
            path,
            f"is none of the pipeline's, as it names {strange[:100]!r}",
            "nothing was moved or removed; name another folder, or remove this one",
        )
    refuse_links(folder / journal.staging)
    return journal


def _strange_name(journal: Journal, tables: Container[str]) -> str | None:
    """The first name that no run gives."""
    if not _STAGING_NAME.fullmatch(journal.staging):
        return journal.staging
    for name in journal.removes:
        if "/" not in name or not _is_in_tables(name, tables):
            return name
    staged = f"{journal.staging}/tables/"
    for source, target in journal.moves:
        if not _is_in_tables(target, tables):
            return target
        place = source.removeprefix(staged)
        if place == source or not _is_in_tables(place, tables) or ("/" in place) != ("/" in target):
            return source
    return None


def _is_in_tables(name: str, tables: Container[str]) -> bool:
    """Whether a name is that of a table, or of a data file in the folder of one."""
    table, found, file = name.partition("/")
    return table in tables and (not found or _DATA_FILE.fullmatch(file) is not None)
