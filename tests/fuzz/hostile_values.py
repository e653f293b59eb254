"""A message's value with hostile objects in it, and what changes its lists and structs."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from kafka_admin_proto.codec import Codec
from tests.fuzz.choice import SIZE, Choice, number_of
from tests.fuzz.hostile_objects import LIES, RAISED, Conduct, collected, methods_of, stand_in
from tests.fuzz.seeds import filled

#: The bytes of a plant, and how many of them an input has at most.
PLANT, MOST_PLANTS = 2 * SIZE + 3, 4
#: A bit of the conduct's number: ``stand_in`` says what it does to numbers and texts.
BARE = 128

Put = Callable[[Any], object]


class Plant(NamedTuple):
    """Where a hostile object goes, which of its methods acts, and how: all of them by number."""

    place: bytes
    method: bytes
    conduct: int
    argument: int
    target: int

    @classmethod
    def all_of(cls, data: bytes) -> list[Plant]:
        starts = range(0, len(data) - PLANT + 1, PLANT)
        pieces = [data[start : start + PLANT] for start in starts][:MOST_PLANTS]
        return [cls(each[:SIZE], each[SIZE : 2 * SIZE], *each[2 * SIZE :]) for each in pieces]

    @property
    def is_plain(self) -> bool:
        """Whether the object does nothing but what its base does."""
        return self.conduct % 8 == 0

    def lie(self) -> Callable[[], Any] | None:
        """What the object answers, if that is not the truth."""
        if self.conduct % 8 in (1, 2):
            answer = LIES[self.argument % 32 % len(LIES)]
            return lambda: answer
        if self.conduct % 8 == 3:
            kind = RAISED[self.argument % 16 % len(RAISED)]
            return lambda: _raised(kind)
        return None


def plant(place: str, method: str, conduct: int, argument: int = 0, target: int = 0) -> bytes:
    """The bytes of a plant at that path, "" for the whole value; method "" is each of them."""
    return number_of(place) + number_of(method) + bytes([conduct, argument, target])


@lru_cache(maxsize=1024)
def choice_of(names: tuple[str, ...]) -> Choice:
    return Choice(names)


def _raised(kind: type[BaseException]) -> Any:
    raise kind("hostile")


class Planted:
    """A value with hostile objects in it; ``again`` is what re-enters the codec with it."""

    def __init__(self, found: Codec[Any], plants: list[Plant], again: Callable[[Any], object]):
        self.value: Any = filled(found.grammar)
        for each in list(containers(self.value)):
            if type(each) is list:
                each.extend(each[:])
        #: Whether calls change the value, so that two of them need not give the same.
        self.may_change = False
        self.owners = list(containers(self.value))
        #: The objects that were put into it, for a person.
        self.about: list[str] = []
        self._conducts: list[Conduct] = []
        self._again = again
        self._depth = 0
        for each in plants:
            self._put(each)

    def _put(self, plant: Plant) -> None:
        spots = dict(self._places())
        path = choice_of(tuple(spots))[plant.place]
        truth, put = spots[path]
        if hasattr(truth, "conduct"):
            return
        method = choice_of(("", *methods_of(truth)))[plant.method]
        conduct = Conduct(method, lie=plant.lie())
        if plant.conduct % 8 == 4:
            self.may_change = True
            conduct.harm = self._enter_again
        elif plant.conduct % 8 > 4:
            self.may_change = True
            owner = self.owners[plant.target % len(self.owners)]
            harm = lambda: change(owner, plant.argument)  # noqa: E731
            conduct.harm = harm if plant.conduct % 8 > 5 else lambda: collected(harm)
        self._conducts.append(conduct)
        made = stand_in(truth, conduct, bare=bool(plant.conduct & BARE))
        self.about.append(f"{type(made).__name__}.{method or '*'} at {path!r}: {plant}")
        put(made)

    def _enter_again(self) -> None:
        self._depth += 1
        with suppress(Exception):
            if self._depth < 3:
                self._again(self.value)
        self._depth -= 1

    def _places(self) -> Iterator[tuple[str, tuple[Any, Put]]]:
        """The value at each path, and the function that replaces it."""
        yield "", (self.value, lambda x: setattr(self, "value", x))
        yield from places(self.value, "")

    def end(self) -> None:
        """Forget the value; all hostile objects have to end with it."""
        self.value, self.owners, self._again = None, [], id
        for conduct in self._conducts:
            conduct.harm = conduct.lie = None
        if any(token() for conduct in self._conducts for token in conduct.alive):
            gc.collect()
        left = [token for conduct in self._conducts for token in conduct.alive if token()]
        assert not left, ("something keeps a reference", self.about)


def containers(value: Any) -> Iterator[Any]:
    """The structs and lists of a value that are not hostile."""
    if isinstance(value, msgspec.Struct) and not hasattr(value, "__dict__"):
        yield value
        for name in value.__struct_fields__:
            yield from containers(getattr(value, name, None))
    elif type(value) is list:
        yield value
        for item in value:
            yield from containers(item)


def places(value: Any, path: str) -> Iterator[tuple[str, tuple[Any, Put]]]:
    """The places inside of a value: path, the value there, and the function that replaces it."""
    if type(value) is list:
        for at, item in enumerate(value):
            here = f"{path}[{at}]"
            yield here, (item, lambda x, at=at: value.__setitem__(at, x))  # type: ignore[misc]
            yield from places(item, here)
    elif isinstance(value, msgspec.Struct) and not hasattr(value, "__dict__"):
        for name in value.__struct_fields__:
            here = f"{path}.{name}"
            item = getattr(value, name, None)
            put: Put = lambda x, name=name: setattr(value, name, x)  # type: ignore[misc]  # noqa: E731
            yield here, (item, put)
            yield from places(item, here)
            if name == "unknown_tagged_fields" and type(item) is tuple and item:
                tag, data = item[0]
                # The other one has to go in front of it, or behind.
                yield f"{here}.tag", (tag, lambda x, p=put, d=data: p(((x, d), (9, b""))))  # type: ignore[misc]
                yield f"{here}.data", (data, lambda x, p=put, t=tag: p(((9999, b""), (t, x))))  # type: ignore[misc]
                yield f"{here}.pair", (item[0], lambda x, p=put: p([x]))  # type: ignore[misc]


def change(owner: Any, how: int) -> None:
    """Change a list or struct in one of some ways."""
    if isinstance(owner, list):
        match how % 8:
            case 0:
                owner.clear()
            case 1:
                owner.extend(owner[:8] or [None])
            case 2:
                del owner[:1]
            case 3:
                del owner[-1:]
            case 4:
                owner[:] = [None] * len(owner)
            case 5:
                owner.reverse()
            case 6:
                owner[:] = [stand_in(7, Conduct("__index__"), bare=True) for _ in owner]
            case _:
                owner.insert(0, owner[0] if owner else None)
        return
    names = type(owner).__struct_fields__
    name = names[how % len(names)] if names else ""
    with suppress(AttributeError):
        if how & 128:
            delattr(owner, name)
        elif how & 64:
            for each in names:
                setattr(owner, each, None)
        else:
            setattr(owner, name, [])
