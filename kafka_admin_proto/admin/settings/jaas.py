"""The login that a ``sasl.jaas.config`` property holds."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kafka_admin_proto.admin.errors import ConfigurationError

#: The login modules whose user and password this client can use.
_MODULES = ("PlainLoginModule", "ScramLoginModule")
_TOKEN = re.compile(
    r"""(?:\s+|//[^\n]*|/\*.*?\*/)
    |(?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    |(?P<sign>[=;])
    |(?P<word>[^\s"'=;/]+)""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\([0-3][0-7]{2}|[0-7]{1,2}|.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "b": "\b", "r": "\r", "f": "\f", "a": "\a", "v": "\v"}
_EQUALS, _END = ("sign", "="), ("sign", ";")
_FORM = 'Module required username="..." password="...";'


def read_jaas(text: str, modules: Sequence[str] = _MODULES) -> dict[str, str]:
    """The options of a login by one of the modules: "username", "password" and others.

    Raises ConfigurationError, never with a value of the text, for another login module and for
    what is not a login.
    """
    tokens = _tokens(text)
    if len(tokens) < 3:
        raise ConfigurationError(f"sasl.jaas.config is not a login; expected {_FORM}")
    (_, module), (_, flag), *rest = tokens
    name = module.rpartition(".")[2]
    if name not in modules:
        raise ConfigurationError(
            f"sasl.jaas.config has the login module {name}; with this sasl.mechanism this client "
            f"can log in with {' and '.join(modules)}"
        )
    if flag.lower() not in ("required", "requisite", "sufficient", "optional"):
        raise ConfigurationError(f"sasl.jaas.config lacks 'required' after {name}")
    options = {}
    while rest and rest[0] != _END:
        if len(rest) < 3 or rest[1] != _EQUALS or rest[2][0] == "sign":
            raise ConfigurationError(
                f"sasl.jaas.config ends or breaks off after {name}; expected {_FORM}"
            )
        (_, option), _, (_, value) = rest[:3]
        options[option] = value
        del rest[:3]
    if not rest:
        raise ConfigurationError('sasl.jaas.config does not end with ";"')
    if rest != [_END]:
        raise ConfigurationError(
            f'sasl.jaas.config goes on after the first ";"; one login is expected: {_FORM}'
        )
    return options


def _tokens(text: str) -> list[tuple[str, str]]:
    """Kind and text of each token; strings without quotes and escapes."""
    tokens = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise ConfigurationError(
                f"sasl.jaas.config cannot be read at character {at + 1}; put values that are not "
                'plain words into double quotes, with \\" for a quote'
            )
        at = match.end()
        kind = match.lastgroup
        if kind is not None:
            token = match.group()
            tokens.append((kind, _unquoted(token[1:-1]) if kind == "text" else token))
    return tokens


def _unquoted(text: str) -> str:
    def plain(match: re.Match[str]) -> str:
        escaped = match.group(1)
        if escaped.isdigit():
            return chr(int(escaped, 8)) if escaped[0] in "01234567" else escaped
        return _ESCAPES.get(escaped, escaped)

    return _ESCAPE.sub(plain, text)
