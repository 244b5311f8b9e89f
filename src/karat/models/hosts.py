"""Hosts: which may be asked, and which may be sent a key.

A host is asked where the user names it: on the command line, in karat.yaml, in a Python call. One that an index or a
stored run names is asked only if the user named the same host before; so is a folder of a model loaded, since loading
a model may run code. What was named is kept in one file of the user's, with the variable that holds the key of each
host, which data never say.
"""

from __future__ import annotations

import ipaddress
import json
import math
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar
from urllib.parse import quote, quote_plus, urlsplit

from karat.core.errors import InputError, UsageError, did_you_mean

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_KEY = re.compile(r"(?=.*[a-z])(?=.*\d)\w{20,}\Z")
"""What is rather a key (hf_..., gsk_...) than the name of a variable."""
OPENAI, KEY_ENV = "https://api.openai.com/v1", "OPENAI_API_KEY"
FILE = "allowed.jsonl"
_HOST = re.compile(r"[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]")
_KINDS = ("host", "insecure_key", "model")
SHORTEST = 4  # characters of a value that is blotted out
_PORTS = {"https": 443, "http": 80}


_unsaved: list[str] = []  # named in this process, where the file cannot be written
_listener: Callable[[str], None] | None = None
_told: set[str] = set()


def number(default: Any, least: float = 0.0) -> Any:
    """A field of settings that holds a finite number, whole where its type is int, and at least so much."""
    return field(default=default, metadata={"least": least})


def check_fields(settings: Any) -> None:
    """Refuse settings with a value that is not of its field's type, or a number below its least."""
    for one in fields(settings):
        value, kind, least = getattr(settings, one.name), str(one.type), one.metadata.get("least", -math.inf)
        if value is None and "None" in kind:
            continue
        wanted = {"str": "text", "int": "a whole number", "float": "a number"}.get(kind.partition(" ")[0])
        right = isinstance(value, str) if wanted == "text" else type(value) is int
        right |= wanted == "a number" and isinstance(value, float) and math.isfinite(value)
        if wanted and not (right and (wanted == "text" or value >= least)):
            raise wrong_setting(one.name, value, wanted if least == -math.inf else f"{wanted}, {least:g} or more")


def wrong_setting(name: str, value: Any, wanted: str) -> UsageError:
    """What to say of a value that a setting cannot have."""
    return UsageError(f"{name} must be {wanted}, found {value!r}.")


@dataclass(frozen=True, kw_only=True)
class ServerSettings:
    """How a model behind an address is asked, in plain values (JSON).

    A key never stands here: `key_env` names the environment variable that holds it. `base_url` None is OpenAI.
    `timeout_seconds` is for one request from its first byte to its last, `retries` come on top of the first attempt.
    """

    kind: ClassVar[str]
    base_url: str | None = None
    key_env: str = KEY_ENV
    timeout_seconds: float = number(60.0, 0.001)
    retries: int = number(5)

    def __post_init__(self) -> None:
        check_fields(self)

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """From JSON values, as `plain` makes them."""
        known = {entry.name for entry in fields(cls)}
        for name in values:
            if name not in known:
                raise UsageError(f"unknown {cls.kind} setting {name!r}.{did_you_mean(name, known)}")
        return cls(**values)

    def plain(self) -> dict[str, Any]:
        """The settings as JSON values."""
        return asdict(self)

    @property
    def server(self) -> str:
        """Where requests go, without a slash at the end."""
        return (self.base_url or OPENAI).rstrip("/")

    @property
    def address(self) -> str | None:
        """The server; None for a model on this machine."""
        return self.server

    @property
    def folder(self) -> str | None:
        """The folder that the model is loaded from; None where it is part of a package or behind an address."""
        return None


Asking = TypeVar("Asking", bound=ServerSettings)


