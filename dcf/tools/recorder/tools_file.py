"""The tools file that a recording goes into."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import yaml

from dcf.problem import Problem
from dcf.tools.errors import InvalidDocument
from dcf.tools.recorder.yaml_edit import with_element, with_member, written

_HEADER = """\
# Recorded from a real server by `dcf stub record`. Secrets were taken out: read it all the same
# before you commit it.
"""


def tools_text(before: str | None, server_id: str, tools: dict[str, Any], file: Path) -> str:
    """The text of the file with ``tools`` (see ``authored_tools``) in it; ``before`` is what stands
    in the file now, None when there is none.

    What stands there stays, to the letter: a tool keeps its schemas, a call that has a case keeps
    it. Raises ``InvalidDocument`` when the file is no tools file, or cannot be added to.
    """
    if before is None or not before.strip():
        servers = {server_id: {"description": f"Recorded from {server_id}", "tools": tools}}
        whole = {"apiVersion": "tools/v1", "kind": "ToolsRegistry", "servers": servers}
        return _HEADER + written(whole)
    document = _read(before, file)
    wanted = copy.deepcopy(document)
    text = before
    try:
        for path, name, value in _additions(document, server_id, tools):
            _apply(wanted, path, name, value)
            text = (
                with_element(text, path, value)
                if name is None
                else with_member(text, path, name, value)
            )
        done = yaml.safe_load(text)
    except (KeyError, yaml.YAMLError, TypeError, IndexError):
        done = None
    if done != wanted:
        raise _wrong(
            file,
            "the recording cannot be added to this file without changing what stands in it",
            "record into a file of its own with --out, or write its aliases and merges out",
        )
    return text


def _additions(
    document: dict[str, Any], server_id: str, tools: dict[str, Any]
) -> list[tuple[tuple[str, ...], str | None, Any]]:
    """What to add where: ``(path of the holder, name of the member or None, value)``."""
    servers = document.get("servers")
    if not isinstance(servers, dict) or not isinstance(servers.get(server_id), dict):
        entry = {"description": f"Recorded from {server_id}", "tools": tools}
        where = ("servers",) if "servers" in document else ()
        return [(where, server_id, entry)] if where else [((), "servers", {server_id: entry})]
    here = ("servers", server_id)
    there = servers[server_id].get("tools")
    if not isinstance(there, dict):
        if "tools" not in servers[server_id]:
            return [(here, "tools", tools)]
        there = {}
    found: list[tuple[tuple[str, ...], str | None, Any]] = []
    for name, tool in tools.items():
        if not isinstance(there.get(name), dict):
            found.append(((*here, "tools"), name, tool))
            continue
        cases = there[name].get("cases")
        known = cases if isinstance(cases, list) else []
        new = [case for case in tool.get("cases", ()) if not _has(known, case)]
        if new and "cases" not in there[name]:
            found.append(((*here, "tools", name), "cases", new))
        else:
            found.extend(((*here, "tools", name, "cases"), None, case) for case in new)
    return found


def _has(known: list[Any], case: dict[str, Any]) -> bool:
    """Whether the call of ``case`` has a case already."""
    return any(
        isinstance(one, dict) and (one.get("id") == case["id"] or one.get("match") == case["match"])
        for one in known
    )


def _apply(document: Any, path: tuple[str, ...], name: str | None, value: Any) -> None:
    holder = document
    for step in path:
        parent = holder
        holder = parent[step]
        if holder is None:
            parent[step] = holder = [] if name is None else {}
    if name is None:
        holder.append(value)
    else:
        holder[name] = value


def _read(text: str, file: Path) -> dict[str, Any]:
    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise _wrong(file, f"it is no YAML: {error}", "mend it, or choose another --out") from None
    if not isinstance(document, dict) or document.get("apiVersion") != "tools/v1":
        raise _wrong(file, "it is no tools file (apiVersion: tools/v1)", "choose another --out")
    return document


def _wrong(file: Path, message: str, hint: str) -> InvalidDocument:
    return InvalidDocument([Problem("TOOL_RECORD_FILE", message, hint=hint, file=str(file))])
