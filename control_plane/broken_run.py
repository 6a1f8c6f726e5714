"""Removing a run that is broken: damaged by hand, or by another program."""

from __future__ import annotations

from typing import Any

from control_plane import payload
from control_plane.documents import SCHEMA_VERSION
from control_plane.errors import BadDocument, BrokenRun, UnknownRun
from control_plane.run_faults import Fault, find_fault, remains_of
from control_plane.store import Store

_ATTEMPTS = 100


async def find_broken(store: Store, workflow_id: str) -> Fault | None:
    """What is wrong with a run, also where nothing but keys without a document is left; None for
    one that is whole. Raises UnknownRun where there is nothing at all."""
    run_keys = store.keys(workflow_id)
    fault = await find_fault(store.backend, run_keys)
    if fault is not None or await store.backend.command("EXISTS", run_keys.meta):
        return fault
    count = len((await remains_of(store.backend, run_keys)).names)
    if not count:
        raise UnknownRun(workflow_id=workflow_id)
    what = "1 key is left" if count == 1 else f"{count:,} keys are left"
    return Fault(workflow_id, f"it is gone, and of the run {what}", {"meta": "none"})


async def remove_broken(store: Store, workflow_id: str, *, together: int | None = None) -> bool:
    """Remove a run that is broken, with all its keys, whatever the run came to, at most so many of
    them ``together``; False for one that is whole, which stays. Who dies over it leaves the rest to
    ``store.remove``, or to a sweep. Raises UnknownRun, and BrokenRun when others write to it all
    the time."""
    for _ in range(_ATTEMPTS):
        fault = await find_broken(store, workflow_id)
        if fault is None:
            return False
        request = {"pool": store.pool, "kinds": fault.kinds, "digest": fault.digest}
        answer = await store.call(
            "condemn", workflow_id, request, _in_its_place(workflow_id, store)
        )
        if answer[0] == "bad_document":
            raise BadDocument(reason=answer[1])
        if answer[0] == "ok":
            # Refused when somebody made a run of it, by hand.
            removed = await store.remove(workflow_id, born=answer[1], together=together)
            return removed is None
        # Somebody else wrote there meanwhile, who may have made a run of it.
    message = (
        f"others wrote to the document of run {workflow_id}, which is broken, each of the "
        f"{_ATTEMPTS} times that its removal was tried"
    )
    raise BrokenRun(message, workflow_id=workflow_id, why="others write to it")


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
