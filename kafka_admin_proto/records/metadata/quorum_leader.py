"""Find the leader of the metadata quorum, which is the active controller.

A leader writes a control record LEADER_CHANGE when its epoch begins. Each node keeps the newest
epoch that it knows in a file ``quorum-state`` beside the segments, even if it has no record of that
epoch yet (``QuorumStateData`` in Kafka).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import msgspec

from kafka_admin_proto.errors import DecodeError, MetadataLogError
from kafka_admin_proto.messages import LeaderChangeMessage
from kafka_admin_proto.records.batches.control import read_control_record
from kafka_admin_proto.records.batches.model import Batch
from kafka_admin_proto.structs import decodable
from kafka_admin_proto.wire.types.blobs import replace_invalid_utf8

#: The file's name in the folder of the log.
QUORUM_STATE: Literal["quorum-state"] = "quorum-state"
#: Kafka writes some 200 bytes. The file may be longer than memory, and cost no disk.
_MOST_BYTES = 1 << 20
_INT32 = (1 << 31) - 1


class Leader(msgspec.Struct, frozen=True):
    """The leader of an epoch; ``id`` is None if the epoch has no known leader.

    ``offset`` is that of the LEADER_CHANGE record, None if the leader is from the file.
    """

    id: int | None
    epoch: int
    source: Literal["LEADER_CHANGE", "quorum-state"]
    offset: int | None = None


@decodable
class _QuorumState(msgspec.Struct):
    leader_id: Annotated[int, msgspec.Meta(ge=-1, le=_INT32)] = msgspec.field(name="leaderId")
    leader_epoch: Annotated[int, msgspec.Meta(ge=-1, le=_INT32)] = msgspec.field(name="leaderEpoch")


def leader_in(batch: Batch, at: int | None = None) -> Leader | None:
    """The last leader that the LEADER_CHANGE records of a batch name, up to offset ``at``.

    A record that does not decode is skipped here: the replay of the log reports it.
    """
    leader = None
    for record in batch.records if batch.is_control else ():
        if at is not None and record.offset > at:
            break
        try:
            message = read_control_record(record.key, record.value).message
        except DecodeError:
            continue
        if isinstance(message, LeaderChangeMessage):
            epoch = batch.partition_leader_epoch
            leader = Leader(message.leader_id, epoch, "LEADER_CHANGE", record.offset)
    return leader


def read_quorum_state(path: Path) -> Leader | None:
    """Read the file ``quorum-state``; None if there is none. Raises MetadataLogError."""
    try:
        with open(path, "rb") as file:
            state = msgspec.json.decode(file.read(_MOST_BYTES), type=_QuorumState)
    except FileNotFoundError:
        return None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise MetadataLogError(
            f"{replace_invalid_utf8(path.name)} does not read: {error}",
            "JSON with leaderId and leaderEpoch",
        ) from None
    known = state.leader_id if state.leader_id >= 0 else None
    return Leader(known, state.leader_epoch, QUORUM_STATE)
