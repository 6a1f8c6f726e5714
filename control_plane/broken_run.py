"""Removing a run of which a key is broken: damaged by hand, or by another program."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from control_plane import payload
from control_plane.documents import SCHEMA_VERSION
from control_plane.errors import BadDocument, BrokenRun, NotText, UnknownRun, WrongType
from control_plane.reader import JSON_TYPE
from control_plane.run_damage import damaged, find_damage
from control_plane.run_space import names_found
from control_plane.store import Store

_ATTEMPTS = 100


async def remove_broken(store: Store, workflow_id: str) -> str:
    """Remove a run of which a key is broken, whatever it came to, with all its keys, also with the
    ones that its sets of paths and blobs do not name. What was wrong with it; "" for one that is
    whole, which stays. Who dies over it leaves the rest to ``store.remove``, or to a sweep. Raises
    UnknownRun, and BrokenRun when others write to the document all the time."""
    key, command = store.keys(workflow_id).meta, store.backend.command
    for _ in range(_ATTEMPTS):
        kind, digest = await command("TYPE", key), ""
        if kind == JSON_TYPE:
            text = await command("JSON.GET", key) or ""
            digest = hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()
        why = await what_is_broken(store, workflow_id)
        if not why:
            return ""
        request = {"pool": store.pool, "kind": kind, "digest": digest}
        answer = await store.call(
            "condemn",
            workflow_id,
            request | await _remains(store, workflow_id),
            _in_its_place(workflow_id, store),
        )
        if answer[0] == "bad_document":
            raise BadDocument(reason=answer[1])
        if answer[0] == "ok":
            # Refused when somebody made a run of it, by hand.
            return why if await store.remove(workflow_id, born=answer[1]) is None else ""
        # Somebody else wrote there meanwhile, who may have made a run of it.
    message = (
        f"others wrote to the document of run {workflow_id}, which is broken, each of the "
        f"{_ATTEMPTS} times that its removal was tried"
    )
    raise BrokenRun(message, workflow_id=workflow_id, why="others write to it")


async def what_is_broken(store: Store, workflow_id: str) -> str:
    """What is wrong with a run, "" where nothing is. Raises UnknownRun where nothing is left of
    it."""
    try:
        found = await find_damage(store, workflow_id)
    except BrokenRun as error:
        return str(error.fields["why"])
    except UnknownRun:
        names = await names_found(store, workflow_id)
        if not names:
            raise
        left = len(names) - 1
        return f"it has no document, and {names[0]}" + (f" and {left:,} more keys" if left else "")
    return str(damaged(workflow_id, found).fields["why"]) if found else ""


async def _remains(store: Store, workflow_id: str) -> dict[str, Any]:
    """The paths and blobs of which there are keys, and which the sets of them do not name; and
    which of these sets cannot be read."""
    run_keys, names = store.keys(workflow_id), await names_found(store, workflow_id)

    def named(of_kind: Callable[[str], str]) -> set[str]:
        start = of_kind("")
        return {name.removeprefix(start) for name in names if name.startswith(start)}

    known_paths = await _members(store, run_keys.paths)
    known_blobs = await _members(store, run_keys.blobs)
    paths = named(run_keys.state) | named(run_keys.output) | named(run_keys.calls)
    return {
        "paths": sorted(paths - (known_paths or set())),
        "blobs": sorted(named(run_keys.blob) - (known_blobs or set())),
        "no_paths": known_paths is None,
        "no_blobs": known_blobs is None,
    }


async def _members(store: Store, key: str) -> set[str] | None:
    """None where they cannot be read."""
    try:
        return set(await store.backend.command("SMEMBERS", key))
    except (NotText, WrongType):
        return None


def _in_its_place(workflow_id: str, store: Store) -> str:
    """A document of which nothing is known but its id."""
    document: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "workflow_id": workflow_id,
        "workflow_name": "",
        "status": "cancelled",
        "definition": "0" * 64,
        "start_at": "",
        "pool": store.pool,
        "input": None,
    }
    document |= {"states": [], "terminal_states": [], "deps": {}, "agents": {}, "skills": {}}
    return payload.to_text(document)
