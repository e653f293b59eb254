"""Public names of a package: each loads the module that defines it when it is first asked for.

A package that imported all its public names would load all its modules for a caller that needs one
of them. So it imports them where only type checkers look, which is the one list of its names:

    if TYPE_CHECKING:
        from kafka_admin_proto.room.part import Thing as Thing
    else:
        __getattr__, __dir__ = lazy_names(__name__)

At run time these imports stand in the package's compiled code, though they never run, and
``lazy_names`` reads them there. "As" the same name says to type checkers that a name is public.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from types import CodeType
from typing import Any

_PREFIX = f"{__package__}."


def lazy_names(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of the package that calls this; ``__all__`` is among them."""
    namespace = vars(sys.modules[package])
    code = sys._getframe(1).f_code

    @cache
    def homes() -> dict[str, str]:
        return dict(_imports(code))

    def find(name: str) -> Any:
        if name == "__all__":
            found: Any = sorted(homes())
        elif name in homes():
            found = getattr(import_module(homes()[name]), name)
        else:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        namespace[name] = found  # the next access does not come here
        return found

    def names() -> list[str]:
        return sorted({*namespace, *homes()})

    return find, names


def _imports(code: CodeType) -> list[tuple[str, str]]:
    """(name, module) of each name that the code imports of this package's other modules."""
    from dis import get_instructions

    found, module = [], ""
    for each in get_instructions(code):
        if each.opname == "IMPORT_NAME":
            module = each.argval
        elif each.opname == "IMPORT_FROM" and module.startswith(_PREFIX) and module != __name__:
            found.append((each.argval, module))
    return found
