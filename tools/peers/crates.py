"""The source of a crate, as cargo brings it with all that it depends on."""

from __future__ import annotations

import shutil
from pathlib import Path

from tools.peers.suite import Command, run

_EMPTY = """\
[package]
name = "peers"
version = "0.1.0"
edition = "2021"
[lib]
path = "lib.rs"
[dependencies]
{crate} = {{ version = "={version}", default-features = false }}
"""


def vendor(folder: Path, crate: str, version: str) -> Path:
    """Bring a crate and what it depends on into the folder's ``empty``; the crate's own folder."""
    empty = folder / "empty"
    shutil.rmtree(empty, ignore_errors=True)
    empty.mkdir()
    (empty / "lib.rs").touch()
    (empty / "Cargo.toml").write_text(_EMPTY.format(crate=crate, version=version))
    run(Command(["cargo", "vendor", "--quiet", "vendor"], empty))
    return empty / "vendor" / crate