def check_url(url: str) -> None:
    """Refuse an address that cannot be, or that would carry a secret into settings and messages."""
    try:
        parts = urlsplit(url)
        named = parts.scheme in _PORTS and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        named = False
    if not named:
        raise UsageError("the base url must look like https://host/v1.")
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise UsageError(
            f"the base url of {parts.hostname} holds a user name, a password or something after ? or #. "
            "Give the address alone; the key belongs into an environment variable."
        )
    host = parts.netloc.rpartition(":")[0] if parts.port is not None else parts.netloc.removesuffix(":")
    if not _HOST.fullmatch(host) or any(c.isspace() or c == "\\" or not c.isprintable() for c in url):
        raise UsageError(
            f"{parts.hostname!r} is no name of a host: write it in ASCII (xn--...), as in https://host/v1."
        )


def host_of(address: str) -> str:
    """The host of an address as it is shown, allowed and compared, with its port unless that is the one of https.

    >>> host_of("https://API.openai.com/v1"), host_of("http://127.0.0.1:8080/v1"), host_of("http://host/v1")
    ('api.openai.com', '127.0.0.1:8080', 'host:80')
    """
    check_url(address)
    parts = urlsplit(address)
    assert parts.hostname is not None
    name = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    port = parts.port or _PORTS[parts.scheme]
    return name if port == _PORTS["https"] else f"{name}:{port}"


def _is_loopback(address: str) -> bool:
    name = urlsplit(address).hostname or ""
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost"


def check_key_env(name: object) -> None:
    """Refuse what is no name of an environment variable: it may be the key itself, which would reach files."""
    if not isinstance(name, str) or not _NAME.match(name) or _KEY.match(name):
        raise UsageError(
            "key_env must be the name of an environment variable, such as OPENAI_API_KEY. The key itself belongs "
            "into that variable."
        )


