"""Names in messages get a prefix, and lose it again."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from kafka_admin_proto.errors import DecodeError
from kafka_admin_proto.protocol.consumer_protocol import (
    ASSIGNMENT,
    CONSUMER,
    SUBSCRIPTION,
    VERSION_BYTES,
    codec_of,
)
from kafka_admin_proto.proxy.tenants.fields import Kind, NamedField, named_fields
from kafka_admin_proto.proxy.tenants.patterns import PrefixedPatterns
from kafka_admin_proto.values import Message

#: Types of resources: ANY, TOPIC, GROUP and TRANSACTIONAL_ID of ACLs, TOPIC and GROUP of configs.
NAMED_BY_ACLS = (1, 2, 3, 5)
_NAMED_BY_CONFIGS = (2, 32)
#: Types of patterns of ACLs.
_LITERAL, _PREFIXED = 3, 4
_EVERY: Final = "*"
#: The only config of topics, groups or transactional ids whose value is the name of one: brokers
#: write what a share group gives up to that topic.
_CONFIG_WITH_TOPIC = "errors.deadletterqueue.topic.name"
#: ``key_type`` of coordinators; the third is that of share groups, whose keys begin with a group.
_KIND_OF_KEY = (Kind.MAYBE_EMPTY_GROUP, Kind.TRANSACTION, Kind.GROUP)
_EMBEDDED = {Kind.SUBSCRIPTION: SUBSCRIPTION, Kind.ASSIGNMENT: ASSIGNMENT}
#: In place of the name of another tenant.
_FOREIGN: Final = object()

_Fields = tuple[NamedField, ...]


class BadPatternError(ValueError):
    """A regular expression that cannot stand behind a prefix."""


class PrefixedNames:
    """Puts a prefix in front of the names in messages, and takes it off."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._patterns = PrefixedPatterns(prefix)
        self._in_text = re.compile(rf"(?<![A-Za-z0-9._-]){re.escape(prefix)}")

    def add(self, message: Message, version: int, request: Message) -> None:
        """Put the prefix in front of all names of a message; ``request`` is that of a response.

        Raises BadPatternError for a regular expression whose parentheses do not match.
        """
        self._add(message, named_fields(message.message_name, version), request)

    def remove(self, message: Message, version: int, request: Message) -> bool:
        """Take the prefix off; rows with a name without it are left out.

        False where a name without the prefix is in no row. ``request`` is that of a response.
        """
        return self._remove(message, named_fields(message.message_name, version), request)

    def is_own(self, name: str) -> bool:
        return name.startswith(self._prefix)

    def short(self, name: str) -> str:
        return name.removeprefix(self._prefix)

    # ``asked`` has the type of keys and of the embedded protocol: it is the request, or the
    # nearest struct around a field that says the type itself.

    def _add(self, owner: Any, fields: _Fields, asked: Any) -> None:
        asked = owner if getattr(owner, "protocol_type", None) else asked
        for field in fields:
            value = getattr(owner, field.attribute)
            if value is None:
                continue
            if field.inner:
                for each in value if field.is_array else (value,):
                    self._add(each, field.inner, asked)
            elif field.is_array:
                changed = [self._long(field, each, owner, asked) for each in value]
                setattr(owner, field.attribute, changed)
            else:
                setattr(owner, field.attribute, self._long(field, value, owner, asked))

    def _remove(self, owner: Any, fields: _Fields, asked: Any) -> bool:
        asked = owner if getattr(owner, "protocol_type", None) else asked
        is_own = True
        for field in fields:
            value = getattr(owner, field.attribute)
            if value is None:
                continue
            left: Any
            if field.inner and field.is_array:
                left = [each for each in value if self._remove(each, field.inner, asked)]
            elif field.inner:
                left = value if self._remove(value, field.inner, asked) else _FOREIGN
            elif field.is_array:
                left = [self._short(field, each, owner, asked) for each in value]
                left = [each for each in left if each is not _FOREIGN]
            else:
                left = self._short(field, value, owner, asked)
            if left is _FOREIGN:
                is_own = is_own and field.is_nullable_struct
                left = None
            setattr(owner, field.attribute, left)
        return is_own

    def _long(self, field: NamedField, value: Any, owner: Any, asked: Any) -> Any:
        kind = _kind(field, owner, asked)
        if kind in _EMBEDDED:
            return _embedded(kind, value, asked, self._add)
        if kind is Kind.PATTERN:
            return self._long_pattern(value)
        if kind is Kind.RESOURCE:
            return self._long_resource(value, owner)
        return value if _is_no_name(kind, value) else self._prefix + value

    def _short(self, field: NamedField, value: Any, owner: Any, asked: Any) -> Any:
        kind = _kind(field, owner, asked)
        if kind in _EMBEDDED:
            return _embedded(kind, value, asked, self._remove)
        if kind is Kind.TEXT:
            return self._in_text.sub("", self._patterns.remove_in_text(value))
        if kind is Kind.PATTERN:
            return (self._patterns.remove(value) or "") if value else value
        if kind is Kind.RESOURCE:
            return self._short_resource(value, owner)
        if _is_no_name(kind, value):
            return value
        return self.short(value) if self.is_own(value) else _FOREIGN

    def _long_pattern(self, pattern: str) -> str:
        long_pattern = self._patterns.add(pattern) if pattern else pattern  # none unsubscribes
        if long_pattern is None:
            raise BadPatternError(pattern)
        return long_pattern

    def _long_resource(self, name: str, owner: Any) -> str:
        named, patterns = _resource(owner)
        if not name or not named:
            return name
        if name == _EVERY and patterns is not None:  # every one of the tenant's
            if getattr(owner, patterns) == _LITERAL:
                setattr(owner, patterns, _PREFIXED)
            return self._prefix
        return self._prefix + name

    def _short_resource(self, name: str, owner: Any) -> Any:
        named, patterns = _resource(owner)
        if not name or not named:
            return name
        if name == self._prefix and patterns is not None:
            if getattr(owner, patterns) == _PREFIXED:
                setattr(owner, patterns, _LITERAL)
            return _EVERY
        return self.short(name) if self.is_own(name) else _FOREIGN


