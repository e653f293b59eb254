"""Ctrl-C while work runs in another thread."""

from __future__ import annotations

import os
import signal
import threading
from unittest.mock import Mock

import pytest
from py4j.protocol import Py4JError

from kafka_admin_proto.cli.pipeline.interruptible import Interrupt, Stopped
from kafka_admin_proto.tables.processes import WorkerError
from tests.spark.needs import require

require("pyspark")


def press_ctrl_c() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_work_that_nobody_stops() -> None:
    before = signal.getsignal(signal.SIGINT)
    assert Interrupt().run(lambda: 7) == 7
    with pytest.raises(OSError, match="the disk is full"):
        Interrupt().run(Mock(side_effect=OSError("the disk is full")))
    assert signal.getsignal(signal.SIGINT) is before


def test_work_that_looks_at_the_event_ends_in_order() -> None:
    interrupt = Interrupt()

    def work() -> str:
        interrupt.started()
        press_ctrl_c()
        assert interrupt.event.wait(10)
        return "the tables"

    assert interrupt.run(work) == "the tables"


@pytest.mark.parametrize("error", [Py4JError("Job 3 cancelled"), WorkerError("it ended")], ids=repr)
def test_tasks_are_cancelled_and_their_error_is_not_shown(error: Exception) -> None:
    interrupt = Interrupt()
    cancelled = threading.Event()

    def work() -> None:
        interrupt.started(cancelled.set)
        press_ctrl_c()
        assert cancelled.wait(10)
        raise error

    with pytest.raises(Stopped):
        interrupt.run(work)


def test_while_spark_starts() -> None:
    interrupt = Interrupt()

    def work() -> None:
        press_ctrl_c()
        assert interrupt.event.wait(10)
        interrupt.started(Mock())
        raise AssertionError

    with pytest.raises(Stopped):
        interrupt.run(work)


def test_a_spark_that_does_not_start_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kafka_admin_proto.cli.pipeline.interruptible._STARTING_S", 0.1)
    interrupt = Interrupt()
    over = threading.Event()

    def work() -> None:
        press_ctrl_c()
        over.wait(60)

    with pytest.raises(Stopped):
        interrupt.run(work)
    over.set()


def test_the_second_one_waits_for_nothing() -> None:
    interrupt = Interrupt()
    over = threading.Event()

    def work() -> None:
        interrupt.started()
        press_ctrl_c()
        assert interrupt.event.wait(10)
        press_ctrl_c()
        over.wait(60)

    with pytest.raises(KeyboardInterrupt):
        interrupt.run(work)
    over.set()
