"""``meta.properties``, which names the cluster and the node of a folder."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID, uuid4

import msgspec

from kafka_admin_proto.errors import MetadataLogError
from kafka_admin_proto.kept_files import read_kept
from kafka_admin_proto.server.log import files
from kafka_admin_proto.topic_ids import topic_id_from_text, topic_id_to_text

_META = "meta.properties"
_MOST_BYTES = 1 << 20
_NODE_IDS = range(1 << 31)


class MetaProperties(msgspec.Struct, frozen=True):
    """The contents of ``meta.properties``."""

    cluster_id: str
    node_id: int
    directory_id: UUID


def read_meta(folder: Path) -> MetaProperties | None:
    """The folder's ``meta.properties``, or None. Raises MetadataLogError, KeptFileError."""
    try:
        text = read_kept(folder / _META, _MOST_BYTES).decode()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise _unreadable(folder, error) from None
    lines = (line for line in text.splitlines() if line and not line.startswith("#"))
    rows = {name.strip(): value.strip() for name, _, value in (x.partition("=") for x in lines)}
    try:
        directory = rows.get("directory.id")
        return MetaProperties(
            rows["cluster.id"],
            _node_id(rows["node.id"]),
            uuid4() if directory is None else topic_id_from_text(directory),
        )
    except (KeyError, ValueError) as error:
        raise _unreadable(folder, error) from None


def _node_id(text: str) -> int:
    if not text.isdecimal() or int(text) not in _NODE_IDS:
        raise ValueError(f"node.id is {text[:20]!r}, and no id of a node")
    return int(text)


def write_meta(folder: Path, meta: MetaProperties) -> None:
    text = (
        f"version=1\ncluster.id={meta.cluster_id}\nnode.id={meta.node_id}\n"
        f"directory.id={topic_id_to_text(meta.directory_id)}\n"
    )
    files.replace(folder / _META, text.encode())


def _unreadable(folder: Path, error: Exception) -> MetadataLogError:
    return MetadataLogError(
        f"{folder / _META} does not read: {error}", "cluster.id, node.id and directory.id"
    )
