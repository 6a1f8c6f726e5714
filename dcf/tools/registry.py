"""The registry: which tool servers there are and how to reach them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from control_plane.embedded import data_home
from dcf.problem import Problem
from dcf.tools.document import placed, pointer, read_document
from dcf.tools.errors import InvalidDocument, UnknownServer
from dcf.tools.server_config import ServerConfig, build_server
from dcf.tools.substitution import references, substitute
from dcf_agents.shipped import docs_page

NO_STUB = "http://127.0.0.1:0"
"""What ``DCF_STUB_URL`` is while no stub runs. Nobody can listen there, as somebody might at the
address where a stub was or will be."""

_STUB_ABSENT = "the stub tool server does not run: `dcf up` starts it"

_INHERITED = ("PATH", "HOME", "LANG")
"""The variables of ours that a program gets without being named: few programs start without."""


class Registry:
    """Servers by id.

    >>> registry = Registry([ServerConfig("web", url="http://127.0.0.1:8765/mcp/web")])
    >>> registry.server("web").url
    'http://127.0.0.1:8765/mcp/web'
    """

    def __init__(self, servers: Iterable[ServerConfig]) -> None:
        self._servers = {server.id: server for server in servers}

    @classmethod
    def load(cls, path: Path, env: Mapping[str, str]) -> Registry:
        """Read ``generated/registry.json`` or a ``registry.yaml``.

        The document's ``env`` picks one of its ``overrides``; ``${VAR}`` and ``${VAR:-default}``
        are taken from ``env``, here and once. Servers at ``DCF_STUB_URL`` are the stub's, and are
        sent ``DCF_STUB_TOKEN``; they are absent where that is ``NO_STUB``. Raises
        ``InvalidDocument`` with all problems.
        """
        text, document = read_document(path, "REG")
        problems: list[Problem] = []
        servers = _servers_of(document, env, problems)
        if problems:
            raise InvalidDocument(placed(problems, path, text))
        return cls(servers)

    def server(self, server_id: str) -> ServerConfig:
        """The server of this id; raises ``UnknownServer`` with the closest ids."""
        found = self._servers.get(server_id)
        if found is None:
            closest = difflib.get_close_matches(server_id, self._servers, n=3, cutoff=0.5)
            raise UnknownServer(server_id, closest)
        return found

    def ids(self) -> tuple[str, ...]:
        """All ids, in the order of the document."""
        return tuple(self._servers)

    def __eq__(self, other: object) -> bool:
        """Whether both say the same of the same servers: connections to one serve the other."""
        return isinstance(other, Registry) and self._servers == other._servers

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Registry({', '.join(self._servers) or 'no servers'})"


def _servers_of(
    document: Any, env: Mapping[str, str], problems: list[Problem]
) -> list[ServerConfig]:
    if not isinstance(document, Mapping) or not isinstance(document.get("servers"), Mapping):
        problems.append(
            Problem(
                "REG_SHAPE",
                "a registry is an object with an object `servers`",
                hint=f"see {docs_page('how-to/real-servers.md')} for the form of a registry",
            )
        )
        return []
    stage = substitute(document.get("env") or "", env, "/env", problems)
    partials = _overrides(document, stage, problems)
    built: list[ServerConfig] = []
    for server_id, entry in document["servers"].items():
        path = pointer(["servers", server_id])
        partial = partials.pop(server_id, {})
        if not isinstance(server_id, str) or not isinstance(partial, Mapping):
            rule = "a server's id must be a string, its override an object"
            problems.append(
                Problem(
                    "REG_SHAPE",
                    rule,
                    path,
                    hint=f"see {docs_page('how-to/real-servers.md')} for the form of a registry",
                )
            )
            continue
        merged = _merge(entry, partial)
        filled = substitute(merged, env, path, problems)
        is_stub = _is_stub(filled, env)
        config = build_server(
            server_id,
            _with_token(filled, env) if is_stub else filled,
            allow_stdio=_allows_stdio(document) or _allows_stdio(entry),
            problems=problems,
            secrets=_secrets(merged, env),
            inherited={name: env[name] for name in _INHERITED if name in env},
            workspace=_workspace(env),
        )
        if config is not None and is_stub and env["DCF_STUB_URL"] == NO_STUB:
            config = replace(config, absent=_STUB_ABSENT)
        if config is not None:
            built.append(config)
    problems.extend(
        Problem(
            "REG_OVERRIDE",
            f"there is no server {server_id!r} to override",
            pointer(["overrides", stage, server_id]),
            hint="add the server to `servers`, or remove its override",
        )
        for server_id in partials
    )
    return built


def _overrides(document: Mapping[str, Any], stage: str, problems: list[Problem]) -> dict[str, Any]:
    overrides = document.get("overrides") or {}
    partials = overrides.get(stage) or {} if isinstance(overrides, Mapping) else overrides
    if not isinstance(partials, Mapping):
        problems.append(
            Problem(
                "REG_SHAPE",
                "overrides must map an env to servers",
                "/overrides",
                hint=f"see {docs_page('how-to/real-servers.md')} for the form of a registry",
            )
        )
        return {}
    return dict(partials)


def _merge(entry: Any, partial: Mapping[str, Any]) -> Any:
    """The entry with the members of the override; headers and environment name by name."""
    if not isinstance(entry, Mapping):
        return entry
    merged = {**entry, **partial}
    for member in ("headers", "environment"):
        ours, theirs = entry.get(member), partial.get(member)
        if isinstance(ours, Mapping) and isinstance(theirs, Mapping):
            merged[member] = {**ours, **theirs}
    return merged


def _is_stub(entry: Any, env: Mapping[str, str]) -> bool:
    """Whether the server is played by the stub that ``DCF_STUB_URL`` names."""
    stub_url, endpoint = env.get("DCF_STUB_URL"), _member(entry, "endpoint")
    # Compared with what ends it: another port or host may begin like ours.
    return bool(stub_url) and f"{endpoint}/".startswith(f"{str(stub_url).rstrip('/')}/")


def _with_token(entry: Any, env: Mapping[str, str]) -> Any:
    """The entry with the token of the stub, unless it has a header for that itself.

    The token is ours, not a skill's: so no registry needs to name it, and it counts as none of the
    secrets that skills declare.
    """
    token, headers = env.get("DCF_STUB_TOKEN"), _member(entry, "headers") or {}
    if not token or not isinstance(headers, Mapping):
        return entry
    if any(str(name).lower() == "authorization" for name in headers):
        return entry
    return {**entry, "headers": {**headers, "Authorization": f"Bearer {token}"}}


def _member(entry: Any, name: str) -> Any:
    return entry.get(name) if isinstance(entry, Mapping) else None


def _secrets(entry: Any, env: Mapping[str, str]) -> dict[str, str]:
    """The variables that the server is given, in whatever it is given them; those of addresses are
    no secrets."""
    if not isinstance(entry, Mapping):
        return {}
    given = [entry.get(member) for member in ("headers", "args", "environment")]
    return {name: env.get(name, "") for name in references(given)}


def _workspace(env: Mapping[str, str]) -> str:
    """The folder that agents' files are in."""
    return str(Path(env.get("DCF_WORKSPACE") or data_home(env) / "workspace").resolve())


def _allows_stdio(holder: Any) -> bool:
    """Only a plain ``true`` in the document itself: neither an override nor a variable can."""
    return isinstance(holder, Mapping) and holder.get("allowStdio") is True
