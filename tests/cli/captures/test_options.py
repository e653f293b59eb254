"""Every option of `kap decode` changes what some input gives, in each form, or is refused."""

from __future__ import annotations

import functools
from pathlib import Path

import click
import pytest
from click.testing import Result

from kafka_admin_proto import CreateTopicsRequest, SaslAuthenticateRequest
from kafka_admin_proto.cli.captures.decode import decode
from kafka_admin_proto.protocol import frame, write_request
from tests.capture.test_request_log import entry, log4j
from tests.cli.captures.test_captures import CAPTURE, ROOT, SEGMENT
from tests.helpers.kap import run_kap

DUMP = ROOT / "samples" / "create_topics.hex"
FORMS = ("", "--output jsonl", "--output tsv", "--summary", "--upgrade 4.0")
#: Option → its value, the input, and other options that are given with it and without it.
SAMPLES: dict[str, tuple[str, object, str]] = {
    "--input-format": ("raw", DUMP, ""),
    "--unit": ("payload", DUMP, ""),
    "--request": ("", DUMP, ""),
    "--response": ("--api CreateTopics --version 0", DUMP, ""),
    "--api": ("Vote", DUMP, ""),
    "--version": ("1", DUMP, ""),
    "--client-id": ("x", DUMP, ""),
    "--connection": ("127.0.0.1:1", DUMP, ""),
    "--topic": ("x", DUMP, ""),
    "--errors-only": ("", DUMP, ""),
    "--slower-than": ("1", DUMP, ""),
    "--with-requests": ("", DUMP, "--only 2"),
    "--since": ("2030-01-01", DUMP, ""),
    "--until": ("2030-01-01", DUMP, ""),
    "--only": ("1", DUMP, ""),
    "--dialect": ("kip-4a", "draft.bin", ""),
    "--schemas": ("folder", "wish.hex", ""),
    "--max-frame-bytes": ("9", DUMP, ""),
    "--body": ("", CAPTURE, "--api CreateTopics"),
    "--records": ("", CAPTURE, "--api Produce"),
    "--summary": ("", DUMP, ""),
    "--upgrade": ("4.0", DUMP, ""),
    "--raw": ("", DUMP, ""),
    "--show-secrets": ("", "secret.bin", ""),
}
#: Only where they stand behind another option; ``--output`` is the form.
_OUTPUT = {"--output", "--help"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inputs")
    (folder / "folder").mkdir()
    (folder / "folder" / "WishRequest.json").write_text(
        '{"apiKey": 999, "type": "request", "name": "WishRequest", "validVersions": "0",'
        ' "flexibleVersions": "0+",'
        ' "fields": [{"name": "Text", "type": "string", "versions": "0+"}]}'
    )
    wish = frame(bytes.fromhex("03e7 0000 00000001 ffff 00 0378 79 00"))
    (folder / "wish.hex").write_text(wish.hex())
    secret = frame(write_request(SaslAuthenticateRequest(auth_bytes=b"a\0b\0c"), 1, 1, "c"))
    create = write_request(CreateTopicsRequest(), 1, 2, "c")
    (folder / "secret.bin").write_bytes(secret + frame(create[:2] + b"\x7f\x7f" + create[4:]))
    (folder / "draft.bin").write_bytes(frame(bytes.fromhex("0fa2 0000 00000001 0001 63 00000000")))
    (folder / "request.log").write_text(log4j(entry()))
    return folder


@functools.lru_cache(maxsize=64)
def run(folder: Path, arguments: str) -> Result:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return run_kap(f"decode {arguments}")


def test_every_option_is_tried() -> None:
    options = [each for each in decode.params if isinstance(each, click.Option)]
    assert {each.opts[0] for each in options} - _OUTPUT == set(SAMPLES)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("option", SAMPLES)
def test_an_option_has_an_effect_or_is_refused(folder: Path, option: str, form: str) -> None:
    value, file, base = SAMPLES[option]
    given = "--no-body" if option == "--body" else option
    if option in form:
        return
    found = run(folder, f"{given} {value} {base} {form} {file}")
    if found.exit_code != 2:
        without = run(folder, f"{base} {form} {file}")
        assert found.output != without.output
        return
    assert given in found.stderr.rpartition("Error: ")[2]


_CAPTURES = {"captures": CAPTURE, "request logs": "request.log", "log segments": SEGMENT}


@pytest.mark.parametrize("kind", _CAPTURES)
@pytest.mark.parametrize(
    "option", ["--request", "--response", "--unit payload", "--unit body", "--max-frame-bytes 9"]
)
def test_what_is_about_dumps_is_refused(folder: Path, option: str, kind: str) -> None:
    described = option in ("--response", "--unit body")
    more = "--api Fetch --version 4" if described and kind != "log segments" else ""
    found = run(folder, f"{option} {more} {_CAPTURES[kind]}")
    if option.startswith("--max") and kind == "captures":
        assert "over the limit of 9" in found.stderr
        return
    assert found.exit_code == 2
    assert f"{option.split()[0]} does not go with {kind}" in found.stderr
