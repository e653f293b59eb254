"""Regular expressions that members subscribe, and the topics that they stand for.

The topics of all regular expressions of a group are found at once, after the answer to a member
that subscribes a new one, and again when there are new topics or the last time is long ago.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from kafka_admin_proto.messages import ConsumerGroupRegularExpressionValue
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.groups.consumer.group import ConsumerGroup, subscribed
from kafka_admin_proto.server.groups.consumer.members import ConsumerMember
from kafka_admin_proto.server.groups.consumer.records import epoch_record, regex_record
from kafka_admin_proto.server.groups.shard import Shard
from kafka_admin_proto.server.patterns import Pattern, PatternError

#: Regular expressions of a group are not resolved again within this time.
_RESOLVED_MS = 10_000


def compiled(text: str) -> Pattern:
    """The pattern of a regular expression. Raises ApiFailure."""
    try:
        return Pattern(text)
    except PatternError as error:
        raise ApiFailure(
            codes.INVALID_REGULAR_EXPRESSION,
            f"SubscribedTopicRegex `{text}` is not a valid regular expression: {error}.",
        ) from None


def _matching(regex: str, names: list[str]) -> set[str]:
    """The topics that a regular expression stands for; none for one that takes too long."""
    try:
        return set(filter(compiled(regex).matches, names))
    except (ApiFailure, PatternError):
        return set()


def unresolved(
    shard: Shard, group: ConsumerGroup, before: ConsumerMember, after: ConsumerMember
) -> set[str]:
    """The regular expressions of a group whose topics are to be found once a member has changed.

    None if the last time was not long ago. Whether it was is decided by what the group has before
    the change, so that the first regular expression that a last one is changed into has to wait for
    the next heartbeat.
    """
    counts = Counter(each.regex or "" for each in group.members.values())
    old, new = before.regex or "", after.regex or ""
    is_new = bool(new) and new != old and not counts[new]
    known = next(iter(group.regexes.values()), None)
    now_ms = shard.now_ms
    if known is not None and now_ms <= known.timestamp + _RESOLVED_MS:
        return set()
    counts[old] -= 1
    counts[new] += 1
    wanted = {each for each, count in counts.items() if each and count > 0}
    if (
        known is None
        or is_new
        or len(wanted) != len(group.regexes)
        or known.version < shard.topics.version
        or now_ms > known.timestamp + shard.limits.regex_refresh_ms
    ):
        return wanted
    return set()


def resolve(
    shard: Shard, name: str, wanted: set[str], allowed: Callable[[Iterable[str]], set[str]]
) -> None:
    """Find the topics of regular expressions of a group, of those that its members still have.

    They are topics that the member which has asked may describe.
    """
    group = shard.consumer_groups.get(name)
    if group is None:
        return
    names = shard.topics.names
    matching = {each: _matching(each, names) for each in wanted if group.regex_count(each)}
    if not matching:
        return
    visible = allowed(set().union(*matching.values()))
    regexes = dict(group.regexes)
    records = []
    bumps = False
    for regex, matches in matching.items():
        topics = sorted(matches & visible)
        before = regexes.get(regex)
        bumps |= set(topics) != set(() if before is None else before.topics)
        regexes[regex] = ConsumerGroupRegularExpressionValue(
            topics, shard.topics.version, shard.now_ms
        )
        records.append(regex_record(name, regex, regexes[regex]))
    metadata_hash = shard.topics.hash(subscribed(group.members.values(), regexes))
    if bumps or metadata_hash != group.metadata_hash:
        records.append(epoch_record(name, group.epoch + 1, metadata_hash))
        group.is_outdated = False
    shard.append(records)
