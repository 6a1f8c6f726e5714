"""Leases: the right to work on one state."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from control_plane import Refusal, StateDocument, Store, assigned
from dcf.mcp.envelope import Envelope, Refused
from dcf.mcp.external_work import external_of, refused, register_agent
from dcf.mcp.help import NoEffect, Obvious
from dcf.mcp.kinds import HeldState, LeaseToken, Owner, RunId, Seconds, StatePath
from dcf.mcp.platform import Platform
from dcf.mcp.task_notes import offered_notes
from dcf.mcp.tool import tool
from dcf.mcp.views import lease_view, output_view, state_view
from dcf.memory import MemoryProblem

_SHORTEST_TOKEN = 16


class Leased(Envelope, total=False):
    """A lease and the state it is for."""

    workflow_id: Annotated[str, Field(description="Id of the run.")]
    state: Annotated[str, Field(description="The state's path.")]
    ready: Annotated[bool, Field(description="Whether the state could be taken.")]
    lease: Annotated[
        dict[str, Any] | None,
        Field(description="{token, owner_agent_id, ts, ends, ttl_s, fence}; others see no token."),
    ]
    updated_state: Annotated[dict[str, Any] | None, Field(description="The state's document.")]
    work: Annotated[
        dict[str, Any],
        Field(
            description="What to do: {input, instructions, skills, tool_name, deadline, "
            "heartbeat_s, idempotency_key, fence, visit, try, task_token, memory}."
        ),
    ]
    upstream: Annotated[
        dict[str, Any], Field(description="Outputs of the states before it, by name.")
    ]


@tool("worker")
async def acquire_state_lease(
    platform: Platform,
    workflow_id: RunId,
    state: StatePath,
    owner_agent_id: Owner,
    lease_ttl_s: Seconds = 300,
    require_ready: Annotated[bool, NoEffect("Always so.")] = True,
    require_owner_match: Annotated[bool, "Refuse if the run names another agent."] = True,
    allow_steal_if_expired: Annotated[bool, NoEffect("Always so.")] = True,
    set_running_on_acquire: Annotated[bool, NoEffect("Always so.")] = True,
    attempts_increment: Annotated[int, NoEffect("Always 1.")] = 1,
    lease_token: Annotated[str | None, "Your own token: the call can be repeated."] = None,
    include_upstream: Annotated[bool, "Give the outputs before it too."] = False,
) -> Leased:
    """Take a ready state to work on. Gives the lease token, which every write needs, and the work:
    input, instructions, skills to load."""
    warnings = _fixed(
        require_ready=require_ready,
        allow_steal_if_expired=allow_steal_if_expired,
        set_running_on_acquire=set_running_on_acquire,
        attempts_increment=attempts_increment == 1,
    )
    if lease_token is not None and len(lease_token) < _SHORTEST_TOKEN:
        raise Refused("bad_token", f"a token has at least {_SHORTEST_TOKEN} characters")
    external = await external_of(platform, workflow_id)
    echo: dict[str, Any] = {"workflow_id": workflow_id, "state": state}
    if require_owner_match:
        await _match(external.store, workflow_id, state, owner_agent_id, echo)
    held = lease_token and await external.store.held(workflow_id, state, lease_token)
    taken = await external.take(
        workflow_id,
        state,
        owner=owner_agent_id,
        ttl_ms=1000 * (lease_ttl_s or 300),
        token=lease_token,
    )
    document = await _document(external.store, workflow_id, state)
    if isinstance(taken, Refusal):
        raise await refused(
            external.store, taken, document, **echo, ready=False, lease=None, updated_state=None
        )
    lease, assignment = taken
    if unnamed := await register_agent(platform, owner_agent_id):
        warnings.append(unnamed)
    work = assignment.to_json()
    try:
        notes = await offered_notes(platform, external.store, assignment.task)
        work |= {} if notes is None else {"memory": notes}
    except MemoryProblem as problem:
        warnings.append(f"the state is worked on without its memory: {problem}")
    again = held is not None and not isinstance(held, str | Refusal)
    answer: Leased = {
        "status": "lease_already_held" if again else "lease_acquired",
        **echo,  # type: ignore[typeddict-item]
        "ready": True,
        "lease": lease_view(lease, _since(document)),
        "updated_state": await _view(external.store, workflow_id, document),
        "work": work,
    }
    if include_upstream:
        answer["upstream"] = await _upstream(external.store, workflow_id, state)
    if warnings:
        answer["warnings"] = warnings
    return answer


@tool("worker")
async def renew_state_lease(
    platform: Platform,
    workflow_id: RunId,
    state: HeldState,
    lease_token: LeaseToken,
    owner_agent_id: Annotated[str | None, Obvious("Checked when given.")] = None,
    lease_ttl_s: Seconds = None,
    reject_if_expired: Annotated[bool, NoEffect("Always so.")] = True,
    touch_only: Annotated[bool, "Keep the duration as it is."] = False,
) -> Leased:
    """Keep a lease, and show that the work goes on. Do it about every third of its duration; if it
    is refused, stop: somebody else does the work."""
    external = await external_of(platform, workflow_id)
    await _own(external.store, workflow_id, state, owner_agent_id)
    ttl_ms = None if touch_only or lease_ttl_s is None else 1000 * lease_ttl_s
    lease = await external.renew(workflow_id, state, lease_token, ttl_ms=ttl_ms)
    document = await _document(external.store, workflow_id, state)
    if isinstance(lease, Refusal):
        raise await refused(
            external.store, lease, document, workflow_id=workflow_id, state=state, lease=None
        )
    answer: Leased = {
        "status": "lease_renewed",
        "workflow_id": workflow_id,
        "state": state,
        "lease": lease_view(lease, _since(document)),
        "updated_state": await _view(external.store, workflow_id, document),
    }
    if warnings := _fixed(reject_if_expired=reject_if_expired):
        answer["warnings"] = warnings
    return answer


@tool("worker")
async def release_state_lease(
    platform: Platform,
    workflow_id: RunId,
    state: HeldState,
    lease_token: LeaseToken,
    owner_agent_id: Annotated[str | None, Obvious("Checked when given.")] = None,
    force: Annotated[bool, NoEffect("Never so: only the holder gives back.")] = False,
    clear_owner: Annotated[bool, NoEffect("Always so.")] = True,
) -> Leased:
    """Give a state back unfinished, for another worker. A finished state has no lease left."""
    external = await external_of(platform, workflow_id)
    await _own(external.store, workflow_id, state, owner_agent_id)
    refusal = await external.release(workflow_id, state, lease_token)
    document = await _document(external.store, workflow_id, state)
    clear = refusal is not None and document is not None and document.status != "running"
    if refusal is not None and not clear:
        raise await refused(
            external.store, refusal, document, workflow_id=workflow_id, state=state, lease=None
        )
    answer: Leased = {
        "status": "lease_already_clear" if clear else "lease_released",
        "workflow_id": workflow_id,
        "state": state,
        "lease": None,
        "updated_state": await _view(external.store, workflow_id, document),
    }
    if warnings := _fixed(force=not force, clear_owner=clear_owner):
        answer["warnings"] = warnings
    return answer


def _fixed(**kept: bool) -> list[str]:
    """Switches of the earlier server that cannot be turned here."""
    return [
        f"{name} cannot be switched here: a lease is always checked"
        for name, so in kept.items()
        if not so
    ]


async def _match(
    store: Store, workflow_id: str, state: str, owner: str, echo: dict[str, Any]
) -> None:
    """Refuse an agent where the run assigned another one to the state."""
    named = (await assigned(store, workflow_id)).get(state)
    if named is not None and named != owner:
        raise Refused("owner_mismatch", f"{state} is assigned to {named}", **echo, lease=None)


async def _own(store: Store, workflow_id: str, state: str, owner: str | None) -> None:
    document = await _document(store, workflow_id, state)
    holder = document.holder if document else None
    if owner is not None and holder is not None and holder.owner != owner:
        raise Refused(
            "owner_mismatch", f"{state} is held by {holder.owner}", workflow_id=workflow_id,
            state=state, lease=None,
        )  # fmt: skip


async def _document(store: Store, workflow_id: str, state: str) -> StateDocument | None:
    return (await store.states(workflow_id, [state])).get(state)


async def _view(
    store: Store, workflow_id: str, document: StateDocument | None
) -> dict[str, Any] | None:
    return None if document is None else await state_view(store, workflow_id, document)


def _since(document: StateDocument | None) -> int:
    return document.holder.since if document and document.holder else 0


async def _upstream(store: Store, workflow_id: str, state: str) -> dict[str, Any]:
    """Outputs of those states of the root frame that may come before ``state``."""
    deps = (await store.run(workflow_id)).raw["deps"]
    names = deps.get(state, {}).get("upstream", [])
    found = await store.outputs(workflow_id, names)
    return {name: await output_view(store, workflow_id, one) for name, one in found.items()}


FAMILY = (acquire_state_lease, renew_state_lease, release_state_lease)
