"""Emitted source → a function, in one place, so that tracebacks and debuggers find each source."""

from __future__ import annotations

import linecache
from typing import Any


def compile_function(
    name: str, source: str, title: str, namespace: dict[str, Any] | None = None
) -> Any:
    """The function ``name`` that ``source`` defines, with ``namespace`` as its globals.

    ``title`` says what it is of ("decode FetchRequest v13"); tracebacks show it as the file.
    """
    filename = f"<kafka_admin_proto {title}>"
    found = dict(namespace or {})
    exec(compile(source, filename, "exec"), found)
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    return found[name]
