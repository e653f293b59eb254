"""Java for programs that live for seconds: what starts one quickly.

Half of the time in which a broker starts goes into reading and verifying classes of its jars. An
archive of them (JEP 350) saves that. Java checks an archive against the jars and against itself,
and does without it where they differ.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from tools.oracles.jars import ToolMissingError, cache_folder, one_process_at_a_time

#: The quick compiler alone is best for runs of this length.
JVM_OPTIONS = ("-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
_HERE = Path(__file__).parent
#: What programs share: it is compiled with those that name it.
_SHARED = [_HERE / name for name in ("Lines.java", "Clock.java")]
#: Seconds that a program may take.
_RUN_S = 300.0
#: Runs Java with the options in the folder, which is empty, and waits for its end.
Run = Callable[[Sequence[str], Path], None]


class ProgramError(Exception):
    """A Java program failed; the message ends with what it said."""


def java() -> str:
    """The java on the PATH."""
    return _program("java")


def class_path(entries: Sequence[Path]) -> str:
    """As java's -cp takes it."""
    return os.pathsep.join(map(str, entries))


def java_options(jars: Sequence[Path], *classes: Path) -> list[str]:
    """Options for a program of the jars and of folders of classes behind them."""
    return [*JVM_OPTIONS, *archive_options(jars), "-cp", class_path([*jars, *classes])]


def archive_options(jars: Sequence[Path]) -> list[str]:
    """The option for the archive of classes of these jars; none where there is no archive."""
    archive = _archive(jars)
    # Programs answer on stdout, where Java would say that it does without the archive.
    return [f"-XX:SharedArchiveFile={archive}", "-Xlog:disable"] if archive.exists() else []


def run(jars: Sequence[Path], program: str | Path, *arguments: str | Path, stdin: str = "") -> str:
    """What a class of the jars, or a program from its source, prints on stdout.

    Raises ProgramError where it ends with another status than 0.
    """
    classes = [compiled(program, jars)] if isinstance(program, Path) else []
    name = program.stem if isinstance(program, Path) else program
    command = [java(), *java_options(jars, *classes), name, *map(str, arguments)]
    done = subprocess.run(
        command, input=stdin, capture_output=True, text=True, timeout=_RUN_S, check=False
    )
    if done.returncode != 0:
        raise ProgramError(f"{name} ended with {done.returncode}:\n{done.stderr[-4000:]}")
    return done.stdout


def make_archive(jars: Sequence[Path], run: Run) -> None:
    """Let later programs of the jars find the classes in an archive that ``run`` has loaded."""
    archive = _archive(jars)
    if archive.exists():
        return
    with one_process_at_a_time(), tempfile.TemporaryDirectory(dir=archive.parent) as part:
        if not archive.exists():
            made = Path(part) / "classes.jsa"
            run([f"-XX:ArchiveClassesAtExit={made}", "-Xlog:disable"], Path(part))
            made.rename(archive)


def compiled(source: Path, jars: Sequence[Path]) -> Path:
    """The folder with the classes of a program, compiled once for these jars."""
    texts = [each.read_text("utf-8") for each in (source, *_SHARED)]
    digest = _digest(*texts, class_path(jars))
    classes = _classes() / f"{source.stem}-{digest}"
    if not classes.exists():
        with tempfile.TemporaryDirectory(dir=classes.parent, prefix=".part-") as part:
            made = Path(part) / "classes"
            paths = ("-d", str(made), "-cp", class_path(jars), "-sourcepath", str(_HERE))
            subprocess.run([_program("javac"), "-nowarn", *paths, str(source)], check=True)
            try:
                made.rename(classes)
            except OSError:
                if not classes.exists():  # otherwise another run was quicker, with the same source
                    raise
    return classes


def _archive(jars: Sequence[Path]) -> Path:
    program = Path(java()).resolve()
    name = _digest(class_path(jars), str(program), str(program.stat().st_mtime_ns))
    return _classes() / f"{name}.jsa"


def _classes() -> Path:
    folder = cache_folder() / "classes"
    folder.mkdir(exist_ok=True)
    return folder


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]


def _program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise ToolMissingError(f"{name} is not on the PATH; install a JDK 17")
    return found
