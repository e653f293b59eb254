"""The rows of the served apis: each handler's module has one, with all facts."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kafka_admin_proto.protocol import Api, api_keys
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.server import apis
from kafka_admin_proto.server.apis import (
    CONTROLLERS,
    DIALECTS,
    handler_modules,
    served,
    served_apis,
)
from kafka_admin_proto.server.handlers import groups
from kafka_admin_proto.server.releases import ReleaseNumber
from kafka_admin_proto.server.security.authorizer.access import NAMED_OPERATIONS

Module = Callable[[str, str], None]

_IMPORTS = """
from kafka_admin_proto.messages import ListTransactionsResponse
from kafka_admin_proto.server.apis import Answer, handler
"""
_HANDLE = """
def handle(state, request, caller):
    return Answer(ListTransactionsResponse())
"""
_ROW = "@handler(of_broker=True, needs=None, kept=False)"


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Module]:
    """Adds a module to the folder of handlers of groups."""

    def write(name: str, text: str) -> None:
        folder = tmp_path / "groups"
        folder.mkdir()
        (folder / "__init__.py").touch()
        (folder / f"{name}.py").write_text(text)
        monkeypatch.setattr(apis, "_FOLDER", tmp_path)
        monkeypatch.setattr(groups, "__path__", [str(folder)])

    caches = (served, handler_modules, served_apis)
    for each in caches:
        each.cache_clear()
    yield write
    for each in caches:
        each.cache_clear()
    name = f"{groups.__name__}.list_transactions"
    sys.modules.pop(name, None)
    apis._ROWS.pop(name, None)


@pytest.mark.parametrize("rules", ["kafka", "kip-4", CONTROLLERS, *DIALECTS])
def test_each_module_has_a_row(rules: str) -> None:
    modules = handler_modules(rules)
    assert modules
    for api_key, path in modules.items():
        row = served(api_key, rules)
        assert row.handle.__module__ == path
        assert (
            row.needs is None
            or row.needs.text != "operation"
            or (row.needs.operation in NAMED_OPERATIONS)
        )


def test_a_module_is_all_that_a_new_api_takes(module: Module) -> None:
    module("list_transactions", f"{_IMPORTS}{_ROW}{_HANDLE}")
    assert Api(66, "ListTransactions", catalog().entry("ListTransactionsRequest").versions) in (
        served_apis(ReleaseNumber(4, 3))
    )
    assert served(api_keys.LIST_TRANSACTIONS).of_broker


def test_a_module_without_a_row_is_refused(module: Module) -> None:
    module("list_transactions", f"{_IMPORTS}{_HANDLE}")
    with pytest.raises(TypeError, match=r"groups\.list_transactions has no row of its api; write"):
        served(api_keys.LIST_TRANSACTIONS)


@pytest.mark.parametrize("fact", ["of_broker", "needs", "kept"])
def test_a_row_that_lacks_a_fact_is_refused(module: Module, fact: str) -> None:
    row = re.sub(f"{fact}=[A-Za-z]+(, )?", "", _ROW)
    module("list_transactions", f"{_IMPORTS}{row}{_HANDLE}")
    with pytest.raises(TypeError, match=f"missing 1 required keyword-only argument: '{fact}'"):
        served(api_keys.LIST_TRANSACTIONS)


def test_a_module_that_is_named_after_no_api_is_refused(module: Module) -> None:
    module("list_transaction", f"{_IMPORTS}{_ROW}{_HANDLE}")
    with pytest.raises(ImportError, match=r"groups\.list_transaction is named after no api: .*did"):
        served_apis(ReleaseNumber(4, 3))