def _resource(owner: Any) -> tuple[bool, str | None]:
    """Whether a resource has a name of a tenant's; the attribute with the type of its pattern."""
    for name in ("resource_pattern_type", "pattern_type_filter", "pattern_type"):
        if hasattr(owner, name):
            of_filter = getattr(owner, "resource_type_filter", None)
            kind = owner.resource_type if of_filter is None else of_filter
            return kind in NAMED_BY_ACLS, name
    return owner.resource_type in _NAMED_BY_CONFIGS, None


def _is_no_name(kind: Kind | None, value: Any) -> bool:
    """Whether a prefix in front would be wrong: an empty name is refused by brokers."""
    is_empty = not value and kind is not Kind.MAYBE_EMPTY_GROUP
    return kind in (Kind.KEY, Kind.CONFIG, Kind.TOPIC_ID) or is_empty


def _kind(field: NamedField, owner: Any, asked: Any) -> Kind | None:
    """What a field has here, where that is said by another one; its own kind where it has none."""
    if field.kind is Kind.CONFIG and owner.name == _CONFIG_WITH_TOPIC:
        return Kind.TOPIC
    if field.kind is Kind.KEY and 0 <= asked.key_type < len(_KIND_OF_KEY):
        return _KIND_OF_KEY[asked.key_type]  # the broker refuses others
    return field.kind


def _embedded(
    kind: Kind, data: bytes, asked: Any, change: Callable[[Any, _Fields, Any], object]
) -> bytes:
    """Change a subscription or assignment; bytes that are none are left as they are.

    A newer version is read as the newest known one, as consumers do, and the rest of it is kept.
    SyncGroup does not say the type of its protocol before version 5: all of the bytes have to fit.
    """
    protocol_type = getattr(asked, "protocol_type", None)
    if protocol_type not in (CONSUMER, "", None):
        return data
    try:
        embedded_codec = codec_of(data, _EMBEDDED[kind])
        value, end = embedded_codec.decode_from(data, VERSION_BYTES)
    except DecodeError:
        return data
    if end < len(data) and protocol_type != CONSUMER:
        return data
    change(value, named_fields(embedded_codec.name, embedded_codec.version), asked)
    return data[:VERSION_BYTES] + embedded_codec.encode(value) + data[end:]
