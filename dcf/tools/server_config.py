"""How to reach one tool server."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urlsplit

from dcf.problem import Problem
from dcf.tools.document import pointer

Transport = Literal["streamable_http", "sse", "stdio"]

_TRANSPORTS: dict[str, Transport] = {
    "streamable_http": "streamable_http",
    "http": "streamable_http",
    "sse": "sse",
    "stdio": "stdio",
    "commands": "stdio",
}
_COMMANDS = "commands"
_KEYS = {
    "transport",
    "endpoint",
    "path",
    "headers",
    "timeout",
    "retries",
    "connections",
    "command",
    "args",
    "environment",
}
_NOTES = {"description", "allowStdio", "meta"}
_MOST_CONNECTIONS = 16
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_STDIO_REFUSED = (
    "a stdio server runs a program on this machine, which this registry does not allow: "
    "write allowStdio: true beside servers, or beside its command, if you trust it"
)


@dataclass(frozen=True, slots=True, repr=False)
class ServerConfig:
    """One server of the registry, with every variable filled in.

    ``timeout_s`` (seconds) caps the deadline of each call when it is given; ``retries`` is how
    often a refused connection is tried again; ``connections`` is how many are kept to the server.
    ``environment`` is all that a stdio program gets. ``refused`` says why the
    server must not be reached at all, ``absent`` why it is not there now. ``runs_commands``: it is
    our own program that runs commands; each call of it counts as high risk.

    ``secrets`` are the variables (by name, with their values) that headers, arguments and
    environment were filled from. Neither ``repr`` nor any message of this room shows their values.
    """

    id: str
    transport: Transport = "streamable_http"
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float | None = None
    retries: int = 1
    command: str = ""
    args: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    connections: int = 1
    secrets: Mapping[str, str] = field(default_factory=dict)
    refused: str = ""
    absent: str = ""
    runs_commands: bool = False

    @property
    def place(self) -> str:
        """Where the server is, fit for messages: an address without query, or a program."""
        if self.transport == "stdio":
            return f"stdio:{self.command}"
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}{parts.path}"

    def __repr__(self) -> str:
        names = ", ".join(sorted(self.headers)) or "none"
        secrets = ", ".join(sorted(self.secrets)) or "none"
        where = f"{self.id!r}, {self.transport}, {self.place}"
        return f"ServerConfig({where}, headers: {names}, secrets: {secrets})"


def build_server(
    server_id: str,
    entry: Any,
    *,
    allow_stdio: bool,
    problems: list[Problem],
    secrets: Mapping[str, str] | None = None,
    inherited: Mapping[str, str] | None = None,
    workspace: str = "",
) -> ServerConfig | None:
    """A server from its (merged, substituted) registry entry; what is wrong goes to ``problems``.
    ``workspace`` is the folder in which a server that runs commands works.

    ``None`` when the entry cannot be used. A stdio server that is not allowed is one that can be
    listed, but not reached: it must not keep the others from work.
    """
    check = _Entry(server_id, entry, problems)
    if not isinstance(entry, Mapping):
        check.wrong("REG_SHAPE", "", "a server must be an object")
        return None
    before = len(problems)
    check.keys()
    transport = check.transport()
    environment = check.environment()
    runs_commands = entry.get("transport") == _COMMANDS
    config = ServerConfig(
        id=server_id,
        transport=transport or "streamable_http",
        url=check.url() if transport in ("streamable_http", "sse") else "",
        headers=check.headers(),
        timeout_s=check.number("timeout", above=0),
        retries=int(check.number("retries", above=-1, whole=True) or 0)
        if entry.get("retries") is not None
        else 1,
        command=_command(check, transport, runs_commands=runs_commands),
        args=_runner_arguments(workspace, environment) if runs_commands else check.arguments(),
        environment={**(inherited or {}), **environment} if transport == "stdio" else {},
        connections=check.connections(),
        secrets=secrets or {},
        refused=_STDIO_REFUSED if transport == "stdio" and not allow_stdio else "",
        runs_commands=runs_commands,
    )
    return config if len(problems) == before else None


def _command(check: _Entry, transport: Transport | None, *, runs_commands: bool) -> str:
    if transport != "stdio":
        return ""
    return sys.executable if runs_commands else check.command()


def _runner_arguments(workspace: str, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Of the server that runs commands; isolated, so that no variable and no file of the folder
    where it starts says what it imports."""
    kept = (part for name in environment for part in ("--keep", name))
    return ("-I", "-m", "dcf.tools.commands", "--folder", workspace, *kept)


