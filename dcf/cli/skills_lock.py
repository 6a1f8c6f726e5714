"""``dcf skills lock``: asks the tool servers for their schemas and writes tools.lock.json."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from dcf.cli.answer import Answer, ErrorNote
from dcf.cli.exits import ENVIRONMENT, FAILED
from dcf.cli.settings import DEFAULT_STUB_URL, Settings
from dcf.cli.skills import demand_folder
from dcf.cli.trouble import BadInput
from dcf.cli.wording import counted
from dcf.problem import Problem
from dcf.regular_file import read_regular
from dcf.skills import index_tools, read_tree, write_pins
from dcf.skills.comparison import PinChange, RenewedPins, renew_pins, tool_pin
from dcf.tools import Registry, ServerConfig, Toolbox, ToolsError, UnknownServer

_LOCK = "tools.lock.json"


@dataclass(frozen=True, slots=True)
class LockOrder:
    """The command line. Without ``servers`` all that are not on the stub are asked."""

    src: Path
    servers: Sequence[str]
    check: bool


@dataclass(frozen=True, slots=True)
class _Seen:
    """``tools``: pins by name for each server that answered; ``silent``: why others did not."""

    tools: dict[str, dict[str, dict[str, Any]]]
    silent: dict[str, str]


def lock_tools(order: LockOrder, settings: Settings) -> Answer:
    """Bring ``tools.lock.json`` up to date. Raises BadInput, InvalidDocument."""
    demand_folder(order.src)
    before = _read(order.src / _LOCK)
    registry = Registry.load(order.src / "registry.yaml", settings.env)
    asked = _asked(registry, order.servers, settings)
    seen = asyncio.run(_ask(registry, asked))
    sources = index_tools(read_tree(order.src).tools).tools
    renewed = renew_pins(before, seen.tools, sources)
    stale = renewed.document != (before or {"lockVersion": 1, "tools": {}})
    if stale and not order.check:
        write_pins(order.src / _LOCK, renewed.document)
    return _answer(order, asked, seen, renewed, stale=stale)


def _read(path: Path) -> dict[str, Any] | None:
    try:
        document = json.loads(read_regular(path))
        tools = document["tools"].values()
        if all({"inputSchema", "outputSchema", "digest"} <= set(pin) for pin in tools):
            return dict(document)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        pass  # said below, as what is whole JSON of another shape is
    message = "this is no lock of tools"
    hint = "`dcf skills validate` says what is wrong; remove the file to begin anew"
    raise BadInput([Problem("LOCK_JSON", message, hint=hint, file=str(path))])


def _asked(registry: Registry, named: Sequence[str], settings: Settings) -> list[str]:
    problems = []
    for server_id in named:
        try:
            registry.server(server_id)
        except UnknownServer as unknown:
            problems.append(Problem("CLI_SERVER", str(unknown), file="--server"))
    if problems:
        raise BadInput(problems)
    if named:
        return list(dict.fromkeys(named))
    stub = _address(settings.stub_url or DEFAULT_STUB_URL)
    servers = map(registry.server, registry.ids())
    return [server.id for server in servers if not _is_stub(server, stub)]


def _is_stub(server: ServerConfig, stub: tuple[str, int | None]) -> bool:
    return server.transport != "stdio" and _address(server.url) == stub


def _address(url: str) -> tuple[str, int | None]:
    parts = urlsplit(url)
    host = (parts.hostname or "").replace("localhost", "127.0.0.1")
    return host, parts.port or {"http": 80, "https": 443}.get(parts.scheme)


async def _ask(registry: Registry, servers: Sequence[str]) -> _Seen:
    seen = _Seen({}, {})

    async def ask(toolbox: Toolbox, server_id: str) -> None:
        try:
            tools = await toolbox.list_tools(server_id)
        except ToolsError as error:
            seen.silent[server_id] = str(error)
        else:
            seen.tools[server_id] = {
                tool.name: tool_pin(tool.input_schema, tool.output_schema) for tool in tools
            }

    async with Toolbox(registry) as toolbox:
        await asyncio.gather(*(ask(toolbox, server_id) for server_id in servers))
    return seen


def _answer(
    order: LockOrder, asked: Sequence[str], seen: _Seen, renewed: RenewedPins, *, stale: bool
) -> Answer:
    path = order.src / _LOCK
    fields = {
        "file": str(path),
        "asked": list(asked),
        "answered": sorted(seen.tools),
        "silent": dict(sorted(seen.silent.items())),
        "changes": [change.to_json() for change in renewed.changes],
        "unknown_tools": list(renewed.unknown),
        "written": stale and not order.check,
    }
    answer = Answer(fields, list(_lines(order, asked, seen, renewed, stale=stale)))
    if seen.silent:
        told = tuple(f"{server}: {why}" for server, why in sorted(seen.silent.items()))
        message = f"no answer from {', '.join(sorted(seen.silent))}; what was locked of them stays"
        note = ErrorNote("servers_silent", message, "start them, or name others: --server", told)
        return replace(answer, status="incomplete", error=note, exit_code=ENVIRONMENT)
    gone = [change.tool for change in renewed.changes if change.status == "gone"]
    if order.check and (stale or gone):
        message = f"{path} is not what the servers say"
        hint = "run `dcf skills lock`, look at what changed, generate and commit"
        note = ErrorNote("stale", message, hint)
        return replace(answer, status="stale", error=note, exit_code=FAILED)
    return answer


def _lines(
    order: LockOrder, asked: Sequence[str], seen: _Seen, renewed: RenewedPins, *, stale: bool
) -> Iterator[str]:
    for change in renewed.changes:
        yield from _change_lines(change)
    if renewed.unknown:
        yield f"in no tools file: {', '.join(renewed.unknown)}"
    path = order.src / _LOCK
    if not asked:
        yield (
            "nothing to lock: every server of the registry is on the stub, whose schemas are those "
            "of the sources (--server ID asks one all the same)"
        )
    elif not stale:
        servers = counted(len(asked), "server", "servers")
        yield f"{path}: up to date with {len(seen.tools)} of {servers}"
    if not stale:
        return
    if order.check:
        yield f"{path} would change"
    else:
        yield f"wrote {path}: next `dcf skills generate`"


def _change_lines(change: PinChange) -> Iterator[str]:
    words: Mapping[str, str] = {
        "added": "locked for the first time",
        "changed": "its schema changed",
        "gone": "its server does not list it any more",
        "dropped": "no tools file has it any more",
    }
    yield f"{change.status:<8} {change.tool}: {words[change.status]}"
    for one in change.changes:
        yield f"  {one.bump:<5}  {one.place}: {one.text}"
