"""A run that goes on, or does not, when nobody watches it any more."""

from __future__ import annotations

from collections.abc import Container

from control_plane import Store
from dcf.cli.answer import Answer, ErrorNote
from dcf.cli.exits import INTERRUPTED
from dcf.cli.pool_choice import pool_option
from dcf.cli.wording import counted
from dcf.workflow import live_workers


async def interrupted(store: Store, workflow_id: str, own: Container[str] = ()) -> Answer:
    """Ctrl-C: the run stays, the watching ends."""
    message = f"stopped watching {workflow_id}"
    return await left_alone(store, workflow_id, message, INTERRUPTED, own)


async def left_alone(
    store: Store, workflow_id: str, message: str, exit_code: int, own: Container[str] = ()
) -> Answer:
    """What becomes of a run that nobody watches any more, and what the user can do. ``own`` are the
    workers of the command that ends: one that had to be killed still looks alive for a while."""
    others = await live_workers(store, but=own)
    if others:
        fate = f"it goes on: {counted(others, 'other worker reads', 'other workers read')} its pool"
    else:
        helper = f"dcf up --workers 1{pool_option(store.pool)}"
        fate = f"no worker is left: it stands still until one comes (`{helper}`)"
    hint = f"`dcf watch {workflow_id}` watches it again, `dcf cancel {workflow_id}` ends it"
    code = "interrupted" if exit_code == INTERRUPTED else "not_over"
    note = ErrorNote(code, f"{message}; {fate}", hint)
    fields = {"workflow_id": workflow_id, "other_workers": others}
    return Answer(fields, status="running", error=note, exit_code=exit_code)