class _Entry:
    """Reads the members of one entry and notes what is wrong with them."""

    def __init__(self, server_id: str, entry: Any, problems: list[Problem]) -> None:
        self._entry = entry
        self._path = pointer(["servers", server_id])
        self._problems = problems

    def wrong(self, code: str, member: str, message: str, hint: str = "") -> None:
        path = self._path + (pointer([member]) if member else "")
        self._problems.append(Problem(code, message, path, hint))

    def keys(self) -> None:
        for key in self._entry:
            if key not in _KEYS | _NOTES:
                self.wrong("REG_UNKNOWN_KEY", key, f"unknown key {key!r}", _listing(_KEYS))

    def transport(self) -> Transport | None:
        name = self._entry.get("transport") or "streamable_http"
        if name == "ws":
            self.wrong(
                "REG_TRANSPORT",
                "transport",
                "MCP defines no websocket transport, so ws cannot be served",
                "use streamable_http",
            )
            return None
        if name not in _TRANSPORTS:
            self.wrong(
                "REG_TRANSPORT",
                "transport",
                f"unknown transport {name!r}",
                _listing(set(_TRANSPORTS)),
            )
            return None
        return _TRANSPORTS[name]

    def url(self) -> str:
        endpoint = self._entry.get("endpoint") or ""
        path = self._entry.get("path")
        path = "/mcp" if path is None else path
        if not isinstance(endpoint, str) or not isinstance(path, str):
            self.wrong("REG_SHAPE", "endpoint", "endpoint and path must be strings")
            return ""
        parts = urlsplit(endpoint)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            self.wrong(
                "REG_ENDPOINT",
                "endpoint",
                "the endpoint must be an http(s) address",
                "for example http://127.0.0.1:8765",
            )
        elif parts.username or parts.password:
            self.wrong(
                "REG_ENDPOINT",
                "endpoint",
                "an address must not carry credentials: addresses are logged",
                "put them in headers: Authorization",
            )
        return endpoint.rstrip("/") + ("/" + path.lstrip("/") if path else "")

    def headers(self) -> dict[str, str]:
        headers = self._entry.get("headers") or {}
        if not isinstance(headers, Mapping) or not all(
            isinstance(value, str) for value in headers.values()
        ):
            self.wrong("REG_SHAPE", "headers", "headers must be an object of strings")
            return {}
        for name, value in headers.items():
            if any(ord(character) < 32 or ord(character) > 126 for character in name + value):
                self.wrong(
                    "REG_HEADER",
                    "headers",
                    f"the header {name!r} has characters that HTTP does not allow",
                    "often a line break at the end of a secret",
                )
        return dict(headers)

    def number(self, member: str, *, above: int, whole: bool = False) -> float | None:
        value = self._entry.get(member)
        if value is None:
            return None
        number = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
        if not number or value <= above:
            kind = "a whole number" if whole else "a number of seconds"
            self.wrong("REG_SHAPE", member, f"{member} must be {kind} above {above}")
            return None
        return float(value)

    def command(self) -> str:
        command = self._entry.get("command")
        if not isinstance(command, str) or not command:
            self.wrong(
                "REG_SHAPE",
                "command",
                "a stdio server needs a command (a program's name)",
                "for example command: python",
            )
            return ""
        return command

    def environment(self) -> dict[str, str]:
        environment = self._entry.get("environment") or {}
        if not isinstance(environment, Mapping) or not all(
            isinstance(name, str) and _VARIABLE.fullmatch(name) and isinstance(value, str)
            for name, value in environment.items()
        ):
            self.wrong(
                "REG_SHAPE",
                "environment",
                "environment must be an object of strings, by names of variables",
                "for example environment: { API_TOKEN: ${API_TOKEN} }",
            )
            return {}
        return dict(environment)

    def connections(self) -> int:
        count = self._entry.get("connections", 1)
        whole = isinstance(count, int) and not isinstance(count, bool)
        if not whole or not 1 <= count <= _MOST_CONNECTIONS:
            self.wrong(
                "REG_SHAPE",
                "connections",
                f"connections must be a whole number from 1 to {_MOST_CONNECTIONS}",
                "one is enough for most servers",
            )
            return 1
        return int(count)

    def arguments(self) -> tuple[str, ...]:
        args = self._entry.get("args") or []
        if not isinstance(args, list) or not all(isinstance(item, str) for item in args):
            self.wrong(
                "REG_SHAPE",
                "args",
                "args must be a list of strings",
                "there is no shell: one item for each argument",
            )
            return ()
        return tuple(args)


def _listing(names: set[str]) -> str:
    return f"one of {', '.join(sorted(names))}"
