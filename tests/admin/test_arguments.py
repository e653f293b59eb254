"""What an operation does with arguments that are wrong: it says so, in an error that is documented.

The operations are those of the class, with the arguments of `hostile/test_every_operation.py`, so
that a new one is covered, or fails there.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, get_type_hints
from uuid import UUID

import msgspec
import pytest

from kafka_admin_proto.admin import (
    AdminClient,
    AdminError,
    ConfigurationError,
    InstructionError,
    SyncAdminClient,
)
from kafka_admin_proto.errors import RemoteProtocolError, UnsupportedVersionError
from kafka_admin_proto.messages import FindCoordinatorRequest, MetadataRequest
from kafka_admin_proto.values import Message
from tests.admin.hostile.test_every_operation import (
    HONEST,
    MORE,
    OPERATIONS,
    Broker,
    coordinators,
    metadata,
    nothing,
)
from tests.admin.scripted_broker import ScriptedCluster
from tests.helpers.profile import sample

if TYPE_CHECKING:
    from decimal import Decimal as OnlyForTypeCheckers

#: Nobody listens on it.
NOBODY = "127.0.0.1:1"
#: The errors of docs/admin.md.
DOCUMENTED = (AdminError, TypeError, UnsupportedVersionError, RemoteProtocolError)
_COLLECTION = ("Iterable[", "Sequence[", "Collection[", "list[", "set[")


def parameters(name: str) -> dict[str, inspect.Parameter]:
    found = dict(inspect.signature(getattr(AdminClient, name)).parameters)
    del found["self"]
    return found


def collections() -> Iterator[tuple[str, str]]:
    """Each parameter of an operation that is a collection."""
    for name in OPERATIONS:
        for each in parameters(name).values():
            if each.annotation.startswith(_COLLECTION):
                yield name, each.name


async def asked(client: AdminClient, name: str, arguments: dict[str, Any]) -> Any:
    """What an operation returns; its other arguments are those that it takes."""
    given = dict(zip(parameters(name), OPERATIONS[name], strict=False)) | MORE.get(name, {})
    return await getattr(client, name)(**given | arguments)


@pytest.mark.parametrize("wrong", ["ab", "", b"ab", 7], ids=repr)
@pytest.mark.parametrize(("name", "parameter"), list(collections()))
def test_a_single_text_is_no_collection(name: str, parameter: str, wrong: object) -> None:
    async def run() -> None:
        async with AdminClient(NOBODY) as client:
            await asked(client, name, {parameter: wrong})

    single = "; put a single one into a list" if wrong != 7 else ""
    with pytest.raises(TypeError, match=rf"^{name}: {parameter}: expected a .*{single}$"):
        asyncio.run(run())


@pytest.mark.parametrize(("name", "parameter"), list(collections()))
def test_a_generator_is_a_collection(name: str, parameter: str) -> None:
    async def run() -> object:
        async with AdminClient(NOBODY) as client:
            given = dict(zip(parameters(name), OPERATIONS[name], strict=False)).get(parameter)
            try:
                return await asked(client, name, {parameter: (each for each in given or ())})
            except AdminError as error:
                return error

    assert "connection refused" in str(asyncio.run(run())) or not OPERATIONS[name]


def mappings() -> Iterator[tuple[str, str]]:
    """Each parameter of an operation that is a mapping alone."""
    for name in OPERATIONS:
        for each in parameters(name).values():
            if each.annotation.startswith("Mapping["):
                yield name, each.name


@pytest.mark.parametrize(("name", "parameter"), list(mappings()))
def test_a_generator_is_no_mapping(name: str, parameter: str) -> None:
    async def run() -> None:
        async with AdminClient(NOBODY) as client:
            await asked(client, name, {parameter: (each for each in [("a", 0)])})

    with pytest.raises(TypeError, match=rf"^{name}: {parameter}: expected Mapping.*, got gener"):
        asyncio.run(run())


def words() -> Iterator[tuple[str, str]]:
    """Each parameter of an operation whose texts are listed, alone or in a collection."""
    for name in OPERATIONS:
        hints = get_type_hints(inspect.unwrap(getattr(AdminClient, name)))
        del hints["return"]
        yield from ((name, each) for each, hint in hints.items() if "Literal[" in str(hint))


@pytest.mark.parametrize(("name", "parameter"), list(words()))
def test_a_word_that_there_is_not_is_refused(name: str, parameter: str) -> None:
    """Before anything is sent; else a misspelt "latest" would pass for the earliest offset."""
    word: Any = "latst"
    if name == "list_config_resources":
        word = ["latst"]
    elif (name, parameter) == ("list_offsets", "specs"):
        word = {("a", 0): "latst"}

    async def run() -> None:
        async with AdminClient(NOBODY) as client:
            await asked(client, name, {parameter: word})

    with pytest.raises(InstructionError, match=r"'latst'.*(expected|it is|there are)"):
        asyncio.run(run())


def test_the_synchronous_client_says_it_too() -> None:
    with SyncAdminClient(NOBODY) as client:
        with pytest.raises(TypeError, match=r"^delete_topics: names: expected a collection of str"):
            client.delete_topics("ab")
        acl = msgspec.structs.replace(OPERATIONS["create_acls"][0][0], resource_type="TOPIC")
        with pytest.raises(TypeError, match=r"acls\[0\].resource_type: expected ResourceType, got"):
            client.create_acls([acl])


#: Values that hardly any argument takes.
WRONG: list[Any] = [
    None, True, -1, 1 << 31, 1 << 63, 10**400, 10**5000, 1.5, math.nan, -math.inf, "", "x", "a:b",
    "\ud800", "a" * 40_000, b"x", [], [None], ["\ud800"], [["x"]], (), ("a", -1), ("a", 1 << 40),
    ("\ud800", 0), {}, {None: None}, {"a": "a"}, {("a", -1): -5}, {("a", 0): ["b"]}, {"\ud800": []},
    {"\ud800": "\ud800"}, {("\ud800", 0): None}, UUID(int=1), object(), str,
]  # fmt: skip


def altered(value: Any) -> Iterator[Any]:
    """The value with each of the wrong ones in the place of itself, or of one of its parts."""
    yield from WRONG
    if isinstance(value, msgspec.Struct) and not isinstance(value, Message):
        for field in value.__struct_fields__:
            for each in altered(getattr(value, field)):
                with contextlib.suppress(AdminError, TypeError):  # said by the struct itself
                    yield msgspec.structs.replace(value, **{field: each})
    elif isinstance(value, list | tuple):
        for at, part in enumerate(value):
            for each in altered(part):
                yield type(value)([*value[:at], each, *value[at + 1 :]])
    elif isinstance(value, dict):
        for key, part in value.items():
            for each in altered(part):
                yield {**value, key: each}


def mistakes() -> Iterator[tuple[str, dict[str, Any]]]:
    for name in OPERATIONS:
        given = dict(zip(parameters(name), OPERATIONS[name], strict=False)) | MORE.get(name, {})
        for each in parameters(name):
            for wrong in altered(given.get(each)):
                yield name, {each: wrong}


@pytest.mark.parametrize("name", list(inspect.signature(SyncAdminClient).parameters))
def test_a_client_that_cannot_be_says_why(name: str) -> None:
    for wrong in WRONG:
        with contextlib.suppress(ConfigurationError, TypeError):
            AdminClient(**{"bootstrap_servers": NOBODY, name: wrong})


def test_errors_are_documented() -> None:
    """Whatever is wrong about an argument: nothing but the tree of the client, and TypeError."""
    drawn = sample(list(mistakes()), 2000)

    async def run() -> list[BaseException | Any]:
        cluster = ScriptedCluster([1])
        cluster.nodes[1] = Broker(cluster, nothing, HONEST)
        cluster.on(MetadataRequest, metadata)
        cluster.on(FindCoordinatorRequest, coordinators)
        async with cluster, AdminClient(cluster.bootstrap, timeout=0.5) as client:
            return [
                each
                for at in range(0, len(drawn), 50)
                for each in await asyncio.gather(
                    *(asked(client, *each) for each in drawn[at : at + 50]), return_exceptions=True
                )
            ]

    undocumented = {}
    for (name, wrong), found in zip(drawn, asyncio.run(run()), strict=True):
        if isinstance(found, BaseException) and not isinstance(found, DOCUMENTED):
            undocumented[f"{name}: {str(wrong)[:200]}"] = repr(found)[:300]
        if type(found) is TypeError:
            assert str(found).startswith(f"{name}: ")
    assert not undocumented


def test_annotations_for_type_checkers_alone_are_not_looked_at() -> None:
    class Mine(AdminClient):
        async def shown(self, name: OnlyForTypeCheckers) -> object:
            return name

    assert asyncio.run(Mine(NOBODY).shown("a")) == "a"  # type: ignore[arg-type]
