"""``kap report``: options without an effect, choices that match nothing, times of day."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from kafka_admin_proto.cli.output import utc_text
from kafka_admin_proto.tables.queries import QUERIES
from tests.helpers.kap import ended, run_kap
from tests.tables.report.report_tables import (
    MICROS,
    SECOND,
    everything,
    request,
    response,
    write_tables,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tables(tmp_path_factory.mktemp("tables"), everything())


def run(folder: Path, options: str) -> Result:
    return run_kap("report", str(folder), *shlex.split(options))


@pytest.mark.parametrize(
    ("options", "refused"),
    [
        ("--query errors --out page.html", "--out does not go with --query"),
        ("--output json", "--output does not go with a page"),
        *((f"--query {query} --release 4.0", "--release does not go with --query")
          for query in QUERIES if query != "upgrade"),
    ],
)  # fmt: skip
def test_an_option_without_an_effect_is_refused(folder: Path, options: str, refused: str) -> None:
    result = run(folder, options)
    assert (result.exit_code, result.stdout) == (2, "")
    assert refused in result.stderr


def test_a_file_that_could_not_be_read_is_of_any_time(folder: Path, tmp_path: Path) -> None:
    window = "--since 2020-01-01 --until 2020-01-02"
    page = run(folder, f"{window} --out {tmp_path / 'page.html'}")
    assert "What could not be read: 1 problem\n" in page.stderr
    (found,) = json.loads(run(folder, f"{window} --query problems --output json").stdout)
    assert found["problem"].endswith("is odd")
    assert found["first_ts"] is None


def test_a_file_of_which_nothing_was_read_is_not_counted_as_a_capture(tmp_path: Path) -> None:
    tables = {**everything()}
    unread = [{"capture": f"logs/{name}.md", "ts": None} for name in "abcd"]
    (frame, *_), (problem, *_) = tables["frames"], tables["problems"]
    # A file that could not be read has a row in both tables.
    tables["frames"] = [*tables["frames"], *({**frame, **each} for each in unread)]
    tables["problems"] = [problem, *({**problem, **each} for each in unread)]
    folder = write_tables(tmp_path / "tables", tables)
    run(folder, f"--out {tmp_path / 'page.html'}")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert f"1 capture with {len(everything()['frames'])} frames: one.pcap." in page
    assert "Nothing was read of 4 inputs: a.md, b.md, c.md, and 1 other." in page


@pytest.mark.parametrize("query", [query for query in QUERIES if query != "problems"])
def test_times_that_match_nothing_say_what_there_is(folder: Path, query: str) -> None:
    table, _ = QUERIES[query]
    rows = everything()[table]
    times = [row[name] for row in rows for name in ("ts", "first_ts", "last_ts") if row.get(name)]
    said = (
        f"0 of {len(rows)} rows of {table} match; "
        f"times are {utc_text(min(times))} to {utc_text(max(times))}\n"
    )
    for output in ("table", "json", "tsv"):
        result = run(folder, f"--query {query} --since 2030-01-01 --output {output}")
        assert result.stderr.startswith(said)
        assert said not in run(folder, f"--query {query} --output {output}").stderr


def test_a_page_of_nothing_says_what_there_is(folder: Path, tmp_path: Path) -> None:
    for since, is_said in (("2030-01-01", True), ("2020-01-01", False)):
        result = ended(run(folder, f"--since {since} --out {tmp_path / 'page.html'}"))
        assert ("rows of frames match; times are " in result.stderr) == is_said


@pytest.mark.parametrize("options", ["--since {}", "--until {}", "--since {} --until 23:59"])
def test_a_time_of_day_is_one_of_the_tables_first_day(folder: Path, options: str) -> None:
    second = MICROS + 20 * SECOND
    text = utc_text(second)
    assert text is not None
    whole = options.replace("23:59", text[:11] + "23:59")
    rows: list[dict[str, Any]] = []
    for given, time in ((options, text[11:-1]), (whole, text)):
        result = ended(run(folder, f"--query clients {given.format(time)} --output json"))
        rows.append(json.loads(result.stdout))
    assert rows[0] == rows[1]


def test_clients_are_those_of_the_time_that_was_given(tmp_path: Path) -> None:
    """The table of clients has whole days; the page's tile and its answer count the same."""
    early, late = MICROS, MICROS + 3600 * SECOND
    frames = [
        request("ApiVersions", 3, client_id=name, client=f"10.0.0.{place}:40000", ts=ts)
        for place, (name, ts) in enumerate((("a", early), ("b", early), ("c", late)))
    ]
    columns = ("client_id", "address", "requests", "first_ts", "last_ts")
    apis = [
        {"api": "ApiVersions", "api_key": 18, "min_version": 3, "max_version": 3, "requests": 1}
    ]
    day = [
        dict(
            zip(
                columns, (row["client_id"], f"10.0.0.{place}", 1, row["ts"], row["ts"]), strict=True
            )
        )
        | {"principals": [], "apis": apis}
        for place, row in enumerate(frames)
    ]
    write_tables(tmp_path, {"frames": frames, "clients": day})
    since = utc_text(MICROS + 1800 * SECOND)
    page = run(tmp_path, f"--since {since} --out {tmp_path / 'page.html'}")
    assert "Clients: 1 client\n" in page.stderr
    assert "None of 1 client must change" in (tmp_path / "page.html").read_text()
    found = json.loads(run(tmp_path, f"--query clients --since {since} --output json").stdout)
    assert [row["client_id"] for row in found] == ["c"]
    assert "Clients: 3 clients\n" in run(tmp_path, f"--out {tmp_path / 'page.html'}").stderr


def test_tables_without_a_time_have_no_day(tmp_path: Path) -> None:
    write_tables(tmp_path, {"frames": [{"direction": "data", "problem": "not Kafka"}]})
    result = ended(run(tmp_path, "--query errors --since 02:00"), 2)
    assert "a time of day needs a date here: no frame has a time" in result.stderr


def test_a_negotiation_is_no_error(tmp_path: Path) -> None:
    frames = [
        request("ApiVersions", 5),
        response("ApiVersions", 5, error_codes=["UNSUPPORTED_VERSION"]),
        response("ApiVersions", 5, error_codes=["INVALID_REQUEST"]),
        response("Fetch", 5, error_codes=["UNSUPPORTED_VERSION"]),
    ]
    write_tables(tmp_path, {"frames": frames})
    found = json.loads(run(tmp_path, "--query errors --output json").stdout)
    assert [(row["api"], row["error"]) for row in found] == [
        ("ApiVersions", "INVALID_REQUEST"), ("Fetch", "UNSUPPORTED_VERSION"),
    ]  # fmt: skip
