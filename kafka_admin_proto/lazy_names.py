"""Public names of a package: each loads the module that defines it when it is first asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def lazy_names(
    package: str, modules: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a package; ``modules``: module below it → its names.

    A package that imported all its public names would load all its modules for a caller that needs
    one of them. Type checkers do not see through this: the package imports the same names under
    ``TYPE_CHECKING``, and lists them in ``__all__``.
    """
    namespace = vars(sys.modules[package])
    homes = {name: module for module, names in modules.items() for name in names}

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(import_module(f"{package}.{homes[name]}"), name)
        namespace[name] = found  # the next access does not come here
        return found

    def names() -> list[str]:
        return sorted({*namespace, *homes})

    return find, names
