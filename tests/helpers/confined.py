"""A guard for tests of attacks: what they would remove or move elsewhere stays.

A test that shows a hole must not tear it open: without the guard, a journal that names a folder of
the system removes it wherever the check under test is missing.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

_CHANGES = ("rename", "replace", "unlink", "mkdir", "rmdir", "chmod")


@contextmanager
def confined(folder: Path) -> Iterator[None]:
    """Raise AssertionError, in place of the change, for a path that is not below ``folder``."""
    root = folder.resolve()

    def guarded(real: Callable[..., Any]) -> Callable[..., Any]:
        def act(path: Any, *others: Any, **named: Any) -> Any:
            for each in (
                path,
                *(other for other in others if isinstance(other, str | os.PathLike)),
            ):
                place = Path(os.path.abspath(each))
                inside = place.parent.resolve() / place.name
                assert inside != root, f"the run would change {root} itself"
                assert inside.is_relative_to(root), f"the run would change {inside}"
            return real(path, *others, **named)

        return act

    with ExitStack() as patches:
        for name in _CHANGES:
            patches.enter_context(patch.object(Path, name, guarded(getattr(Path, name))))
        patches.enter_context(patch.object(shutil, "rmtree", guarded(shutil.rmtree)))
        yield
