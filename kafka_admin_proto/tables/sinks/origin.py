"""What tables are made of: a file beside Parquet tables says it, or a property of Delta's."""

from __future__ import annotations

import msgspec

from kafka_admin_proto.structs import decodable
from kafka_admin_proto.tables.sinks.workspace import OutputError

#: The file beside Parquet tables.
MARKER = "_pipeline.json"
#: Said of tables that no option replaces.
KEPT = "as --overwrite does not replace them"


@decodable
class Origin(msgspec.Struct, frozen=True, omit_defaults=True):
    """The layout of tables, how they are made, and of what; ``batch`` is a stream's last one."""

    format: int
    mode: str
    inputs: list[str]
    batch: int = -1


def refuse_others(out: str, found: Origin, wanted: Origin, *, overwrite: bool) -> None:
    """Raise OutputError where tables are of another layout, mode or input than those wanted."""
    shown = {"format": str(found.format), "mode": found.mode, "inputs": ", ".join(found.inputs)}
    for name, value in shown.items():
        if getattr(found, name) == getattr(wanted, name) or (name != "mode" and overwrite):
            continue
        helps = name != "mode" and wanted.mode == "batch"
        remedy = "or --overwrite them" if helps else KEPT
        raise OutputError(
            f"{out} has tables of another {name.removesuffix('s')} ({value}): name another folder, "
            f"{remedy}"
        )
