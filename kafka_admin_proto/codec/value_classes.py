"""The classes of values: generated ones are found by name, loaded dialects make theirs."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from kafka_admin_proto.arguments import check_kind
from kafka_admin_proto.schema.model import MessageSpec
from kafka_admin_proto.schema.names import messages_package, python_name

#: Makes the classes of a message and of the structs in it, by name.
MakeClasses = Callable[[MessageSpec], dict[str, type[Any]]]


class _LoadedClasses(dict[str, dict[str, type[Any]]]):
    """Message → name of a struct → class, in a loaded dialect."""

    def __init__(self, make: MakeClasses) -> None:
        super().__init__()
        self.make = make


#: Loaded dialect → its classes.
_loaded: dict[str, _LoadedClasses] = {}


def make_classes_with(dialect: str, make_classes: MakeClasses) -> None:
    """Have the classes of a loaded dialect made by ``make_classes``, each when first needed."""
    _loaded[dialect] = _LoadedClasses(make_classes)


def value_class_of(spec: MessageSpec, struct_name: str) -> type[Any]:
    """The class of a message's values, or of those of a struct in it."""
    check_kind(spec, MessageSpec, "value_class_of: spec")
    loaded = _loaded.get(spec.dialect)
    if loaded is not None:
        classes = loaded.get(spec.name)
        if classes is None:  # two threads may come here at a time: the first one's count
            classes = loaded.setdefault(spec.name, loaded.make(spec))
        return classes[struct_name]
    package = messages_package(spec.dialect)
    # By itself: an import of the module below fails while another thread ends that of the package.
    importlib.import_module(package)
    module = importlib.import_module(f"{package}.{python_name(spec.name)}")
    value_class: type[Any] = getattr(module, struct_name)
    return value_class
