"""Requests made large: members repeated, numbered or named after topics that exist, and long texts.

A request is taken as lists and dicts. A spot is the path to one of its lists or texts.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from typing import Any
from uuid import UUID

import msgspec

from kafka_admin_proto import codec
from kafka_admin_proto.values import Message

_Path = tuple[str | int, ...]

#: The longest text that requests of every version can carry, in bytes.
_LONGEST = 32_000
#: Texts of about so many bytes, each of which some parser reads in a way of its own.
_TEXTS: tuple[Callable[[int], str], ...] = (
    lambda size: "x" * size,
    lambda size: ",".join(map(str, range(size)))[:size],
    lambda size: "a" + " " * (size - 2) + "b",
    lambda size: "9" * size,
    lambda size: ("a=b," * size)[:size],
    lambda size: "." * size,
    lambda size: "(?i)" + r"\p{Lu}\pL[\PN]{9}" * (size // 18),
    lambda size: "client_id=" + "[\u4e00-\u9fa5]" * (size // 10),
)


def enlarged(
    request: Message, version: int, existing: Sequence[str], size: int, seed: int
) -> Message:
    """The request with one or two spots enlarged, so that it has about ``size`` bytes.

    The seed decides how: with the same one, and another size, it is enlarged in the same way.
    ``existing`` are names of topics. A request without lists and texts is left as it is.
    """
    one: Callable[[Sequence[Any]], Any] = random.Random(seed).choice
    tree = msgspec.to_builtins(request, builtin_types=(UUID, bytes))
    spots = list(_spots(tree))
    if not spots:
        return request
    texts = [each for each in spots if isinstance(_at(tree, each), str)]
    if texts and one([False, True]):
        text = one(_TEXTS)
        _put(tree, one(texts), text(one([200, min(_LONGEST, size // 2)])))
    spot = one(spots)
    if isinstance(_at(tree, spot), str):
        _put(tree, spot, one(_TEXTS)(min(_LONGEST, size)))
        return _message(tree, request)
    member = _at(tree, spot)[0]
    kind, leaf = one(["repeated", "numbered", "existing"]), one([*_leaves(member), None])

    def members(count: int) -> list[Any]:
        if kind == "repeated" or leaf is None:
            return [member] * count
        return [_varied(member, leaf, kind, number, existing) for number in range(count)]

    def bytes_of(count: int) -> int:
        _put(tree, spot, members(count))
        return len(codec(type(request), version).encode(_message(tree, request)))

    least = bytes_of(1)
    each = max((bytes_of(33) - least) / 32, 1)
    _put(tree, spot, members(max(1, int((size - least) / each))))
    return _message(tree, request)


def _varied(member: Any, leaf: _Path, kind: str, number: int, existing: Sequence[str]) -> Any:
    """A member of a list with another value at its leaf."""
    old = _at(member, leaf)
    new: Any = number % 100
    if isinstance(old, UUID):
        new = UUID(int=number + 1)
    elif isinstance(old, str):
        new = f"{old}{number}" if kind == "numbered" else existing[number % len(existing)]
    if not leaf:
        return new
    member = deepcopy(member)
    _put(member, leaf, new)
    return member


def _message(tree: Any, request: Message) -> Message:
    return msgspec.convert(tree, type(request), builtin_types=(UUID, bytes))


def _spots(tree: Any, path: _Path = ()) -> Iterator[_Path]:
    """The paths of all texts, and of all lists that have a member."""
    if isinstance(tree, str) or (isinstance(tree, list) and tree):
        yield path
    yield from _inside(tree, path, _spots)


def _leaves(tree: Any, path: _Path = ()) -> Iterator[_Path]:
    """The paths of the texts, numbers and ids in a member of a list."""
    if isinstance(tree, str | int | UUID) and not isinstance(tree, bool):
        yield path
    yield from _inside(tree, path, _leaves)


def _inside(
    tree: Any, path: _Path, search: Callable[[Any, _Path], Iterator[_Path]]
) -> Iterator[_Path]:
    if isinstance(tree, dict):
        for name, value in tree.items():
            yield from search(value, (*path, name))
    elif isinstance(tree, list):
        for index, value in enumerate(tree):
            yield from search(value, (*path, index))


def _at(tree: Any, path: _Path) -> Any:
    for each in path:
        tree = tree[each]
    return tree


def _put(tree: Any, path: _Path, value: Any) -> None:
    _at(tree, path[:-1])[path[-1]] = value
