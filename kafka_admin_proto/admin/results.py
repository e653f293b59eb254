"""Results of operations on several items, where one that failed is to be an exception."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

from msgspec import Struct

from kafka_admin_proto.admin.errors import ItemsFailedError
from kafka_admin_proto.arguments import Buffer
from kafka_admin_proto.counts import counted

_T = TypeVar("_T")

#: Items that an error message names.
_NAMED = 10


def raise_for_errors(results: _T) -> _T:
    """The results of an operation, as they are; raises ItemsFailedError where one has an ``error``.

    That counts for results within results too: the partitions of a topic, the ACLs that a filter
    found, the brokers that could not be asked. Raises TypeError for a generator: reading it would
    leave nothing to return.
    """
    failed = list(_failed(results))
    if not failed:
        return results
    named = "; ".join(map(_sentence, failed[:_NAMED]))
    more = f"; and {len(failed) - _NAMED} more" if len(failed) > _NAMED else ""
    count = f"{counted(len(failed), 'items')} failed"
    raise ItemsFailedError(f"{count}: {named}{more}", failed=failed)


def _failed(results: object) -> Iterator[Struct]:
    if isinstance(results, Struct):
        if getattr(results, "error", None) is not None:
            yield results
            return
        results = [getattr(results, name) for name in results.__struct_fields__]
    elif isinstance(results, Mapping):
        results = results.values()
    elif isinstance(results, Iterator):
        raise TypeError(f"results: a {type(results).__name__} is read only once; list it")
    elif isinstance(results, str | Buffer) or not isinstance(results, Iterable):
        return
    for each in results:
        yield from _failed(each)


def _sentence(result: Struct) -> str:
    """What an item's error says, behind the item."""
    fields = {name: getattr(result, name) for name in result.__struct_fields__}
    message = f": {fields['message']}" if fields.get("message") else ""
    return f"{_item(fields)}: {fields['error']}{message}"


def _item(fields: Mapping[str, Any]) -> str:
    """What a result is about: a resource, a partition, or the first field that says something."""
    if next(iter(fields)) == "type":
        return f"{fields['type']} {fields['name'] or '<default>'}"
    if {"topic", "partition"} <= fields.keys():
        return f"{fields['topic']} partition {fields['partition']}"
    return str(next(value for value in fields.values() if value not in (None, "")))
