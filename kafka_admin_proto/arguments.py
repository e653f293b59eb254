"""Checks of what callers pass: numbers, bytes, collections, and all arguments by their annotations.

A wrong one raises an error that says why.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping
from functools import cache, wraps
from inspect import isasyncgenfunction, iscoroutinefunction
from operator import index
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from msgspec import Struct

from kafka_admin_proto.counts import counted
from kafka_admin_proto.wire.types.base import shown

_T = TypeVar("_T")

Buffer = bytes | bytearray | memoryview

#: Bits of an integer. Python refuses to print those of 4,300 digits, in errors too.
_MOST_BITS = 4096


def integer_check(rule: str) -> Callable[[int], int]:
    """A function that returns a number as an ``int``.

    It raises TypeError, with the rule, for anything else; a bool is no integer here.
    """

    def check(number: int) -> int:
        if not isinstance(number, bool):
            try:
                return index(number)
            except TypeError:
                pass
        raise TypeError(f"{rule}, not {shown(number)}")

    return check


version_number: Callable[[int], int] = integer_check(
    "a version is an integer, as in codec(message, 1)"
)


def is_time(value: Any) -> bool:
    """Whether a value is a number of seconds, 0 or more; NaN is none, infinity is one."""
    try:
        return isinstance(value, int | float) and not isinstance(value, bool) and float(value) >= 0
    except OverflowError:
        return False


def check_offset(data: bytes, offset: int) -> None:
    """Raise ValueError for an offset outside the data; the end of the data is inside."""
    if not 0 <= offset <= len(data):
        raise ValueError(f"offset {offset} is outside the {counted(len(data), 'bytes')} of data")


def as_bytes(data: Any) -> bytes:
    """The data as ``bytes``; raises TypeError for a text, a number or a list of numbers."""
    if type(data) is bytes:
        return data
    try:
        return bytes(memoryview(data))
    except TypeError:
        hint = "; bytes.fromhex reads hex" if isinstance(data, str) else ""
        raise TypeError(
            f"expected bytes, got an object of type {type(data).__name__}{hint}"
        ) from None


def check_kind(value: object, kind: type, what: str) -> None:
    """Raise TypeError for an argument of another class; what is in it is not looked at."""
    if not isinstance(value, kind):
        raise TypeError(f"{what}: expected {kind.__name__}, got {type(value).__name__}")


def check_stream(stream: object, what: str) -> None:
    """Raise TypeError for what has no ``read``, as an open file has."""
    if not callable(getattr(stream, "read", None)):
        raise TypeError(
            f"{what}: expected a file that is open for bytes, got {type(stream).__name__}"
        )


def listed(items: Iterable[_T], what: str) -> list[_T]:
    """The items as a list; raises TypeError for one text or bytes, whose characters they would be.

    ``what`` is the argument's name. The error shows no value, which may be a secret.
    """
    if isinstance(items, str | Buffer) or not isinstance(items, Iterable):
        raise TypeError(
            f"{what}: expected a collection, got {type(items).__name__}{_single_hint(items)}"
        )
    return list(items)


def is_async(function: object) -> bool:
    """Whether a call of the function runs nothing yet, but makes what is to be awaited.

    That is true in conditions: a function that refuses would accept all.
    """
    return any(
        iscoroutinefunction(each) or isasyncgenfunction(each)
        for each in (function, getattr(function, "__call__", None))  # noqa: B004
    )


def checked(value: Any, hint: Any, what: str) -> Any:
    """The value of an argument, held against its annotation; raises TypeError, with its place.

    Collections come back as lists, so that a generator is read once, and a single text is none.
    Fields of frozen structs are held against their annotations too; messages are not frozen, and
    are checked by their codecs. A bool is no number here. Which texts a Literal has is left to
    whoever takes it. A coroutine function is none of another kind: nobody would await its calls.
    The error shows no value, which may be a secret.
    """
    members = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    for member in members:
        if _fits(value, member):
            return _inside(value, member, what)
    raise TypeError(
        f"{what}: expected {' or '.join(map(_shown_hint, members))}, got "
        f"{type(value).__name__}{_single_hint(value) if any(map(_is_collection, members)) else ''}"
    )


def checked_arguments(function: Callable[..., Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of a function or class by name, each ``checked``; unknown names are left to it."""
    hints, name = _hints(function), function.__name__
    if name == "__init__":
        name = function.__qualname__.split(".")[-2]
    return {
        each: checked(value, hints.get(each, Any), f"{name}: {each}")
        for each, value in given.items()
    }


