"""Removing a run that is over, and why one is kept."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from control_plane import BadName, RunDocument, SessionStore, Store, UnknownSession
from dcf.knowledge import SESSION_PIN
from dcf.worker.run_memory import RunMemory

_ENDED = frozenset({"completed", "abandoned"})


@dataclass(frozen=True, slots=True)
class Kept:
    """Why a run is not removed: ``code`` is stable, ``why`` completes "run x …". ``undelivered``
    says that it may go once what waits in the outbox was written to the graph."""

    code: str
    why: str
    hint: str
    undelivered: bool = False


async def remove_run(
    store: Store, run: RunDocument, memory: RunMemory | None = None
) -> Kept | None:
    """Remove a run with everything that belongs to it, its nodes in the ``memory`` too (None: they
    stay); None when it is gone. Who dies over it leaves the rest to the next removal, or to a
    sweep, which forgets no nodes. Raises a MemoryProblem: then the nodes are there, and the run's
    removal is begun."""
    kept = await why_kept(store, run)
    if kept is not None:
        return kept
    # Before its keys: nobody finds the nodes of a run that is gone.
    forget = None if memory is None else partial(memory.forget, run)
    refusal = await store.remove(run.workflow_id, unexported=not store.feeds_outbox, marked=forget)
    if refusal is None:
        return None
    # It moved on since it was read: a redrive, say.
    now = await store.run_many([run.workflow_id])
    return await why_kept(store, now[0]) if now else None


async def why_kept(store: Store, run: RunDocument) -> Kept | None:
    """Why a run may not be removed as things stand; None when it may. A run whose outcome the graph
    does not have is kept where the graph is in use (a store with an outbox)."""
    if run.removing:
        return None
    if not run.is_over:
        hint = f"`dcf cancel {run.workflow_id}` ends it"
        return Kept("still_running", f"is {run.status}", hint)
    if run.finalized_at is None:
        hint = "a worker seals it within seconds: `dcf up --workers 1`"
        return Kept("not_finalized", f"is {run.status}, and its end is not sealed yet", hint)
    session_id = run.raw.get("pins", {}).get(SESSION_PIN)
    if session_id is not None and await _is_open(store, session_id):
        hint = f"its result is needed until that ends: `dcf session finalize {session_id}`"
        return Kept("in_session", f"is the work of a task of session {session_id}", hint)
    if store.feeds_outbox and run.outbox == "refused":
        hint = "`dcf doctor` says what is refused; with DCF_GRAPH=off it is removed all the same"
        return Kept("not_exported", "is not in the graph, which refused it", hint)
    if store.feeds_outbox and run.outbox != "told":
        hint = "`dcf graph sync` writes it; with DCF_GRAPH=off it is removed all the same"
        return Kept("not_exported", "is not in the graph yet", hint, undelivered=True)
    return None


async def _is_open(store: Store, session_id: str) -> bool:
    sessions = SessionStore(store.backend, cluster=store.cluster)
    try:
        document = await sessions.read(session_id, ["session"])
    except (UnknownSession, BadName):
        return False
    head = document.record["session"]
    return not (isinstance(head, dict) and head.get("state") in _ENDED)
