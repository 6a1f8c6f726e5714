"""The domain's side of work from outside, as the tools use it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from control_plane import (
    AgentExists,
    AgentStore,
    BadName,
    NameTaken,
    Refusal,
    StateDocument,
    Store,
)
from dcf.mcp.envelope import Refused
from dcf.mcp.platform import Platform
from dcf.mcp.views import state_view
from dcf.sessions.companions import OUTSIDE
from dcf.worker import approvers_of
from dcf.workflow import External, LocalObjects, Objects

_WORDS = {
    "lease_held": "somebody else holds the lease",
    "lease_mismatch": "the state is held with another token",
    "no_lease": "nobody holds this state: your lease was finished, given back, or has ended",
    "lease_expired": "the lease has ended",
    "timed_out": "the time limit of the state has passed",
    "cancelled": "the run was cancelled",
    "closed": "the run, or the Map or Parallel around the state, is over",
    "unknown_state": "the run has no such state",
    "unknown_protocol": "a newer version of DCF submitted this run",
    "already_finished": "this lease has finished its state before, with something else: that"
    " stands, and what this call brought was not stored",
}
_HINTS = {
    "not_ready": "explain_workflow says what it waits for",
    "unknown_state": "read_workflow_control_plane names the states",
    "already_finished": "read_workflow_control_plane has what stands",
    "lease_held": "try again when it has ended, or take another state",
}


async def external_of(platform: Platform, workflow_id: str) -> External:
    """What works on states of this run from outside. Raises UnknownRun."""
    store = await platform.store_for(workflow_id)
    folder = platform.config.objects
    return External(
        store,
        platform.runs,
        objects=Objects(LocalObjects(folder)) if folder else None,
        approver=approvers_of(await platform.policy()),
    )


async def register_agent(
    platform: Platform, agent_id: str, *, tags: Sequence[str] = (OUTSIDE,)
) -> str | None:
    """Whoever takes a lease is an agent, with a record that skills can be loaded into. Why it has
    none, or None."""
    agents = AgentStore(platform.backend)
    try:
        if await agents.get(agent_id, ()) is None:
            await agents.create(agent_id, agent_id, tags=tags)
    except AgentExists:
        return None
    except (BadName, NameTaken) as error:
        return f"{agent_id!r} gets no record as an agent: {error}"
    return None


async def refused(
    store: Store, refusal: Refusal, document: StateDocument | None, **fields: Any
) -> Refused:
    """The answer to what the control plane refused, in the words of the tools."""
    code = refusal.code
    if code == "lease_lost":
        code = "lease_mismatch" if document and document.status == "running" else "no_lease"
    if code == "finished_otherwise":
        code = "already_finished"
    message = _WORDS.get(code, "")
    if code == "not_ready":
        message = "the state is " + (document.status if document else "gone")
    if code == "lease_held" and document and document.holder:
        view = (await state_view(store, str(fields["workflow_id"]), document))["lease"]
        fields = {**fields, "lease": view}
        message = f"{document.holder.owner} holds the lease until {view['ends']}"
    return Refused(code, message, hint=_HINTS.get(code, ""), **fields)
