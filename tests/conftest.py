"""Hypothesis profiles, the seed of samples, and where the time of a run goes.

``KAFKA_ADMIN_PROTO_PROFILE=exhaustive`` draws 40 values for each distinct layout of each message
(``KAFKA_ADMIN_PROTO_EXAMPLES`` sets another figure); the quick profile, for runs by hand, draws a
few, the same ones every time, and leaves out tests that are marked ``exhaustive``.
"""

from __future__ import annotations

import signal

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.database import InMemoryExampleDatabase

from tests.helpers.profile import EXAMPLES, EXHAUSTIVE, SEED
from tests.scheduling.failures_at_once import FailuresAtOnce
from tests.scheduling.group_order import longest_first
from tests.scheduling.time_budget import FileTimes

#: The Spark session that tests of several rooms share.
pytest_plugins = ["tests.helpers.spark_session"]
_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]

settings.register_profile(
    "quick", max_examples=4, derandomize=True, deadline=None, suppress_health_check=_SLOW
)
settings.register_profile(
    "exhaustive",
    max_examples=EXAMPLES,
    deadline=None,
    # What failed is drawn again when the test is run again.
    database=InMemoryExampleDatabase(),
    print_blob=True,
    suppress_health_check=_SLOW,
)
settings.load_profile("exhaustive" if EXHAUSTIVE else "quick")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--file-budget",
        type=float,
        metavar="SECONDS",
        help="fail when the tests of a file take longer in the quick profile",
    )


@pytest.hookimpl(trylast=True)  # the terminal reporter comes first
def pytest_configure(config: pytest.Config) -> None:
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # In a background run this process ignores Ctrl-C, and so would all commands that tests
        # start.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(config, "workerinput"):  # a worker of xdist: its reports are added up elsewhere
        return
    budget = None if EXHAUSTIVE else config.getoption("--file-budget")
    config.pluginmanager.register(FileTimes(budget))
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    if EXHAUSTIVE and terminal is not None:
        config.pluginmanager.register(FailuresAtOnce(terminal))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if hasattr(config, "workerinput"):
        longest_first(items)
    if EXHAUSTIVE:
        # On a busy machine brokers lose sessions, and what is asked in time is answered late.
        for item in items:
            item.add_marker(pytest.mark.flaky(reruns=1, reruns_delay=3))
        return
    left_out = [item for item in items if item.get_closest_marker("exhaustive")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker("exhaustive")]


def pytest_report_header() -> str:
    return f"samples: KAFKA_ADMIN_PROTO_SEED={SEED} draws the same ones again"
