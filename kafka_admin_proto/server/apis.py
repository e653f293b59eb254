"""The served apis: the row of each, in its handler's module, and what callers and answers are.

An api is a module in a folder of ``handlers/``, named after its request: ``create_topics`` has
the api key of CreateTopicsRequest. Its row is the decorator `handler` of its function. The modules
of ``handlers/drafts/`` answer the requests of their dialects in the same way, and those of
``kip_4`` Kafka's own requests in a cluster with these rules. Those of ``handlers/controllers/``
answer on a controller's listener. ApiVersions lists the modules that are there, in the versions of
the release (``schemas/releases.json``).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from uuid import UUID

import msgspec

from kafka_admin_proto.errors import UnknownMessageError
from kafka_admin_proto.protocol import api_keys
from kafka_admin_proto.protocol.releases import release as release_facts
from kafka_admin_proto.protocol.versions import Api
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.schema.versions import VersionRange
from kafka_admin_proto.server.releases import ReleaseNumber
from kafka_admin_proto.values import Message

if TYPE_CHECKING:
    from kafka_admin_proto.server.brokers.view import View

#: Rules that are dialects; their messages are served beside Kafka's own (``handlers/drafts``).
DIALECTS = ("kip-4a", "kip-4b")
#: The rules of a controller whose brokers are processes of their own.
CONTROLLERS = "controllers"
#: Rules whose rows answer Kafka's own messages.
_OF_KAFKA = ("kip-4", CONTROLLERS)
#: The connection answers these apis by itself.
OF_CONNECTIONS = (api_keys.SASL_HANDSHAKE, api_keys.SASL_AUTHENTICATE, api_keys.ENVELOPE)

_HANDLERS = "kafka_admin_proto.server.handlers"
_FOLDER = Path(__file__).parent / "handlers"

Handle = Callable[[Any, Any, "Caller"], Any]
H = TypeVar("H", bound=Handle)

_ROWS: dict[str, ServedApi] = {}


class Caller(msgspec.Struct, frozen=True):
    """The client of a request, the node and listener that got it, and the request's version.

    ``principal`` is the client's principal as Kafka writes it, ``host`` its address, and
    ``request_bytes`` the size of its request without the length in front.
    """

    node_id: int
    version: int
    client_id: str | None = None
    principal: str = "User:ANONYMOUS"
    listener: str = "PLAINTEXT"
    host: str = ""
    request_bytes: int = 0
    #: What stands for the client's connection, None where it has none.
    connection: object = None
    #: Whether the client is authenticated, and not with a delegation token (KIP-48).
    may_ask_for_tokens: bool = False


class Answer(msgspec.Struct):
    """A response, and the records that are appended to the log before it is sent."""

    response: Message
    records: list[Message] = []
    #: The response encoded in the caller's version, if that is done already.
    body: bytes | None = None
    wait: Wait | None = None


#: What may change while an answer waits: a partition by topic id and number, a group's reply by an
#: id of its own and -1, or what a broker knows of the metadata, which is None.
WaitKey = tuple[UUID, int] | None


class Wait(msgspec.Struct, frozen=True):
    """The reason for which an answer is not sent yet.

    ``complete`` gets the answer, the asked node's view, those of ``keys`` that have changed since
    its last call, and whether ``wait_ms`` have passed; it changes the answer in place and returns
    whether that can be sent now. It is called after a change, which the answer's own records may
    have made for None, and when the time is over: then it returns True. ``wait_ms`` is None where
    the wait ends by itself.
    """

    wait_ms: int | None
    keys: Sequence[WaitKey]
    complete: Callable[[Answer, View, Collection[WaitKey], bool], bool]


class Gate(msgspec.Struct, frozen=True):
    """One operation on the cluster that an api needs, whatever the request contains.

    ``text`` of the refusal: none, that of the error code, or one that names the operation.
    """

    operation: int
    text: Literal["none", "code", "operation"]


class ServedApi(msgspec.Struct, frozen=True):
    """The row of an api, as `handler` takes it."""

    handle: Handle
    of_broker: bool
    needs: Gate | None
    kept: bool
    at_once: bool
    check: Callable[[Any], None] | None


def handler(
    *,
    of_broker: bool,
    needs: Gate | None,
    kept: bool,
    at_once: bool = False,
    check: Callable[[Any], None] | None = None,
) -> Callable[[H], H]:
    """Make a function of (state, request, caller) the handler of its module's api, with this row.

    It gives an `Answer` and does no IO.
    ``of_broker``: it is asked with the ``View`` of the broker that gets the request, else with the
    active controller's ``State``. ``needs`` is None where the handler itself asks the authorizer.
    ``kept``: an answer depends on the node, the request, the log and the nodes that have ended
    alone, and is kept as bytes.
    ``at_once``: it changes logs of partitions, or what clients wait for, itself and not by records,
    so that a fault's partitions must not come to it.
    ``check`` raises RemoteProtocolError for a request for which Kafka closes the connection, before
    any authorization.
    """

    def add(handle: H) -> H:
        _ROWS[handle.__module__] = ServedApi(handle, of_broker, needs, kept, at_once, check)
        return handle

    return add


def row_of(api_key: int, dialect: str, rules: str) -> ServedApi:
    """The row of an api for a message of a dialect, in a cluster with these rules."""
    return served(api_key, rules if rules in _OF_KAFKA else dialect)


@cache
def served(api_key: int, rules: str = "kafka") -> ServedApi:
    """The row of an api of a dialect or rules; Kafka's own row, if these have none for the key.

    The api's module is imported when its row is first asked for.
    """
    name = handler_modules(rules).get(api_key) or handler_modules()[api_key]
    import_module(name)
    if name not in _ROWS:
        raise TypeError(f"{name} has no row of its api; write @handler(...) above its function")
    return _ROWS[name]


@cache
def handler_modules(rules: str = "kafka") -> dict[int, str]:
    """The modules of the apis that Kafka's releases, a dialect or rules have, by ascending api key.

    Raises ImportError for a module that is named after no request of theirs.
    """
    others = ("drafts", CONTROLLERS)
    folders = [each for each in os.listdir(_FOLDER) if each[0] != "_" and each not in others]
    if rules != "kafka":
        folders = [rules if rules == CONTROLLERS else f"drafts/{rules.replace('-', '_')}"]
    dialect = "kafka" if rules == CONTROLLERS else rules
    modules = {}
    for folder in folders:
        for file in os.listdir(_FOLDER / folder):
            module = file.removesuffix(".py")
            if module == file or module == "__init__":
                continue
            path = f"{_HANDLERS}.{folder.replace('/', '.')}.{module}"
            try:
                entry = catalog().entry(module.title().replace("_", "") + "Request", dialect)
            except UnknownMessageError as error:
                raise ImportError(f"{path} is named after no api: {error}") from None
            assert entry.api_key is not None
            modules[entry.api_key] = path
    return dict(sorted(modules.items()))


@cache
def served_apis(release: ReleaseNumber, rules: str = "shipped") -> tuple[Api, ...]:
    """The apis that a node of that release lists in ApiVersions, with the release's versions.

    If ``rules`` is a draft with messages of its own, these follow. With those of KIP-4 CreateTopics
    has the versions that the proposals define too, 0 and 1, which newer releases lack. A controller
    lists what Kafka's definitions have for its listener.
    """
    facts = release_facts(str(release))
    keys = [*handler_modules(), *OF_CONNECTIONS]
    if rules == CONTROLLERS:
        keys = [each for each in {*keys, *handler_modules(rules)} if _is_of_controllers(each)]
    else:
        keys.remove(api_keys.ENVELOPE)
    keys.sort()
    versions = {key: facts.versions_of(key) for key in keys}
    if rules == "kip-4":
        versions[api_keys.CREATE_TOPICS] = VersionRange(0, versions[api_keys.CREATE_TOPICS].highest)
    apis = [
        Api(key, (catalog().name_of(key, "request") or "").removesuffix("Request"), each)
        for key, each in versions.items()
        if not each.empty
    ]
    if rules in DIALECTS:
        for key in handler_modules(rules).keys() - versions.keys():
            name = catalog().name_of(key, "request", rules) or ""
            entry = catalog().entry(name, rules)
            apis.append(Api(key, name.removesuffix("Request"), entry.versions))
    return tuple(sorted(apis, key=lambda each: each.api_key))


def _is_of_controllers(api_key: int) -> bool:
    return "controller" in catalog().spec(catalog().name_of(api_key, "request") or "").listeners
