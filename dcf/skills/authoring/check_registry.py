"""Rules for the registry: every server can be reached, every tool has a server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any
from urllib.parse import urlsplit

from dcf.problem import Problem
from dcf.skills.authoring.check_secrets import check_secrets
from dcf.skills.authoring.place import Place
from dcf.skills.authoring.tool_index import ToolIndex

VARIABLE = re.compile(r"\$\{[A-Za-z_][A-Za-z0-9_]*(?::-[^}]*)?\}")


def check_registry(registry: Place | None, tools: ToolIndex) -> Iterator[Problem]:
    """Servers, their overrides, and the servers that the tools files name."""
    if registry is None:
        return
    servers = dict(_members(registry, "servers"))
    allowed = _is_true(registry)
    for server in servers.values():
        yield from _check_server(server, server.value, allowed or _is_true(server))
    for _, environment in _members(registry, "overrides"):
        for server_id, partial in environment.members():
            if server_id not in servers:
                message = f"there is no server {server_id!r} to override"
                yield partial.problem("REG_OVERRIDE_UNKNOWN", message, _near(server_id, servers))
                continue
            base = servers[server_id]
            whole = {**_object(base.value), **_object(partial.value)}
            yield from _check_server(partial, whole, allowed or _is_true(base))
    for server_id, place in tools.places.items():
        if server_id not in servers:
            message = f"the registry does not say where the server {server_id!r} is reached"
            hint = f"{_near(server_id, servers)} (calls of its tools fail till then)"
            yield place.problem("REG_SERVER_MISSING", message, hint, "warning")
    yield from _check_placeholders(registry)
    yield from check_secrets(registry)


def _members(place: Place, name: str) -> Iterator[tuple[str, Place]]:
    member = place.member(name)
    return member.members() if member else iter(())


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _is_true(place: Place) -> bool:
    flag = place.member("allowStdio")
    return flag is not None and flag.value is True


def _near(server_id: str, servers: dict[str, Place]) -> str:
    near = get_close_matches(server_id, servers, n=1)
    return f"did you mean {near[0]!r}?" if near else "add it under servers in registry.yaml"


def _check_server(place: Place, whole: Any, may_run: bool) -> Iterator[Problem]:
    """``whole`` is the entry with its override; problems are placed where ``place`` says it."""
    entry = _object(whole)
    transport = entry.get("transport", "streamable_http")
    spot = place.member("transport") or place
    if transport == "ws":
        message = "ws is not supported: MCP defines no WebSocket transport"
        yield spot.problem("REG_TRANSPORT_WS", message, "use streamable_http")
    elif transport in ("stdio", "commands"):
        if transport == "stdio" and not entry.get("command"):
            message = "a stdio server needs a command"
            yield spot.problem("REG_COMMAND_MISSING", message, "name the program")
        if not may_run:
            message = "a stdio server runs a program on this machine; it is refused when connecting"
            hint = "write allowStdio: true beside servers, or beside this command"
            yield spot.problem("REG_STDIO_REFUSED", message, hint, "warning")
    else:
        yield from _check_endpoint(place, entry.get("endpoint", ""))


def _check_endpoint(place: Place, endpoint: Any) -> Iterator[Problem]:
    spot = place.member("endpoint") or place
    if not isinstance(endpoint, str) or endpoint.startswith("${"):
        return
    hint = "write http://host:port, https://…, or ${VARIABLE:-http://host:port}"
    try:
        parts = urlsplit(endpoint)
    except ValueError as error:
        yield spot.problem("REG_ENDPOINT", f"the endpoint is no address: {error}", hint)
        return
    if parts.scheme not in ("http", "https") or not parts.netloc:
        yield spot.problem("REG_ENDPOINT", "the endpoint is no http(s) address", hint)
    elif parts.username or parts.password:
        message = "an address must not carry credentials, because addresses are logged"
        yield spot.problem("REG_ENDPOINT", message, "put them into headers, as ${VARIABLE}")


def _check_placeholders(place: Place) -> Iterator[Problem]:
    """``${`` in a text begins a well-formed variable."""
    if isinstance(place.value, str) and "${" in VARIABLE.sub("", place.value):
        message = "'${' begins no variable that can be read"
        yield place.problem("REG_VARIABLE", message, "write ${NAME} or ${NAME:-default}")
    for _, member in place.members():
        yield from _check_placeholders(member)
    for element in place.elements():
        yield from _check_placeholders(element)