def checks_arguments(function: Callable[..., Coroutine[Any, Any, _T]]) -> Callable[..., Any]:
    """A method that is a coroutine function, whose arguments are ``checked`` before it runs."""
    code = function.__code__
    names = code.co_varnames[1 : code.co_argcount]

    @wraps(function)
    async def check_and_run(self: Any, *values: Any, **named: Any) -> _T:
        by_place = checked_arguments(function, dict(zip(names, values, strict=False))).values()
        more = values[len(names) :]  # which the function refuses
        return await function(self, *by_place, *more, **checked_arguments(function, named))

    return check_and_run


def _is_collection(hint: Any) -> bool:
    """Whether the annotation says of items alone: no mapping by key, and no tuple by place."""
    kind = get_origin(hint)
    return (
        isinstance(kind, type)
        and issubclass(kind, Iterable)
        and not issubclass(kind, Mapping | tuple)
    )


def _is_awaitable(hint: Any) -> bool:
    kind = get_origin(hint)
    return isinstance(kind, type) and issubclass(kind, Awaitable)


def _fits(value: Any, hint: Any) -> bool:
    """Whether the value is of the annotation's class; what is in it is not looked at."""
    kind = get_origin(hint) or hint
    if kind is Literal:
        return isinstance(value, str)
    if _is_collection(hint):
        return isinstance(value, Iterable) and not isinstance(value, str | Buffer)
    if kind is Any or not isinstance(kind, type):
        return True  # a type variable, too
    if kind in (int, float):
        return not isinstance(value, bool) and _is_number(value, kind)
    return isinstance(value, kind)


def _is_number(value: Any, kind: type) -> bool:
    """Whether the value is an integer of any kind, or with float also a float, and fits into it."""
    try:
        return isinstance(value, kind) or kind(index(value)) is not None
    except (TypeError, OverflowError):
        return False


def _inside(value: Any, hint: Any, what: str) -> Any:
    """The value with its parts checked."""
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        raise TypeError(
            f"{what}: an integer of {counted(value.bit_length(), 'bits')} is out of all bounds"
        )
    kind, parts = get_origin(hint) or hint, get_args(hint)
    if kind is Callable and is_async(value) and not _is_awaitable(parts[-1]):
        raise TypeError(
            f"{what}: a coroutine function, whose calls would never run; write it without async"
        )
    if _is_collection(hint):
        return [checked(each, parts[0], f"{what}[{at}]") for at, each in enumerate(value)]
    if kind is tuple:
        if parts[1:] == (...,):
            parts = parts[:1] * len(value)
        if len(parts) != len(value):
            raise TypeError(
                f"{what}: expected {_shown_hint(hint)}, got {counted(len(value), 'items')}"
            )
        return tuple(checked(*each, what) for each in zip(value, parts, strict=True))
    if parts and isinstance(kind, type) and issubclass(kind, Mapping):
        return {
            checked(key, parts[0], f"{what}, a key"): checked(each, parts[1], f"{what}[{key!r}]")
            for key, each in value.items()
        }
    if isinstance(value, Struct) and value.__struct_config__.frozen:
        check_fields(value, what)
    return value


def check_fields(value: Struct, what: str) -> None:
    """Raise TypeError where a field is not as annotated, or is a generator, read only once."""
    hints = _hints(type(value))
    for name in value.__struct_fields__:
        field = getattr(value, name)
        if isinstance(field, Iterator):
            raise TypeError(f"{what}.{name}: a {type(field).__name__} is read only once; list it")
        checked(field, hints.get(name, Any), f"{what}.{name}")


@cache
def _hints(annotated: Callable[..., Any]) -> Mapping[str, Any]:
    """Names and classes of annotations; what they name is looked up when they are first needed.

    None where a module has them for type checkers alone, as one of a user's may.
    """
    try:
        return get_type_hints(annotated)
    except NameError:
        return {}


def _shown_hint(hint: Any) -> str:
    kind, parts = get_origin(hint) or hint, get_args(hint)
    if kind in (Union, UnionType):
        return " or ".join(map(_shown_hint, parts))
    if kind is Literal:
        return "str"
    if _is_collection(hint):
        return f"a collection of {_shown_hint(parts[0])}"
    if kind is tuple:
        return (
            f"a tuple ({', '.join('...' if each is ... else _shown_hint(each) for each in parts)})"
        )
    if kind is NoneType:
        return "None"
    if kind is Callable:
        return "a function"
    return getattr(kind, "__name__", str(kind))


def _single_hint(value: object) -> str:
    return "; put a single one into a list" if isinstance(value, str | Buffer) else ""
