"""Hints for people who know Kafka's scripts: a verb is a flag there, and a command here.

``kap topics --list`` is refused with "--list is the command kap topics list". Which commands there
are is read off the groups; ``_OTHER_NAMES`` has what Kafka calls otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

from kafka_admin_proto.near_names import near_names

#: Verbs of Kafka's scripts → what else the commands for them are called here. A name of two words
#: has its group in front.
_OTHER_NAMES = {
    "add": ("create",),
    "alter": ("set", "unset"),
    "delete-offsets": ("offsets delete",),
    "describe": ("get", "users list"),
    "execute": ("reassign",),
    "remove": ("delete",),
    "reset-offsets": ("offsets reset",),
}
#: An option of Kafka's scripts → what does the same here.
_OTHER_OPTIONS = {"--force": "--yes"}
_MOST_NAMED = 3


def flag_hint(error: click.NoSuchOption, args: Sequence[str]) -> str:
    """A hint for an option that this command does not have; empty if there is no hint.

    ``args`` are the arguments of the command that refused it.
    """
    context = error.ctx
    if context is None:
        return ""
    same = _OTHER_OPTIONS.get(error.option_name)
    if same is not None and any(same in each.opts for each in context.command.params):
        return f"{error.option_name} of Kafka's scripts is {same} here"
    is_group = isinstance(context.command, click.Group)
    group = context if is_group else context.parent
    if group is None:
        return ""
    for flag in (error.option_name, *(_flags(group, args) if is_group else ())):
        commands = _commands(group, flag.removeprefix("--"))
        alone = not is_group and group.parent is None  # as kap logdirs is
        if context.command_path in commands or (commands and alone):
            return f"Leave {flag} out: {context.command_path} does it"
        if commands:
            one = "the command" if len(commands) == 1 else "one of the commands"
            return f"{flag} is {one} {', '.join(commands)}"
    holders = list(_with_option(group, error.option_name, args)) if is_group else []
    if holders:
        more = ", …" if len(holders) > _MOST_NAMED else ""
        named = ", ".join(holders[:_MOST_NAMED])
        return f"{error.option_name} stands behind a command that has it: {named}{more}"
    return ""


def command_hint(group: click.Context, name: str) -> str:
    """The sentence for a command that there is elsewhere, or that is meant; empty without one."""
    elsewhere = _commands(group, name)
    if elsewhere:
        return f"There is {', '.join(elsewhere)}"
    near = near_names(name, _names(group))
    return f"Did you mean {' or '.join(near)}?" if near else ""


def _flags(group: click.Context, args: Sequence[str]) -> Iterator[str]:
    """The long options in front of a group's command."""
    for argument in args:
        if argument in _names(group):
            return
        if argument.startswith("--"):
            yield argument.partition("=")[0]


def _commands(group: click.Context, verb: str) -> list[str]:
    """The commands of a group for a verb, or else those of all groups, as they are typed."""
    wanted = (verb, *_OTHER_NAMES.get(verb, ()))
    path = group.command_path
    root = group.find_root()
    own = [
        f"{path} {name}"
        for name in _names(group)
        if name in wanted or f"{group.info_name} {name}" in wanted
    ]
    return own or [
        f"{each.command_path} {name}"
        for each in _groups(root)
        for name in _names(each)
        if name in wanted or f"{each.info_name} {name}" in wanted
    ]


def _with_option(group: click.Context, option: str, args: Sequence[str]) -> Iterator[str]:
    """The commands below a group that have an option; where one is among ``args``, that one."""
    assert isinstance(group.command, click.Group)
    names = _names(group)
    for name in [each for each in args if each in names][:1] or names:
        command = group.command.get_command(group, name)
        if isinstance(command, click.Group):
            below = click.Context(command, info_name=name, parent=group)
            yield from _with_option(below, option, args)
        elif command is not None and any(option in each.opts for each in command.params):
            yield f"{group.command_path} {name}"


def _groups(root: click.Context) -> Iterator[click.Context]:
    assert isinstance(root.command, click.Group)
    for name in _names(root):
        command = root.command.get_command(root, name)
        if isinstance(command, click.Group):
            yield click.Context(command, info_name=name, parent=root)


def _names(group: click.Context) -> list[str]:
    assert isinstance(group.command, click.Group)
    return group.command.list_commands(group)
