"""Python objects that stand in for a value's fields, and whose own methods do harm when called.

Each is of a class that a field takes, or of one that stands for a number, with methods of its own;
``Conduct`` says what one of these methods does. An object that lies or raises does so each time,
so that two codecs must give the same for it.
"""

from __future__ import annotations

import ctypes
import gc
import weakref
from array import array
from collections.abc import Callable
from functools import lru_cache
from typing import Any
from uuid import UUID

import msgspec


class OwnError(Exception):
    """An exception of the object's own, which no code of the package knows."""


#: What a method may raise.
RAISED: tuple[type[BaseException], ...] = (
    OwnError, ValueError, TypeError, KeyError, AttributeError, OverflowError, UnicodeError,
    StopIteration, RecursionError, MemoryError, KeyboardInterrupt, SystemExit,
)  # fmt: skip
#: What a method may answer that is not true, by number.
LIES: tuple[Any, ...] = (
    -1, 0, 1, 3, 1 << 70, -(1 << 63), True, None, NotImplemented, 1.5, float("nan"), "lie",
    "é\ud800", b"lie", b"", [], [None], (), ("a", "b"), {}, UUID(int=5), object, bytearray(b"lie"),
)  # fmt: skip


class Token:
    """Lives as long as the object that it was given to; unlike an int's, its end can be seen."""


class Conduct:
    """What an object's methods do: ``method`` is the one that does it, "" is each of them.

    ``harm`` runs before the true answer is given; ``lie`` is a call that answers instead.
    """

    def __init__(
        self,
        method: str,
        *,
        harm: Callable[[], object] | None = None,
        lie: Callable[[], Any] | None = None,
    ) -> None:
        self.method = method
        self.harm = harm
        self.lie = lie
        self.calls = 0
        #: The tokens of the objects that behave so.
        self.alive: list[weakref.ref[Token]] = []

    def watched(self) -> Token:
        token = Token()
        self.alive.append(weakref.ref(token))
        return token

    def answer(self, method: str, truth: Callable[[], Any]) -> Any:
        if self.method in ("", method):
            self.calls += 1
            if self.lie is not None:
                return self.lie()
            if self.harm is not None and self.calls < 20:
                self.harm()
        return truth()


#: Classes that a field takes → the methods that a subclass overrides.
METHODS: dict[type, tuple[str, ...]] = {
    int: ("__index__", "__int__", "__eq__", "__ne__", "__hash__", "__bool__", "__lt__", "__gt__",
          "__ge__", "__le__", "__and__", "__or__", "__rshift__", "__add__", "__sub__", "__float__",
          "__format__", "to_bytes", "bit_length"),
    float: ("__float__", "__eq__", "__ne__", "__hash__", "__bool__", "__int__"),
    str: ("encode", "isascii", "__len__", "__eq__", "__ne__", "__hash__", "__iter__", "__bool__",
          "__getitem__", "__str__", "__contains__", "lower", "endswith", "startswith", "casefold"),
    bytes: ("__len__", "__bytes__", "__eq__", "__ne__", "__hash__", "__iter__", "__getitem__",
            "__bool__", "__buffer__", "decode", "__contains__"),
    bytearray: ("__len__", "__bytes__", "__eq__", "__iter__", "__getitem__", "__buffer__"),
    list: ("__len__", "__iter__", "__getitem__", "__eq__", "__ne__", "__bool__", "__contains__",
           "__length_hint__"),
    tuple: ("__len__", "__iter__", "__getitem__", "__eq__", "__ne__", "__bool__", "__hash__",
            "__length_hint__"),
}  # fmt: skip
#: Methods of what is no subclass of anything and stands for a number.
_NUMBER = ("__index__", "__float__", "__int__", "__eq__", "__ne__", "__bool__", "__lt__", "__gt__")
_UUID = ("int", "bytes", "hex", "__eq__", "__ne__", "__hash__", "__int__")


def _overriding(base: type, name: str) -> Callable[..., Any]:
    """A method that asks the object's conduct, whose truth is that of the base."""
    true: Callable[..., Any] = getattr(base, name, None) or _absent(name)

    def method(self: Any, *arguments: Any, **options: Any) -> Any:
        conduct = vars(self).get("conduct")
        if conduct is None:
            return true(self, *arguments, **options)
        return conduct.answer(name, lambda: true(self, *arguments, **options))

    return method


def _absent(name: str) -> Callable[..., Any]:
    """The truth of a method that the base does not have."""
    truths: dict[str, Callable[..., Any]] = {
        "__bool__": lambda self: len(self) != 0,
        "__bytes__": lambda self: bytes(memoryview(self)),
        "__buffer__": lambda self, flags: memoryview(bytes(self)),
        "__length_hint__": lambda self: 3,
        "__index__": lambda self: self.number,
        "__float__": lambda self: float(self.number),
        "__int__": lambda self: int(self.number),
        "__lt__": lambda self, other: self.number < other,
        "__gt__": lambda self, other: self.number > other,
    }
    return truths[name]


