"""Voters with one rule broken, by name: the invariants have to find each of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from kafka_admin_proto.simulation.quorum.fetching import Fetching
from kafka_admin_proto.simulation.quorum.folder import MetadataFolder, MetadataLog
from kafka_admin_proto.simulation.quorum.followers import Followers
from kafka_admin_proto.simulation.quorum.state import NOBODY, QuorumState, Saved
from kafka_admin_proto.simulation.quorum.voter import Voter
from kafka_admin_proto.topic_ids import METADATA_TOPIC_ID


class Mutant(NamedTuple):
    """A method of a class, and what stands in its place."""

    of: type
    method: str
    broken: Callable[..., Any] | property


def _grants_again(state: QuorumState, asked: Any, is_up_to_date: bool) -> bool:
    return is_up_to_date and state.role in ("unattached", "candidate")


def _forgets_votes(folder: MetadataFolder, saved: Saved) -> None:
    _SAVE(folder, saved._replace(voted_id=NOBODY))


def _forgets_leading(state: QuorumState, saved: Saved) -> None:
    state.epoch = saved.epoch


def _commits_alone(followers: Followers, log: MetadataLog) -> bool:
    rose = log.end.offset > followers.high_watermark
    followers.high_watermark = log.end.offset
    return rose


def _knows_own_only(fetching: Fetching, topic_id: Any) -> int:
    return 0 if topic_id == fetching._voter.topic_id else 100


_SAVE = MetadataFolder.save

MUTANTS: dict[str, Mutant] = {
    "two votes in an epoch": Mutant(QuorumState, "may_grant", _grants_again),
    "votes not saved": Mutant(MetadataFolder, "save", _forgets_votes),
    "leader forgets its epoch": Mutant(QuorumState, "_restore", _forgets_leading),
    "logs not compared": Mutant(QuorumState, "is_up_to_date", lambda *_: True),
    "epochs ignored": Mutant(QuorumState, "is_stale", lambda *_: False),
    "one vote is enough": Mutant(Voter, "is_majority", lambda voter, votes: votes >= 1),
    "leader commits alone": Mutant(Followers, "advance", _commits_alone),
    "log never cut": Mutant(MetadataLog, "cut_to", lambda *_: None),
    "elections not repeated": Mutant(Voter, "_back_off", lambda _: None),
    "candidates hold up others": Mutant(Voter, "keeps_waiting", lambda *_: False),
    "sentinel assigned": Mutant(Voter, "new_topic_id", lambda _: METADATA_TOPIC_ID),
    "an id from each leader": Mutant(Fetching, "needs_topic_id", lambda _: True),
    "id used before it is committed": Mutant(
        Voter,
        "topic_id",
        property(lambda voter: voter.fetching.log.assigned_topic_id or METADATA_TOPIC_ID),
    ),
    "sentinel not understood": Mutant(Fetching, "knows", _knows_own_only),
}
