"""Values that a properties file only names: ``${env:HOST}``, looked up as Kafka's clients do.

The placeholders are those of ``ConfigTransformer``, the providers ``FileConfigProvider``,
``EnvVarConfigProvider`` and ``DirectoryConfigProvider``. Where Kafka's clients leave a placeholder
as it is, for a key that there is not, a login would be tried with its text: that is refused here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from kafka_admin_proto.admin.errors import ConfigurationError
from kafka_admin_proto.admin.settings.properties import parse_properties

#: The property that names providers; all others about them begin with it.
_PROVIDERS = "config.providers"

_PLACEHOLDER = re.compile(r"\$\{([^}:]+):(?:([^}:]*):)?([^}]*)\}")
_PACKAGE = "org.apache.kafka.common.config.provider."

#: Path and key of a placeholder, the parameters of its provider → the value.
_LookUp = Callable[[str, str, Mapping[str, str]], str]


def resolve(properties: Mapping[str, str]) -> dict[str, str]:
    """The properties with all placeholders of ``config.providers`` replaced, within values too.

    Those about providers are left out, so that a value that was looked up is never read again.
    Without ``config.providers`` a placeholder is a text like any other. Raises ConfigurationError
    for a provider that is no class of Kafka's, and for what cannot be looked up, without values.
    """
    names = [each.strip() for each in properties.get(_PROVIDERS, "").split(",") if each.strip()]
    if not names:
        return dict(properties)

    def resolved(name: str, value: str) -> str:
        def replacement(match: re.Match[str]) -> str:
            provider, path, key = match[1], match[2] or "", match[3]
            if provider not in names:
                # What looks like a provider may be a part of a password.
                raise ConfigurationError(
                    f"{name} has a placeholder ${{PROVIDER:…}} of a provider that is not in "
                    f"{_PROVIDERS}, which has {', '.join(names)}"
                )
            start = f"{_PROVIDERS}.{provider}.param."
            parameters = {
                each.removeprefix(start): text
                for each, text in properties.items()
                if each.startswith(start)
            }
            try:
                return _provider(provider, properties)(path, key, parameters)
            except ConfigurationError as error:
                raise ConfigurationError(f"{name}: {error}") from None

        return _PLACEHOLDER.sub(replacement, value)

    return {
        name: resolved(name, value)
        for name, value in properties.items()
        if not name.startswith(_PROVIDERS)
    }


def _provider(name: str, properties: Mapping[str, str]) -> _LookUp:
    """What a provider does, by its class or, where none is said, by its usual name."""
    kind = properties.get(f"{_PROVIDERS}.{name}.class", "").strip()
    look_up = _BY_CLASS.get(kind.removeprefix(_PACKAGE)) if kind else _BY_NAME.get(name)
    if look_up is None:
        raise ConfigurationError(
            f"the provider {name}{f' ({kind})' if kind else ''} is not one that this client looks "
            f"values up with, which are {', '.join(_BY_CLASS)}; write the value into the file, or "
            "give it as a setting"
        )
    return look_up


def _from_file(path: str, key: str, parameters: Mapping[str, str]) -> str:
    """A key of a properties file in UTF-8."""
    if not path:
        raise ConfigurationError(f"no file has {key}: a placeholder of a file names its path first")
    found = parse_properties(_read(path, parameters), path)
    if key not in found:
        raise ConfigurationError(f"{path} has no property {key}")
    return found[key]


def _from_directory(path: str, key: str, parameters: Mapping[str, str]) -> str:
    """The text of the file that is called as the key, as it is: with the end of its last line."""
    if not path or Path(key).name != key:
        raise ConfigurationError(f"{key!r} is not the name of a file in the directory {path!r}")
    return _read(str(Path(path) / key), parameters)


def _from_environment(path: str, key: str, parameters: Mapping[str, str]) -> str:
    if path:
        raise ConfigurationError(f"a variable of the environment has no path, and {path!r} is one")
    pattern = parameters.get("allowlist.pattern", ".*")
    try:
        is_allowed = re.fullmatch(pattern, key) is not None
    except re.error as error:
        raise ConfigurationError(
            f"allowlist.pattern {pattern!r} is no regular expression: {error}"
        ) from None
    if not is_allowed:
        raise ConfigurationError(f"the variable {key} does not match allowlist.pattern {pattern!r}")
    if key not in os.environ:
        raise ConfigurationError(f"the environment has no variable {key}")
    return os.environ[key]


def _read(path: str, parameters: Mapping[str, str]) -> str:
    """The text of a file, which is below one of ``allowed.paths`` where these are given."""
    allowed = parameters.get("allowed.paths")
    whole = os.path.abspath(path)
    if allowed and not any(_is_below(whole, each.strip()) for each in allowed.split(",")):
        raise ConfigurationError(f"{path} is not below allowed.paths, which are absolute")
    try:
        return Path(whole).read_bytes().decode()
    except OSError as error:
        raise ConfigurationError(f"cannot read {path}: {error.strerror or error}") from None
    except UnicodeDecodeError:  # whose text has the bytes, which may be a password
        raise ConfigurationError(f"{path} is not UTF-8") from None
    except ValueError as error:  # a NUL, which no path has
        raise ConfigurationError(f"cannot read {path!r}: {error}") from None


def _is_below(path: str, allowed: str) -> bool:
    return os.path.isabs(allowed) and Path(path).is_relative_to(os.path.normpath(allowed))


_BY_CLASS: dict[str, _LookUp] = {
    "FileConfigProvider": _from_file,
    "EnvVarConfigProvider": _from_environment,
    "DirectoryConfigProvider": _from_directory,
}
_BY_NAME = {"file": _from_file, "env": _from_environment, "directory": _from_directory}
