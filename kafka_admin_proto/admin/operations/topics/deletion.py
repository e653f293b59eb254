"""Deleting topics, and waiting until no broker has them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from uuid import UUID

import msgspec

from kafka_admin_proto.admin.alter.instructions import Duplicates, once_each
from kafka_admin_proto.admin.caller import Caller, Target
from kafka_admin_proto.admin.operations.common.failures import (
    Failure,
    failure,
    failure_of,
    note_lost_answer,
    unanswered,
)
from kafka_admin_proto.admin.operations.common.item_retries import retry_batches
from kafka_admin_proto.admin.operations.common.metadata import (
    metadata_of_ids,
    metadata_of_names,
    slices,
    topic_id_text,
    topic_uuid,
)
from kafka_admin_proto.admin.operations.common.timeouts import (
    REQUEST_TIMED_OUT,
    taken,
    triggers_only,
    waiting_time,
    wire_timeout_ms,
)
from kafka_admin_proto.admin.operations.common.waiting import Missing, in_metadata, wait_for_results
from kafka_admin_proto.admin.retry import Deadline
from kafka_admin_proto.messages import DeleteTopicsRequest
from kafka_admin_proto.messages.delete_topics_response import (
    DeletableTopicResult,
    DeleteTopicsResponse,
)
from kafka_admin_proto.messages.metadata_response import MetadataResponseTopic
from kafka_admin_proto.protocol import api_keys
from kafka_admin_proto.schema.versions import MAX_VERSION, VersionRange
from kafka_admin_proto.topic_ids import ZERO_TOPIC_ID

#: Since this version of DeleteTopics topics may be named by their ids.
_BY_ID = 6
#: The errors of a topic that does not exist.
_ABSENT = frozenset({"UNKNOWN_TOPIC_OR_PARTITION", "UNKNOWN_TOPIC_ID"})


class DeletedTopic(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one topic.

    ``repeated`` says that the answer to an earlier attempt was lost, ``message`` what was found.
    ``complete`` says whether no broker knew the topic any more in time; None where that was not
    waited for. ``missing`` names the brokers that still did.
    """

    name: str | None
    topic_id: str | None = None
    error: str | None = None
    message: str | None = None
    repeated: bool = False
    complete: bool | None = None
    missing: list[Missing] = []


class _TopicToDelete(msgspec.Struct, frozen=True):
    """A topic to delete, its name or id None where not known. ``known``: a broker had it before."""

    name: str | None
    topic_id: UUID | None
    known: bool


class DeleteTopics(Caller):
    """DeleteTopics."""

    async def delete_topics(
        self,
        names: Iterable[str] = (),
        *,
        topic_ids: Iterable[str | UUID] = (),
        if_exists: bool = False,
        duplicates: Duplicates = "refuse",
        timeout: float | None = None,
    ) -> list[DeletedTopic]:
        """Delete topics by name or by id, each of them on its own.

        With a ``timeout`` (seconds) above 0 the call waits until no live broker knows the topics,
        or says which one still did when the time was over. With 0 or less it returns as soon as
        the controller has taken the request. ``if_exists``: a topic that is not there is no error.

        A topic given by name is deleted by the id that it had at first, where brokers have ids:
        a second attempt, after a lost answer, cannot hit a new topic of the same name.

        A topic that is named twice raises InstructionError; with ``duplicates="last"`` it is
        deleted once. So does a text that is no topic id.
        Raises what ``Caller.call`` raises.
        """
        asked: list[str | UUID] = once_each(
            [*names, *map(topic_uuid, topic_ids)], str, duplicates=duplicates, what="delete"
        )
        timeout, deadline = waiting_time(self, timeout)
        items = once_each(
            await _resolved(self, asked, deadline),
            lambda each: each.name or str(each.topic_id),
            duplicates=duplicates,
            what="delete",
        )
        trigger = await triggers_only(self, timeout)
        spoken = await self.versions(Target.CONTROLLER, timeout=deadline.left)
        by_id = _BY_ID in spoken.get(api_keys.DELETE_TOPICS, VersionRange.NONE)
        results = await _delete(self, items, by_id=by_id, trigger=trigger, deadline=deadline)
        # The id is an older topic's where the broker did not have the newest one of that name yet.
        stale = [
            item
            for item, result in results.items()
            if by_id and result.error == "UNKNOWN_TOPIC_ID" and not result.repeated
            and item.name in asked
        ]  # fmt: skip
        again = await _delete(
            self, [_without_id(item) for item in stale],
            by_id=by_id, trigger=trigger, deadline=deadline,
        )  # fmt: skip
        for item in stale:
            results[item] = again[_without_id(item)]
        checked = [_check_absent(results[item], item, if_exists) for item in items]
        if timeout <= 0:
            return checked
        deleted = {each.name: each for each in checked if each.name is not None}

        def missing(name: str, topic: MetadataResponseTopic | None) -> Iterator[Missing]:
            gone = deleted[name].topic_id
            if topic is not None and (not gone or topic_id_text(topic.topic_id) in (None, gone)):
                yield Missing(name, f"topic {name!r} is still known")

        find = in_metadata(self, missing)
        done = await wait_for_results(
            self, deleted, find, deadline, done="deleted", unless=REQUEST_TIMED_OUT
        )
        return [each if each.name is None else done[each.name] for each in checked]


