"""Outputs of clients in a form in which two clusters' are equal, each rule with its reason."""

from __future__ import annotations

import json
import re
from pathlib import Path

import msgspec

from tests.server.clients.pair import Side

#: Pattern, its replacement, and why the outputs may differ.
RULES = [
    (r"@(broker|controller)-(\d)", r"@controller-\2", "our nodes have one port for both roles"),
    (r"CONTROLLER://[^\s,\"\]]+", "CONTROLLER://address", "ports"),
    (r"/\S*?/(node\d/data|kafka-logs-\d)", "/folder", "folders"),
    (r"(TopicId: |ClusterId: +)[\w-]+", r"\1id", "ids are random"),
    (r"(?m)^(\d +\t[\w-]+\t)[^A-Z]*(?=\t\w+)", r"\1when", "times, and offsets of the log"),
    (r"(HighWatermark|MaxFollowerLagTimeMs|LeaderEpoch|MaxFollowerLag): +\d+", r"\1: number",
     "a real controller appends NoOpRecords and is elected"),
    (r"Epoch: \d+", "Epoch: number", "the offset of the log"),
    (r"(?m)^\S+ main ERROR", "ERROR", "the time of a line of the client's log"),
    (r"(?m)^log4j:WARN .*\n", "", "the client's log4j warns once in a process"),
    (r"Request Request\(.*\) needs", "Request needs", "Kafka shows its own objects"),
    (r"adminclient-\d+", "adminclient", "numbers of the client's own"),
    (r"(?m)^\S+Z kafka-admin-client-thread", "thread", "the time of a line of the client's log"),
    (r'"timestamp":\d+', '"timestamp":number', "times"),
    (r"LogAppendTime:\d+", "LogAppendTime:number", "times"),
    (r"(?m)^(\d+ records sent), .*", r"\1", "speeds"),
    (r"(?m)^(\d{4}-\d\d-\d\d [\d:]+, ){2}[\d.]+, [\d.]+, (\d+), .*", r"\2", "speeds"),
    (r"(?m)^(0\t|Avg latency: |Percentiles: )\d.*", r"\1", "speeds"),
    (r"broker-\d +\(\d\) +", "coordinator ", "the brokers of Kafka's own topics are drawn"),
    (r"(?m)^(paid +)\t\d +\t\d+ +", r"\1\tcoordinator, id", "the same; blocks of producer ids"),
    (r"(?m)^\d +\t(paid +)\t\d+ +(\t\d+ +\t\w+ +\t\d+ +)\t\d+ +\t\d+ +",
     r"coordinator\t\1\tid\2\ttimes", "the same, and times"),
    (r"(?m)^\d+ +(\t\d+ +\t\d+ +\t-?\d+ +)\t\d{13}", r"id\1\ttime", "the same"),
    (r"within \[\d+, \d+\]", "within [times]", "times"),
    (r"PID\{Id:\d+", "PID{Id:id", "blocks of producer ids"),
    (r"(TxnCoordinator|GroupCoordinator|sasl_plaintext://broker-\d)/\d", "coordinator",
     "the brokers of Kafka's own topics are drawn"),
    (r"(?m)^\tat .*\n", "", "where in the client an error was raised"),
]  # fmt: skip
_ISR = re.compile(r"(Isr: )([\d,]+)")


class Difference(msgspec.Struct):
    """An output that differs on purpose: how its command begins, and why."""

    command: str
    why: str


#: What differs on purpose.
KNOWN = msgspec.json.decode(
    (Path(__file__).parent / "differences.json").read_bytes(), type=list[Difference]
)


def is_known(command: str) -> bool:
    """Whether the output of a command differs on purpose."""
    return any(command.startswith(each.command) for each in KNOWN)


def normalised(text: str, side: Side, folder: Path) -> str:
    """An output with what may differ replaced."""
    for addresses in filter(None, (side.bootstrap, side.behind, side.secured)):
        for number, address in enumerate(addresses.split(","), 1):
            text = text.replace(address, f"broker-{number}")
    for number, address in enumerate(side.controllers.split(","), 1):
        text = text.replace(address, f"controller-{number}")
    text = text.replace(str(folder), "folder")
    for pattern, replacement, _ in RULES:
        text = re.sub(pattern, replacement, text)
    # Sets of replicas have no order.
    text = _ISR.sub(lambda found: found[1] + ",".join(sorted(found[2].split(","))), text)
    return "\n".join(map(_with_sorted_partitions, text.splitlines()))


def _with_sorted_partitions(line: str) -> str:
    """LogDirsCommand's JSON, whose partitions stand as they hash; other lines as they are."""
    if not line.startswith('{"brokers"'):
        return line
    shown = json.loads(line)
    for broker in shown["brokers"]:
        for folder in broker["logDirs"]:
            folder["partitions"].sort(key=lambda each: each["partition"])
    return json.dumps(shown)
