"""Writes ``docs/tshark.md``: how tshark reads the captures of real brokers, api by api.

Run as ``python -m tools.oracles.tshark_table``. The captures are those that are in git; that of a
cluster with ZooKeeper, which is not, is made first if need be.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

from tools.oracles import tshark
from tools.oracles.tshark_times import KINDS, compared
from tools.traffic.captures import NAMES, kept

PAGE = Path(__file__).resolve().parents[2] / "docs" / "tshark.md"

WHOLE, STOPS, NO_NAME, UNPAIRED = "whole", "stops", "no name", "request forgotten"

_TIMES = """
## Times and pairs

A frame's time is that of the packet with its last byte, and a response's latency the time since
the packet with its request's. tshark says both (`frame.time_epoch`, `kafka.request_frame`). The
same captures were read whole, and {draws} times each with packets lost: one in 50, and the seven
after it. Frames inside of others are left out.

| what tshark and `kap` say of a frame | whole | packets lost |
|---|---|---|
{rows}

tshark forgets requests, as the table above counts. It takes tokens of a login by SaslHandshake v0
for requests: they have no header, and `kap` shows them as tokens. Behind a hole tshark may go on
amid a frame, and take what is there for the size and the correlation id of a response, seconds
after the real one: such are the other times, and frames that `kap` does not have. The tests compare
what `kap` reads of a capture with packets lost with what it reads of the whole one.
"""
_DRAWS = range(4)

_HEAD = """\
# What tshark reads

`python -m tools.oracles.tshark_table` writes this page. It lays tshark {version} beside this
package on the captures that `python -m tools.traffic.captures` makes of real brokers
({captures}).

Both find the same frames: the tests hold them to the same sizes, correlation ids, api keys,
versions and client ids wherever tshark tells them. This page says how far tshark goes into what
follows the header; `kap` reads every one of these {frames:,} frames whole, as Kafka's own classes
do.

- **whole**: read to its end, without a remark that something is malformed
- **stops**: the body is cut short or refused, as its version is newer than tshark
- **no name**: an api key that tshark does not know; it has the first {known} names
- **request forgotten**: a response whose request tshark did not keep, so that it is bytes

{counts}

Frames that share a packet with others are left out: remarks are on packets.

| api | version | requests | responses |
|---|---|---|---|
"""


def verdict(frame: tshark.Frame, api_key: int, known: dict[int, str]) -> str:
    """How far tshark came in a frame."""
    if api_key not in known:
        return NO_NAME
    if frame.api_key is None:
        return UNPAIRED
    malformed = any("alformed" in each or "does not end" in each for each in frame.remarks)
    return STOPS if malformed else WHOLE


def page() -> str:
    """The page's text."""
    known = tshark.known_apis()
    rows: dict[tuple[int, int, str], dict[str, Counter[str]]] = defaultdict(
        lambda: {"request": Counter(), "response": Counter()}
    )
    total: Counter[str] = Counter()
    releases, files = [], []
    for name in NAMES:
        made = kept(name)
        if not made.release:
            continue
        releases.append(f"{name}: Kafka {made.release}")
        files.append((made.path, made.ports))
        for theirs, ours in tshark.matched(made.path, made.ports):
            if theirs.alone and ours.api_key is not None and ours.api_version is not None:
                said = verdict(theirs, ours.api_key, known)
                key = (ours.api_key, ours.api_version, ours.api or "")
                rows[key][ours.direction][said] += 1
                total[said] += 1
    counts = ", ".join(
        f"{said} {total[said] / total.total():.0%}" for said in (WHOLE, STOPS, NO_NAME, UNPAIRED)
    )
    text = _HEAD.format(
        version=tshark.version(),
        captures=", ".join(releases),
        frames=total.total(),
        known=len(known),
        counts=f"Of the frames: {counts}.",
    )
    for (_, version, api), sides in sorted(rows.items()):
        cells = (_cell(sides["request"]), _cell(sides["response"]))
        text += f"| {api} | {version} | {' | '.join(cells)} |\n"
    counted = compared(files, _DRAWS)
    lines = [
        f"| {said} | {' | '.join(f'{each[said]:,}' for each in counted)} |"
        for said in KINDS
        if any(each[said] for each in counted)
    ]
    return text + _TIMES.format(draws=len(_DRAWS), rows="\n".join(lines))


def _cell(said: Counter[str]) -> str:
    """One verdict, or several with how often each was."""
    if len(said) < 2:
        return next(iter(said), "")
    return ", ".join(f"{name} {count}×" for name, count in said.most_common())


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
    print(f"wrote {PAGE.name}")
