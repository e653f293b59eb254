"""Hypothesis' profiles (``tests/helpers/profile.py``), and what a run says at its end."""

from __future__ import annotations

import asyncio
import gc
import signal
import sys
import warnings
from collections.abc import Generator
from inspect import iscoroutinefunction, signature
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.admin.leaks import run_without_leaks
from tests.helpers.profile import EXAMPLES, EXHAUSTIVE, LEFT_OUT, PROFILE, SEED
from tests.helpers.spark_archive import start_from_archive
from tests.scheduling.drawn_values import DrawnByTest, DrawnInRun, take_no_constants_of_modules
from tests.scheduling.group_order import Scheduling, longest_first
from tests.scheduling.second_chance import FailedTests
from tests.scheduling.time_budget import FileTimes, ProcessorTimes

#: The Spark session and the browser that tests of several rooms share.
pytest_plugins = ["tests.helpers.spark_session", "tests.render.browser"]
#: Where tests use kafka-python in their own process.
_WITH_KAFKA_PYTHON = (
    "tests/admin/live/", "tests/docs/", "tests/proxy/", "tests/server/clients/",
    "tests/server/faults/", "tests/server/groups/", "tests/server/security/",
)  # fmt: skip
#: More than any coroutine test takes, on a busy machine too.
_PATIENCE_S = 300
#: Coroutine tests that may leave neither a task nor a socket.
_WITHOUT_LEAKS = ("tests/admin/session/", "tests/server/network/")
_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]

settings.register_profile(
    "quick",
    max_examples=4,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=_SLOW,
)
settings.register_profile("ci", settings.get_profile("quick"), print_blob=True)
settings.register_profile(
    "exhaustive",
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    print_blob=True,
    suppress_health_check=_SLOW,
)
settings.load_profile(PROFILE)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--file-budget",
        type=float,
        metavar="SECONDS",
        help="fail when the tests of a file take longer in the quick profile",
    )
    parser.addoption(
        "--failures",
        type=Path,
        metavar="FILE",
        help="write the names of failed tests to the file, as they fail",
    )
    parser.addoption(
        "--run-alone",
        action="store_true",
        help="the tests failed beside others: name those that pass now",
    )


def pytest_configure(config: pytest.Config) -> None:
    start_from_archive()
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # In a background run this process ignores Ctrl-C, and so would all commands that tests
        # start.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    is_worker = hasattr(config, "workerinput")
    if is_worker or not getattr(config.option, "numprocesses", None):
        if not EXHAUSTIVE:
            take_no_constants_of_modules()
        config.pluginmanager.register(DrawnByTest())
        config.pluginmanager.register(ProcessorTimes())
    if not is_worker:
        budget = config.getoption("--file-budget") if PROFILE == "quick" else None
        config.pluginmanager.register(times := FileTimes(budget))
        config.pluginmanager.register(DrawnInRun())
        if listing := config.getoption("--failures"):
            alone = config.getoption("--run-alone")
            config.pluginmanager.register(FailedTests(listing, alone, times))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect no garbage while the tests and what they import are loaded: all of that stays."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if hasattr(config, "workerinput"):
        longest_first(items)
    left_out = [each for each in items if any(map(each.get_closest_marker, LEFT_OUT))]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [each for each in items if not any(map(each.get_closest_marker, LEFT_OUT))]


def pytest_collection_finish() -> None:
    _freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Scheduling | None:
    return Scheduling(config, log) if config.getvalue("dist") == "loadgroup" else None


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Collect behind each file what its tests left, so that it is they that fail of a warning.

    kafka-python leaves the sockets of refused connections: these are no fault of a test.
    """
    if nextitem is not None and nextitem.path == item.path:
        return
    with warnings.catch_warnings():
        if "kafka" in sys.modules and item.nodeid.startswith(_WITH_KAFKA_PYTHON):
            warnings.simplefilter("ignore", ResourceWarning)
        _freeze()


def _freeze() -> None:
    """Collect, and let later collections pass over all that is there by now.

    The tests and what they import are half a million objects: where a test collects, to walk them
    took longer than most tests do.
    """
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """A test that is a coroutine function runs in a loop of its own; one that hangs fails.

    Those of ``_WITHOUT_LEAKS`` may leave no task and no socket either.
    """
    if not iscoroutinefunction(pyfuncitem.obj):
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in signature(pyfuncitem.obj).parameters}
    is_watched = pyfuncitem.nodeid.startswith(_WITHOUT_LEAKS)
    test = asyncio.wait_for(pyfuncitem.obj(**arguments), _PATIENCE_S)
    (run_without_leaks if is_watched else asyncio.run)(test)
    return True


def pytest_report_header() -> str:
    return f"samples: KAFKA_ADMIN_PROTO_SEED={SEED} draws the same ones again"
