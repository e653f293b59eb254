"""Filters: objects whose methods get the messages that their annotations name.

::

    class NoDeletes:
        def on_request(self, request: DeleteTopicsRequest, call: Call) -> Message | None:
            ...

A filter has ``on_request``, ``on_response`` or both. The annotation of the first argument is a
message, several (``CreateTopicsRequest | DeleteTopicsRequest``), or ``Message`` for all. Both may
change the message in place. ``on_request`` returns None to pass the request on, or a response,
which is the answer. ``on_response`` returns None, or the response to give instead.

``on_request`` may be a generator: each request that it yields is sent to the broker on the client's
own connection, with the client's rights, and the response is the value of ``yield``. Later requests
of that client wait meanwhile. What it returns counts as above.

A method ``takes(message_name, api_key, api_version)``, where there is one, says False for versions
of these messages that the filter need not see: they are passed without being decoded.
"""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Generator, Iterable
from typing import Any

from kafka_admin_proto.arguments import is_async, listed
from kafka_admin_proto.protocol.payloads import api_name
from kafka_admin_proto.proxy.call import Call
from kafka_admin_proto.values import Message
from kafka_admin_proto.wire.types.base import shown

OnRequest = Callable[[Any, Call], Message | Generator[Message, Message, Message | None] | None]
OnResponse = Callable[[Any, Call], Message | None]
_KINDS = {"on_request": "Request", "on_response": "Response"}


class Filters:
    """The methods of all filters by the api keys that they name.

    TypeError for an object that is no filter, which a sentence says.
    """

    def __init__(self, filters: Iterable[object]) -> None:
        self.all: list[object] = listed(filters, "filters")
        #: For each filter its two methods by name, and the keys that they name; None for all.
        self._methods = [_methods(each) for each in self.all]

    def requests(self, api_key: int, api_version: int) -> list[tuple[int, OnRequest]]:
        """Place and method of the filters that take this request, the client's nearest first."""
        return self._taking("on_request", api_key, api_version)

    def responses(self, api_key: int, api_version: int) -> list[tuple[int, OnResponse]]:
        """The same of its response, in the same order."""
        return self._taking("on_response", api_key, api_version)

    def _taking(self, name: str, api_key: int, api_version: int) -> list[tuple[int, Any]]:
        taking = []
        message_name = f"{api_name(api_key)}{_KINDS[name]}"
        for place, (filter_, methods) in enumerate(zip(self.all, self._methods, strict=True)):
            if name in methods:
                method, keys = methods[name]
                takes = getattr(filter_, "takes", None)
                if (keys is None or api_key in keys) and (
                    takes is None or takes(message_name, api_key, api_version)
                ):
                    taking.append((place, method))
        return taking


def _methods(given: object) -> dict[str, tuple[Any, frozenset[int] | None]]:
    kind = given.__qualname__ if isinstance(given, type) else type(given).__qualname__
    if isinstance(given, type):
        raise TypeError(f"filters has the class {kind}; give an object of it, {kind}()")
    methods = {}
    for name, message in _KINDS.items():
        method = getattr(given, name, None)
        if method is None:
            continue
        where = f"{name} of {kind}"
        if not callable(method):
            raise TypeError(f"{where} is {shown(method)}; expected a method")
        if is_async(method):
            raise TypeError(f"{where} is a coroutine function; write it without async")
        if name == "on_response" and inspect.isgeneratorfunction(method):
            raise TypeError(f"{where} is a generator function; only on_request may ask the broker")
        methods[name] = (_checked(method, where), _named_keys(method, where, message))
    if not methods:
        raise TypeError(f"{kind} is no filter: it has neither on_request nor on_response")
    return methods


def _checked(method: Callable[..., Any], where: str) -> Callable[[Any, Call], Any]:
    """The method of a filter; TypeError, which the log has, for what it may not give."""

    def own(code: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return code(*arguments)
        except SystemExit as error:  # it does not end the proxy
            raise RuntimeError(f"{where} called sys.exit()") from error

    def checked(message: Message, call: Call) -> Any:
        found = own(method, message, call)
        return asking(found, call) if isinstance(found, Generator) else response(found, call)

    def asking(generator: Generator[Any, Any, Any], call: Call) -> Generator[Message, Any, Any]:
        answer = None
        while True:
            try:
                asked = own(generator.send, answer)
            except StopIteration as done:
                return response(done.value, call)
            if not (isinstance(asked, Message) and asked.message_name.endswith("Request")):
                raise TypeError(
                    f"{where} yielded {_given(asked)}; expected a request to the broker"
                )
            answer = yield asked

    def response(given: Any, call: Call) -> Any:
        expected = f"{api_name(call.api_key)}Response"
        if given is None or (isinstance(given, Message) and given.message_name == expected):
            return given
        raise TypeError(f"{where} returned {_given(given)}; expected None or a {expected}")

    return checked


def _given(value: object) -> str:
    return f"a {value.message_name}" if isinstance(value, Message) else shown(value)


def _named_keys(method: Callable[..., Any], where: str, kind: str) -> frozenset[int] | None:
    """The api keys of the messages in the annotation of the first argument; None for all."""
    try:
        signature = inspect.signature(method, eval_str=True)
    except NameError as error:
        raise TypeError(
            f"{where}: {error}; import what it names where the module runs, not for types alone"
        ) from None
    try:
        signature.bind(None, None)
    except TypeError:
        raise TypeError(f"{where} takes {signature}; expected (message, call)") from None
    hint = next(iter(signature.parameters.values())).annotation
    union = typing.get_origin(hint) in (typing.Union, types.UnionType)
    named = typing.get_args(hint) if union else (hint,)
    if Message in named:
        return None
    for message in named:
        if not (
            isinstance(message, type)
            and issubclass(message, Message)
            and message.api_key is not None
            and message.message_name.endswith(kind)
            and message.dialect == "kafka"
        ):
            raise TypeError(
                f"{where} does not name its messages; annotate its first argument, as "
                f"CreateTopics{kind} or CreateTopics{kind} | DeleteTopics{kind}, or as Message "
                "for all"
            )
    return frozenset(each.api_key for each in named)
