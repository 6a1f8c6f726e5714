"""Documents as clients see them: values in place of references, no tokens, no secrets."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from control_plane import Lease, RunDocument, StateDocument, Store, payload
from dcf.workflow import iso

MOST_INLINE = 1_048_576
"""A stored value over so many bytes stays a reference, ``{"$blob", "size"}``."""
_VALUES = ("input", "effective_input", "variables", "event")


async def state_view(store: Store, workflow_id: str, document: StateDocument) -> dict[str, Any]:
    """A state document without its control record, and with the names of the earlier version
    beside ours: ``started_at``, ``finished_at``, ``last_error``."""
    view = {
        name: part for name, part in document.raw.items() if name not in ("ctl", "fan", "approval")
    }
    for name in _VALUES:
        if name in view:
            view[name] = await value_view(store, workflow_id, view[name])
    times = document.times
    holder = document.holder
    return {
        **view,
        "lease": {
            "token": None,
            "owner_agent_id": holder.owner if holder else None,
            "ts": iso(holder.since) if holder else None,
            "ends": iso(holder.ends) if holder else None,
            "ttl_s": document.raw["lease"]["ttl_s"],
        },
        "fence": document.fence,
        "try": document.try_,
        "wait": document.wait,
        "started_at": _iso(times.get("started")),
        "finished_at": _iso(times.get("finished")),
        "last_error": str(document.error) if document.error else None,
    }


async def run_view(store: Store, run: RunDocument) -> dict[str, Any]:
    """The meta document without its control record and its secret."""
    hidden = ("ctl", "callback_secret")
    view = {name: part for name, part in run.raw.items() if name not in hidden}
    view["input"] = await value_view(store, run.workflow_id, view["input"])
    for name in ("created_at", "started_at", "finished_at", "finalized_at"):
        view[name] = _iso(view.get(name))
    return view


async def output_view(store: Store, workflow_id: str, output: dict[str, Any]) -> dict[str, Any]:
    """What a state put out."""
    return {**output, "data": await value_view(store, workflow_id, output.get("data"))}


async def value_view(store: Store, workflow_id: str, stored: Any) -> Any:
    """The value behind ``stored``, unless it is very large."""
    if payload.blob_of(stored) is not None and stored["size"] > MOST_INLINE:
        return stored
    return await store.value(workflow_id, stored)


def lease_view(lease: Lease, since_ms: int) -> dict[str, Any]:
    """A lease for its holder, the token included. ``since_ms``: granted or renewed, by Redis."""
    return {
        "token": lease.token,
        "owner_agent_id": lease.owner,
        "ts": iso(since_ms),
        "ends": iso(since_ms + lease.ttl_ms),
        "ttl_s": round(lease.ttl_ms / 1000),
        "fence": lease.fence,
    }


def moment(seconds: float) -> str:
    """An instant as RFC 3339 in UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


def _iso(milliseconds: Any) -> str | None:
    return iso(milliseconds) if isinstance(milliseconds, int) else None
