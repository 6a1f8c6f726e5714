"""The control plane of a run: reading it, and finishing states under a lease."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from pydantic import Field

from control_plane import Committed, Refusal, StateDocument, Store, assigned
from dcf.mcp.envelope import Envelope, Refused
from dcf.mcp.external_work import external_of, refused
from dcf.mcp.help import NoEffect, Obvious, Rare
from dcf.mcp.kinds import HeldState, RunId, Seconds
from dcf.mcp.platform import Platform
from dcf.mcp.reported import outcome_of, wanted_of
from dcf.mcp.task_notes import keep_end
from dcf.mcp.tool import tool
from dcf.mcp.views import output_view, run_view, state_view
from dcf.workflow import External, is_earlier

_MOST_STATES = 500


class ControlPlane(Envelope, total=False):
    """The documents of a run."""

    workflow_id: Annotated[str, Field(description="Id of the run.")]
    meta: Annotated[dict[str, Any] | None, Field(description="The run.")]
    states: Annotated[dict[str, Any], Field(description="State to its document, or null.")]
    outputs: Annotated[dict[str, Any], Field(description="State to what it put out, or null.")]
    readiness: Annotated[
        dict[str, bool] | None, Field(description="State to whether it can be leased.")
    ]
    truncated: Annotated[bool, Field(description="Whether there are more states.")]


class Updated(Envelope, total=False):
    """A state after an update."""

    workflow_id: Annotated[str, Field(description="Id of the run.")]
    state: Annotated[str, Field(description="The state's path.")]
    updated_state: Annotated[dict[str, Any] | None, Field(description="The state's document.")]
    output_written: Annotated[bool, Field(description="Whether an output was stored.")]
    run_status: Annotated[str, Field(description="Status of the run now.")]
    ready: Annotated[list[str], Field(description="States that can be leased now.")]


@tool("planner", "worker", "reflector", "strategist")
async def read_workflow_control_plane(
    platform: Platform,
    workflow_id: RunId,
    states_json: Annotated[list[str] | None, "List of states; else those of the top level."] = None,
    include_meta: Annotated[bool, "With the run itself."] = True,
    compute_readiness: Annotated[bool, Rare("Say which can be leased.")] = False,
    include_nested: Annotated[bool, "With states inside Map and Parallel."] = False,
) -> ControlPlane:
    """Read a run: its states, their outputs, which are ready."""
    store = await platform.store_for(workflow_id)
    run = await store.run(workflow_id)
    wanted = (
        states_json if states_json is not None else await _paths(store, run.raw, include_nested)
    )
    chosen = wanted[:_MOST_STATES]
    documents = await store.states(workflow_id, chosen)
    outputs = await store.outputs(workflow_id, chosen)
    meta = None
    if include_meta:
        meta = await run_view(store, run)
        meta["agents"] = {**meta["agents"], **await assigned(store, workflow_id)}
    return {
        "workflow_id": workflow_id,
        "meta": meta,
        "states": {path: await _state(store, workflow_id, documents.get(path)) for path in chosen},
        "outputs": {
            path: await output_view(store, workflow_id, outputs[path]) if path in outputs else None
            for path in chosen
        },
        "readiness": (
            {path: path in documents and documents[path].status == "ready" for path in chosen}
            if compute_readiness
            else None
        ),
        "truncated": len(wanted) > _MOST_STATES,
    }


@tool("worker", strict=True)
async def update_workflow_control_plane(
    platform: Platform,
    workflow_id: RunId,
    state: HeldState,
    new_status: Annotated[
        str | None, "done or failed ends the state; pending gives it back."
    ] = None,
    lease_token: Annotated[str | None, "Token of your lease; required."] = None,
    owner_agent_id: Annotated[str | None, NoEffect("Not needed: the token says it.")] = None,
    lease_ttl_s: Seconds = None,
    attempts_increment: Annotated[int | None, NoEffect("Counted by itself.")] = None,
    error_message: Annotated[str | None, Obvious("Why it failed.")] = None,
    set_started_at: Annotated[bool, NoEffect("Set by itself.")] = False,
    set_finished_at: Annotated[bool, NoEffect("Set by itself.")] = False,
    output_json: Annotated[
        Any, "Result, or {ok, summary, data, artifacts, metrics, error}."
    ] = None,
    output_ttl_secs: Annotated[int | None, NoEffect("Outputs are kept with the run.")] = None,
    error_name: Annotated[str | None, "Error that Retry and Catch match."] = None,
) -> Updated:
    """Finish a state you hold: done with its output, or failed. Retry, Catch and Next are applied;
    the lease ends. running only renews the lease."""
    if not lease_token:
        raise Refused(
            "lease_required", "every write needs the token of a lease", hint="acquire_state_lease"
        )
    wanted = wanted_of(new_status)
    external = await external_of(platform, workflow_id)
    echo: dict[str, Any] = {"workflow_id": workflow_id, "state": state}
    ignored = [
        f"{name} is ignored: {why}"
        for name, given, why in (
            ("attempts_increment", attempts_increment, "attempts are counted by the leases"),
            ("output_ttl_secs", output_ttl_secs, "outputs are removed with their run"),
        )
        if given is not None
    ]
    written = False
    found: Committed | Refusal | None
    if wanted in ("done", "failed"):
        outcome = outcome_of(wanted, output_json, error_name, error_message)
        keep = partial(keep_end, platform, external.store, outcome)
        found = await external.finish(workflow_id, state, lease_token, outcome, keep=keep)
        written = not isinstance(found, Refusal)
    elif output_json is not None:
        raise Refused("status_required", "an output is stored when its state is finished", **echo)
    elif wanted == "pending":
        found = await external.release(workflow_id, state, lease_token)
    else:
        ttl_ms = None if lease_ttl_s is None else 1000 * lease_ttl_s
        renewed = await external.renew(workflow_id, state, lease_token, ttl_ms=ttl_ms)
        found = renewed if isinstance(renewed, Refusal) else None
    again = isinstance(found, Refusal) and found.code == "already_finished"
    answer = await _after(external, workflow_id, state, written or again)
    if isinstance(found, Refusal) and not again:
        document = (await external.store.states(workflow_id, [state])).get(state)
        raise await refused(external.store, found, document, **echo, output_written=False)
    if ignored:
        answer["warnings"] = ignored
    return answer


async def _after(external: External, workflow_id: str, state: str, written: bool) -> Updated:
    store = external.store
    document = (await store.states(workflow_id, [state])).get(state)
    return {
        "status": "updated",
        "workflow_id": workflow_id,
        "state": state,
        "updated_state": await _state(store, workflow_id, document),
        "output_written": written,
        "run_status": await store.run_status(workflow_id),
        "ready": await external.ready_tasks(workflow_id),
    }


async def _paths(store: Store, meta: dict[str, Any], nested: bool) -> list[str]:
    if not nested:
        from control_plane import encode_name

        return [encode_name(name) for name in meta["states"]]
    return [path for path in await store.paths(meta["workflow_id"]) if not is_earlier(path)]


async def _state(
    store: Store, workflow_id: str, document: StateDocument | None
) -> dict[str, Any] | None:
    return None if document is None else await state_view(store, workflow_id, document)


FAMILY = (read_workflow_control_plane, update_workflow_control_plane)