async def _resolved(
    caller: Caller, asked: Sequence[str | UUID], deadline: Deadline
) -> list[_TopicToDelete]:
    """Names with the ids that they have now, and ids with their names."""
    named = [each for each in asked if isinstance(each, str)]
    by_name = await metadata_of_names(caller, named, timeout=deadline.left)
    by_id = await metadata_of_ids(
        caller, [each for each in asked if isinstance(each, UUID)], timeout=deadline.left
    )
    return [
        _TopicToDelete(by_id[each].name if each in by_id else None, each, each in by_id)
        if isinstance(each, UUID)
        else _TopicToDelete(
            each, _nonzero(by_name[each].topic_id) if each in by_name else None, each in by_name
        )
        for each in asked
    ]


async def _delete(
    caller: Caller,
    items: Sequence[_TopicToDelete],
    *,
    by_id: bool,
    trigger: bool,
    deadline: Deadline,
) -> dict[_TopicToDelete, DeletedTopic]:
    versions = VersionRange(_BY_ID, MAX_VERSION) if by_id else VersionRange(0, _BY_ID - 1)

    async def attempt(
        some: list[_TopicToDelete], left: float
    ) -> dict[_TopicToDelete, DeletedTopic]:
        request = DeleteTopicsRequest(timeout_ms=0 if trigger else wire_timeout_ms(left))
        if by_id:
            request.topics = [_state(item) for item in some]
        else:
            request.topic_names = [item.name for item in some if item.name is not None]
        reply = await caller.call(
            request, DeleteTopicsResponse, to=Target.CONTROLLER, timeout=left, versions=versions
        )
        by_key: dict[str | UUID | None, DeletableTopicResult] = {}
        for answer in reply.body.responses:
            by_key[answer.name] = by_key[answer.topic_id] = answer
        return {
            item: _deleted(
                by_key.get(item.topic_id if by_id and item.topic_id else item.name),
                item,
                repeated=reply.maybe_repeated,
                trigger=trigger,
            )
            for item in some
        }

    usable = items if by_id else [item for item in items if item.name is not None]
    results = await retry_batches(
        caller,
        slices(usable),
        attempt,
        lambda item, error: _failed(item, failure_of(error)),
        deadline=deadline,
    )
    unknown = Failure(error="UNKNOWN_TOPIC_ID", message="no broker knows a topic of this id")
    return {item: results.get(item) or _failed(item, unknown) for item in items}


def _failed(item: _TopicToDelete, why: Failure, *, repeated: bool = False) -> DeletedTopic:
    """The result of a topic without an answer: one that was asked for by id may have no name."""
    topic_id = None if item.topic_id is None else topic_id_text(item.topic_id)
    return DeletedTopic(name=item.name, topic_id=topic_id, **why, repeated=repeated)


def _nonzero(topic_id: UUID | None) -> UUID | None:
    return None if topic_id == ZERO_TOPIC_ID else topic_id


def _without_id(item: _TopicToDelete) -> _TopicToDelete:
    return _TopicToDelete(item.name, None, item.known)


def _state(item: _TopicToDelete) -> DeleteTopicsRequest.DeleteTopicState:
    if item.topic_id is None:
        return DeleteTopicsRequest.DeleteTopicState(name=item.name)
    return DeleteTopicsRequest.DeleteTopicState(topic_id=item.topic_id)


def _deleted(
    answer: DeletableTopicResult | None, item: _TopicToDelete, *, repeated: bool, trigger: bool
) -> DeletedTopic:
    if answer is None:
        return _failed(item, unanswered("topic"), repeated=repeated)
    topic_id = _nonzero(answer.topic_id) or item.topic_id
    return DeletedTopic(
        name=answer.name if item.name is None else item.name,
        topic_id=None if topic_id is None else topic_id_text(topic_id),
        **taken(failure(answer.error_code, answer.error_message), trigger),
        repeated=repeated,
    )


def _check_absent(result: DeletedTopic, item: _TopicToDelete, if_exists: bool) -> DeletedTopic:
    """An absent topic is no error if an earlier attempt may have deleted it, or if the caller
    allows it.
    """
    if result.error not in _ABSENT:
        return result
    if result.repeated and item.known:
        note = (
            "the answer to an earlier attempt was lost; the topic was there before this call and "
            "is not now: that attempt deleted it, or another client did at the same time"
        )
        return msgspec.structs.replace(result, error=None, message=note)
    if if_exists:
        return msgspec.structs.replace(result, error=None, message="there was no such topic")
    # No broker is known to have had it; a broker without a new topic yet answers the same.
    why = Failure(error=result.error, message=result.message)
    why = note_lost_answer(why, result.repeated, result.error or "")
    return msgspec.structs.replace(result, **why)