def key_in(key_env: str) -> str:
    """The key that an environment variable holds, or nothing."""
    key = os.environ.get(key_env, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise UsageError(f"the value of {key_env} holds characters that no key can have. Set it again.")
    return key


class Blot:
    """Puts `${NAME}` where the value of an environment variable stands, also quoted for URLs or JSON.

    A value of fewer than `shortest` characters stays: it stands in many words.
    """

    def __init__(
        self, names: Iterable[str], environment: Mapping[str, str] | None = None, shortest: int = SHORTEST
    ) -> None:
        known = os.environ if environment is None else environment
        written = {}
        for name in names:
            value = known.get(name, "")
            for form in (value, value.strip(), json.dumps(value)[1:-1], quote(value, safe=""), quote_plus(value)):
                if len(form) >= shortest:
                    written[form] = f"${{{name}}}"
        self._longest_first = sorted(written.items(), key=lambda item: -len(item[0]))

    def __call__(self, text: str) -> str:
        for value, name in self._longest_first:
            text = text.replace(value, name)
        return text


def key_for(address: str, key_env: str) -> str:
    """The key to send to an address, or nothing."""
    key = key_in(key_env)
    if key:
        check_way(address, key_env)
    return key


def check_way(address: str, variable: str) -> None:
    """Refuse to send what a variable holds over plain http, unless to this machine or where the user says so."""
    if urlsplit(address).scheme == "http" and not _is_loopback(address):
        host = host_of(address)
        if ("insecure_key", host) not in _allowed():
            raise UsageError(
                f"the key in {variable} would go to {host} over plain http, where others can read it. Use https, leave "
                f"the key out, or, if the way there is safe: --insecure-key {host}"
            )


def on_host(listener: Callable[[str], None] | None) -> None:
    """Have a sentence on each host before its first request."""
    global _listener
    _listener = listener
    _told.clear()


def announce_host(address: str, key_env: str) -> None:
    """Say that a host is about to be asked, once."""
    host = host_of(address)
    if _listener is not None and host not in _told:
        _told.add(host)
        _listener(f"asking {host}, {f'with the key in {key_env}' if key_in(key_env) else 'without a key'}")


def allow_host(host: str, key_env: str = KEY_ENV) -> None:
    """Let karat ask a host (`host`, `host:port` or an address) that an index or a run names, with the key there."""
    _remember("host", _named_host(host), key_env)


def allow_insecure_key(host: str) -> None:
    """Let karat send a key to a host over plain http."""
    _remember("insecure_key", _named_host(host))


def allow_model(folder: str | os.PathLike[str]) -> None:
    """Let karat load a folder of a model that an index names."""
    _remember("model", _resolved(folder))


def allow(settings: ServerSettings) -> None:
    """What the user named, so that an index or a run that is made with it can be used again."""
    if settings.address is not None:
        allow_host(settings.address, settings.key_env)
    if settings.folder is not None:
        allow_model(settings.folder)


def permitted(settings: Asking, place: str) -> Asking:
    """Settings that stand in data at a place, if the user has named what they name; the key is the user's choice."""
    if settings.folder is not None and ("model", folder := _resolved(settings.folder)) not in _allowed():
        raise UsageError(
            f"{place} names the model {folder}, and karat loads no model for an index from a folder that you have not "
            f"named yourself: it may hold code. If you trust it: --allow-model {folder}"
        )
    if settings.address is None:
        return settings
    host = host_of(settings.address)
    key_env = _allowed().get(("host", host))
    if key_env is None:
        raise UsageError(
            f"{place} names the host {host}, and karat sends nothing to a host that you have not named yourself. If "
            f"you trust it with your texts and your key: --allow-host {host}"
        )
    return replace(settings, key_env=key_env)


def is_allowed(address: str) -> bool:
    """Whether the user has named the host of an address before."""
    return ("host", host_of(address)) in _allowed()


def _named_host(text: str) -> str:
    return host_of(text if "://" in text else f"https://{text}")


def _resolved(folder: str | os.PathLike[str]) -> str:
    return str(Path(folder).expanduser().resolve())


def allowed_file() -> Path | None:
    """The file that keeps what the user has named; None where the user has no home, and nothing is kept."""
    config = os.environ.get("XDG_CONFIG_HOME", "")
    try:
        home = Path.home()
    except RuntimeError:
        home = Path()
    if os.path.isabs(config):
        root = Path(config)
    elif sys.platform == "win32":
        root = Path(os.environ.get("APPDATA") or home / "AppData" / "Roaming")
    else:
        root = home / ("Library/Application Support" if sys.platform == "darwin" else ".config")
    return root / "karat" / FILE if root.is_absolute() else None  # never a file of the folder that karat works in


def _allowed() -> dict[tuple[str, str], str]:
    """What the user has named, by kind and name: hosts with the variable of their key, all else with nothing."""
    file = allowed_file()
    try:
        lines = file.read_text(encoding="utf-8").splitlines() if file is not None else []
    except (FileNotFoundError, NotADirectoryError):
        lines = []
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError(f"cannot be read: {problem}", place=str(file), remedy="Fix or delete it.") from None
    named = {}
    for row, text in enumerate([*lines, *_unsaved], 1):
        try:
            line = json.loads(text)
            kind, name = next((kind, line[kind]) for kind in _KINDS if kind in line)
            named[kind, name] = line["key_env"] if kind == "host" else ""
            if not isinstance(name, str) or not isinstance(named[kind, name], str):
                raise TypeError
        except (ValueError, TypeError, KeyError, StopIteration, RecursionError):
            raise InputError("is not what karat wrote", place=str(file), row=row, remedy="Delete the line.") from None
    return named


def _remember(kind: str, name: str, key_env: str = "") -> None:
    """Add a line to the user's file, private, unless it says so already; where it cannot be written, for now only."""
    if _allowed().get((kind, name)) == key_env:
        return
    line = json.dumps({kind: name, "key_env": key_env} if kind == "host" else {kind: name})
    file = allowed_file()
    try:
        if file is None:
            raise FileNotFoundError
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        opened = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(opened, "a", encoding="utf-8") as stream:
            stream.write(line + "\n")
    except OSError:
        _unsaved.append(line)
