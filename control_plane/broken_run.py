"""Removing a run whose document is broken: damaged by hand, or by another program."""

from __future__ import annotations

import hashlib
from typing import Any

from control_plane import payload
from control_plane.documents import SCHEMA_VERSION
from control_plane.errors import BadDocument, BrokenRun, UnknownRun
from control_plane.reader import JSON_TYPE
from control_plane.run_document import RunDocument
from control_plane.store import Store

_ATTEMPTS = 100


async def remove_broken(store: Store, workflow_id: str) -> bool:
    """Remove a run whose document is broken, with all its keys, whatever the run came to; False for
    one that is whole, which stays. Who dies over it leaves the rest to ``store.remove``, or to a
    sweep. Raises UnknownRun, and BrokenRun when others write to the document all the time."""
    key, command = store.keys(workflow_id).meta, store.backend.command
    for _ in range(_ATTEMPTS):
        kind, digest = await command("TYPE", key), ""
        if kind == "none":
            raise UnknownRun(workflow_id=workflow_id)
        if kind == JSON_TYPE:
            text = await command("JSON.GET", key)
            if text is None or _is_whole(text, workflow_id):
                return False
            digest = hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()
        request = {"pool": store.pool, "kind": kind, "digest": digest}
        answer = await store.call(
            "condemn", workflow_id, request, _in_its_place(workflow_id, store)
        )
        if answer[0] == "bad_document":
            raise BadDocument(reason=answer[1])
        if answer[0] == "ok":
            # Refused when somebody made a run of it, by hand.
            return await store.remove(workflow_id, born=answer[1]) is None
        # Somebody else wrote there meanwhile, who may have made a run of it.
    message = (
        f"others wrote to the document of run {workflow_id}, which is broken, each of the "
        f"{_ATTEMPTS} times that its removal was tried"
    )
    raise BrokenRun(message, workflow_id=workflow_id, why="others write to it")


def _is_whole(text: str, workflow_id: str) -> bool:
    try:
        RunDocument.parse(text, workflow_id)
    except BrokenRun:
        return False
    return True


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
