"""The shell's loop: a line, a command, its answer, and what of it the history keeps."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

import kafka_admin_proto
from kafka_admin_proto.cli.admin.common.live import ShellState
from kafka_admin_proto.cli.app import kap
from kafka_admin_proto.cli.interrupted import INTERRUPTED, WholeWriter
from kafka_admin_proto.cli.output import printable
from kafka_admin_proto.wire.secrets import is_secret_name

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession

#: What a shell takes literally: behind a backslash, in quotes; and what it leaves out.
_LITERAL = re.compile(r"""\\.|'[^']*'|"(?:\\.|[^"\\])*\"""", re.DOTALL)
_LITERAL_OR_COMMENT = re.compile(rf"{_LITERAL.pattern}|#.*", re.DOTALL)
#: Signs of the system's shell between commands, the longest first, and what does it there.
_OPERATOR = re.compile(r"\|\||&&|>>|[|&;<>]")
_OUTSIDE = {
    "|": "kap COMMAND | PROGRAM",
    "> >>": "kap COMMAND > FILE",
    "<": "kap COMMAND < FILE",
    "&& || ; &": "kap COMMAND && kap COMMAND",
}
#: Commands that are not for the prompt, and why.
_NOT_HERE = {
    "serve": "it serves until it is ended: run it in a terminal of its own",
    "shell": "this is the shell already",
    "completion": "its script is for the system's shell: run it there",
}
_END = ("exit", "quit")


def run_prompt(state: ShellState) -> None:
    """Ask for commands until the end of input. Raises click.UsageError without prompt_toolkit."""
    session = _session(state)
    where = state.settings.bootstrap_server or state.settings.bootstrap_controller or ""
    click.echo(
        f"kap {kafka_admin_proto.__version__} on {printable(where or 'the configured cluster')}: "
        "help lists the commands, Tab completes, Ctrl-D ends."
    )
    while True:
        output = state.settings.output
        try:
            line = session.prompt(f"kap ({output})> " if output else "kap> ")
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
        words = _words(line)
        if words and words[0] in _END:
            return
        if words:
            run_command(state, words)


def run_lines(state: ShellState, lines: Iterable[str]) -> int:
    """Run each line, until Ctrl-C ends one. Returns the exit code: the highest of the commands'."""
    worst = 0
    for line in lines:
        words = _words(line, comments=True)
        if words is None:
            worst = 2
        elif words and words[0] in _END:
            break
        elif words:
            worst = max(worst, run_command(state, words))
            if worst == INTERRUPTED:
                break
    return worst


def run_command(state: ShellState, words: Sequence[str]) -> int:
    """Run one command of kap in this process. Returns its exit code."""
    words = list(words[1:] if words[0] == "kap" else words)
    if words[:1] == ["help"]:
        words = [*words[1:], "--help"]
    if words and words[0] in _NOT_HERE and not {"--help", "-h"}.intersection(words):
        click.echo(f"kap: {words[0]}: {_NOT_HERE[words[0]]}", err=True)
        return 2
    if isinstance(output := getattr(sys.stdout, "buffer", None), WholeWriter):
        output.resume()
    try:
        code = kap.main(words, prog_name="kap", standalone_mode=False, obj=state)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        click.echo("interrupted", err=True)
        return 1
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        sys.stdout.flush()
    return code if isinstance(code, int) else 0


def _words(line: str, *, comments: bool = False) -> list[str] | None:
    """The words of a line as a shell has them; None where it has no such line, which it says."""
    try:
        words = shlex.split(line, comments=comments)
    except ValueError as error:
        click.echo(f"kap: {error}".lower(), err=True)
        return None
    rest = (_LITERAL_OR_COMMENT if comments else _LITERAL).sub("", line)
    if operator := _OPERATOR.search(rest):
        sign = operator[0]
        there = next(use for signs, use in _OUTSIDE.items() if sign in signs.split())
        click.echo(
            f"kap: {sign} is of the system's shell, which can do it from outside: {there}. Here a "
            "line is one command; in quotes the sign is part of a word",
            err=True,
        )
        return None
    return words


def _session(state: ShellState) -> PromptSession[str]:
    try:
        from prompt_toolkit import PromptSession
        from prompt_toolkit.history import FileHistory, InMemoryHistory
    except ModuleNotFoundError as error:
        raise click.UsageError(
            "kap shell needs the package prompt_toolkit: pip install 'kafka-admin-proto[live]'"
        ) from error
    from kafka_admin_proto.cli.shell.completer import CommandCompleter

    class SafeHistory(FileHistory):
        """Lines that may hold a credential are not written down."""

        def store_string(self, string: str) -> None:
            if not is_secret_line(string):
                super().store_string(string)

    file: Path | None = history_file()
    return PromptSession(
        history=InMemoryHistory() if file is None else SafeHistory(str(file)),
        completer=CommandCompleter(state),
        complete_in_thread=True,
        complete_while_typing=False,
    )


#: The name in front of a value: name=value, "name":"value", --name value.
_NAMED = re.compile(r"""([\w.\-]+)["']?\s*[=:]""")
_OPTION = re.compile(r"--([\w-]+)")
_WORD = re.compile(r"[\w.\-]+")
#: The command that takes any field of any request: a credential may be the value of a config whose
#: name stands elsewhere on the line, or a token in a field whose name says nothing.
_REQUEST = re.compile(r"\s*(kap\s+)?request\b")
_TOKENS = re.compile(r"\b(SaslAuthenticate|auth_?bytes|hmac)\b", re.IGNORECASE)


def history_file() -> Path | None:
    """The file, that only its owner may read; None where none can be made."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    file = Path(state) / "kap" / "history"
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(file, os.O_CREAT | os.O_APPEND | os.O_RDWR, 0o600))
    except OSError:
        return None
    return file


def is_secret_line(line: str) -> bool:
    """Whether something on the line may be a credential, by the name in front of it."""
    names = [*_NAMED.findall(line), *_OPTION.findall(line)]
    if _REQUEST.match(line):
        if _TOKENS.search(line):
            return True
        names += _WORD.findall(line)
    return any(is_secret_name(name) for name in names if name not in _HARMLESS)


#: Options whose names look like credentials and whose values are none.
_HARMLESS = frozenset({"password-file", "delegation-token", "show-secrets"})
