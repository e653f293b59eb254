"""Where the shell keeps its history, and what it leaves out of it."""

from __future__ import annotations

import os
import re
from pathlib import Path

from kafka_admin_proto.wire.secrets import is_secret_name

#: The name in front of a value: name=value, "name":"value", --name value.
_NAMED = re.compile(r"""([\w.\-]+)["']?\s*[=:]""")
_OPTION = re.compile(r"--([\w-]+)")
_WORD = re.compile(r"[\w.\-]+")
#: The command that takes any field of any request: a credential may be the value of a config whose
#: name stands elsewhere on the line, or a token in a field whose name says nothing.
_REQUEST = re.compile(r"\s*(kap\s+)?request\b")
_TOKENS = re.compile(r"\b(SaslAuthenticate|auth_?bytes|hmac)\b", re.IGNORECASE)


def history_file() -> Path | None:
    """The file, that only its owner may read; None where none can be made."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    file = Path(state) / "kap" / "history"
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(file, os.O_CREAT | os.O_APPEND | os.O_RDWR, 0o600))
    except OSError:
        return None
    return file


def is_secret_line(line: str) -> bool:
    """Whether something on the line may be a credential, by the name in front of it."""
    names = [*_NAMED.findall(line), *_OPTION.findall(line)]
    if _REQUEST.match(line):
        if _TOKENS.search(line):
            return True
        names += _WORD.findall(line)
    return any(is_secret_name(name) for name in names if name not in _HARMLESS)


#: Options whose names look like credentials and whose values are none.
_HARMLESS = frozenset({"password-file", "delegation-token", "show-secrets"})