def _repr(self: Any) -> str:
    return f"<{type(self).__name__}>"


def _made(base: type, methods: tuple[str, ...]) -> type:
    return type(
        f"Hostile{base.__name__.title()}",
        (base,),
        {name: _overriding(base, name) for name in methods} | {"__repr__": _repr},
    )


_CLASSES = {base: _made(base, methods) for base, methods in METHODS.items()}
_Number = _made(object, _NUMBER)


class HostileUuid(UUID):
    """A uuid whose attributes are asked for; one that is not there is asked for a second time."""

    def __getattribute__(self, name: str) -> Any:
        given = object.__getattribute__
        if name not in ("int", "bytes", "hex"):
            return given(self, name)
        try:
            conduct = given(self, "conduct")
        except AttributeError:
            return given(self, name)
        answer = conduct.answer(name, lambda: given(self, name))
        if conduct.harm is not None:
            raise AttributeError(name)
        return answer

    def __getattr__(self, name: str) -> Any:
        return object.__getattribute__(self, name)

    def __eq__(self, other: object) -> bool:
        answer: bool = _overriding(UUID, "__eq__")(self, other)
        return answer

    def __hash__(self) -> int:
        answer: int = _overriding(UUID, "__hash__")(self)
        return answer


@lru_cache(maxsize=256)
def _struct_class(base: type[msgspec.Struct]) -> Any:
    """A subclass of a value class that says itself what its fields are."""

    def getattribute(self: Any, name: str) -> Any:
        given = base.__getattribute__
        if name not in base.__struct_fields__:
            return given(self, name)
        conduct = given(self, "__dict__").get("conduct")
        if conduct is None:
            return given(self, name)
        return conduct.answer(name, lambda: given(self, name))

    space = {"__getattribute__": getattribute, "__repr__": _repr, "__module__": __name__}
    meta: Any = type(base)
    return meta(f"Hostile{base.__name__}", (base,), space, dict=True, gc=True)


def methods_of(truth: Any) -> tuple[str, ...]:
    """The methods that the stand-in for a value has."""
    if isinstance(truth, msgspec.Struct):
        return truth.__struct_fields__
    if isinstance(truth, UUID):
        return _UUID
    for base, methods in METHODS.items():
        if type(truth) is base:
            return methods
    return _NUMBER


def stand_in(truth: Any, conduct: Conduct, *, bare: bool = False) -> Any:
    """An object for ``truth`` that behaves so.

    With ``bare`` it is no int for a number, and an ASCII text for a text.
    """
    if isinstance(truth, msgspec.Struct):
        made = _struct_class(type(truth))(
            *(getattr(truth, name) for name in truth.__struct_fields__)
        )
    elif isinstance(truth, UUID):
        made = HostileUuid(int=truth.int)
        object.__setattr__(made, "token", conduct.watched())
        object.__setattr__(made, "conduct", conduct)
        return made
    elif truth is None or isinstance(truth, bool) or (bare and isinstance(truth, int)):
        made = _Number()
        made.number = truth or 0
    elif type(truth) in _CLASSES:
        made = _CLASSES[type(truth)]("ascii" if bare and isinstance(truth, str) else truth)
    else:
        return truth
    made.token = conduct.watched()
    made.conduct = conduct
    return made


#: Other objects with the bytes of ``data``, or none at all, by number.
BUFFERS: tuple[Callable[[bytes], Any], ...] = (
    bytes,
    bytearray,
    memoryview,
    lambda data: memoryview(bytearray(data)),
    lambda data: memoryview(bytes(2 * len(data)))[::2],
    lambda data: memoryview(data)[::-1],
    lambda data: _released(memoryview(data)),
    lambda data: memoryview(data + bytes(-len(data) % 4)).cast("I"),
    lambda data: memoryview(data + bytes(-len(data) % 4)).cast("B", (-(-len(data) // 4), 4))
    if data else memoryview(b""),
    lambda data: memoryview(data).cast("b"),
    lambda data: memoryview(data).cast("c"),
    lambda data: array("B", data),
    lambda data: array("I", data + bytes(-len(data) % 4)),
    lambda data: memoryview(array("B", data)),
    lambda data: (ctypes.c_ubyte * len(data)).from_buffer_copy(data),
    lambda data: memoryview((ctypes.c_ubyte * len(data)).from_buffer_copy(data)),
    lambda data: [*data],
    lambda data: data.decode("latin-1"),
    lambda data: _CLASSES[bytes](data),
    lambda data: _CLASSES[bytearray](data),
    lambda data: memoryview(_CLASSES[bytes](data)),
    lambda data: None,
)  # fmt: skip


def _released(view: memoryview) -> memoryview:
    view.release()
    return view


class Garbage:
    """A cycle that the collector finds, and whose end does harm."""

    def __init__(self, harm: Callable[[], object]) -> None:
        self.harm = harm
        self.me = self

    def __del__(self) -> None:
        self.harm()


def collected(harm: Callable[[], object]) -> None:
    """Have the collector do the harm."""
    Garbage(harm)
    gc.collect(0)
