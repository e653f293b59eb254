"""All tables beside ``frames``, each the ``TABLE`` of a module of ``derived/``."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from kafka_admin_proto.tables.rows import derived
from kafka_admin_proto.tables.rows.derived_table import DerivedTable

DERIVED: tuple[DerivedTable, ...] = tuple(
    import_module(each.name).TABLE
    for each in iter_modules(derived.__path__, f"{derived.__name__}.")
)
