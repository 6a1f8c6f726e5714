"""Storage that lost or changed a blob: what of a run needs it, and what helps."""

from __future__ import annotations

from control_plane import JSON, Lease, MissingBlob, Store, payload


async def told_damage(store: Store, lease: Lease, damage: MissingBlob) -> str:
    """Why what ``lease`` is for cannot go on: the blob, what needs it, and what helps."""
    run = lease.workflow_id
    return (
        f"{str(damage).rstrip('.')}: it is {await _what_it_is(store, lease, damage)}, and "
        f"{lease.path} needs it; the data in Redis is damaged, which is nothing that the workflow "
        f"did. Bring the key back from a backup of Redis and `dcf redrive {run}`, or submit the "
        "run anew"
    )


async def _what_it_is(store: Store, lease: Lease, damage: MissingBlob) -> str:
    """What the documents of the run and of the state call the blob."""
    digest, path = str(damage.fields["digest"]), lease.path
    run = await store.run(lease.workflow_id)
    document = await store.state(lease.workflow_id, path)
    names: dict[str, JSON] = {
        f"the definition of run {lease.workflow_id}": {"$blob": run.definition},
        f"the input of run {lease.workflow_id}": run.input,
        f"the input of {path}": document.input,
        f"the variables of {path}": document.variables,
        f"the answer that {path} got": document.event_payload,
        f"the items of {path}": document.fan,
    }
    for name, stored in names.items():
        if payload.blob_of(stored) == digest:
            return name
    return "a value that other states of the run gave it"
