"""Working on states through the tools alone: leases, finishing, servers that come and go."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from integration.mcp.platforms import Desk, desk_on

from control_plane import RedisBackend, Store
from dcf.workflow import document_of, submit

TOKEN = "a-token-of-sixteen"


def task(**more: Any) -> dict[str, Any]:
    return {"Type": "Task", "AgentBinding": {"skills": ["sums@1.0.0"]}, "End": True} | more


def flow(**states: dict[str, Any]) -> dict[str, Any]:
    return {"StartAt": next(iter(states)), "States": states}


async def start(url: str, definition: dict[str, Any], value: Any = None, run: str = "r") -> None:
    backend = RedisBackend.from_url(url)
    try:
        await submit(Store(backend), document_of(definition, name="test"), value, workflow_id=run)
    finally:
        await backend.close()


async def acquire(desk: Desk, state: str = "A", **more: Any) -> dict[str, Any]:
    return await desk.good(
        "acquire_state_lease", workflow_id="r", state=state, owner_agent_id="me", **more
    )


async def update(desk: Desk, token: str, state: str = "A", **more: Any) -> dict[str, Any]:
    return await desk.good(
        "update_workflow_control_plane",
        workflow_id="r",
        state=state,
        lease_token=token,
        **more,
    )


async def test_a_lease_comes_with_the_work(redis_url: str, tmp_path: Path) -> None:
    work = task(
        Comment="Add them.",
        Parameters={"numbers.$": "$.n"},
        TimeoutSeconds=600,
        HeartbeatSeconds=60,
    )
    await start(redis_url, flow(A=work), {"n": [1, 2]})
    async with desk_on(redis_url, tmp_path) as desk:
        answer = await acquire(desk)
    assert answer["status"] == "lease_acquired" and answer["ready"]
    assert answer["lease"]["owner_agent_id"] == "me" and answer["lease"]["ttl_s"] == 300
    assert len(answer["lease"]["token"]) >= 32
    given = answer["work"]
    assert given["input"] == {"numbers": [1, 2]}
    assert given["instructions"] == "Add them."
    assert given["skills"] == ["sums@1.0.0"]
    assert given["heartbeat_s"] == 60 and given["deadline"].endswith("Z")
    assert given["idempotency_key"] == "r/A/1/1"
    assert given["fence"] == answer["lease"]["fence"]
    assert answer["updated_state"]["status"] == "running"


async def test_a_finished_state_hands_over_to_the_next_and_the_run_ends(
    redis_url: str, tmp_path: Path
) -> None:
    states = {
        "A": task(Next="B", ResultPath="$.sum"),
        "B": {"Type": "Pass", "Next": "C"},
        "C": task(),
    }
    del states["A"]["End"]
    await start(redis_url, flow(**states), {"n": [1, 2]})
    async with desk_on(redis_url, tmp_path) as desk:
        token = (await acquire(desk))["lease"]["token"]
        done = await update(desk, token, new_status="done", output_json="3")
        assert done["output_written"] and done["ready"] == ["C"] and done["run_status"] == "running"
        last = await acquire(desk, "C", include_upstream=True)
        assert last["work"]["input"] == {"n": [1, 2], "sum": 3}
        assert last["upstream"]["B"]["data"] == {"n": [1, 2], "sum": 3}
        output = json.dumps({"ok": True, "data": {"end": 1}, "summary": "all", "artifacts": ["x"]})
        done = await update(
            desk, last["lease"]["token"], "C", new_status="succeeded", output_json=output
        )
        assert done["run_status"] == "succeeded"
        read = await desk.good("read_workflow_control_plane", workflow_id="r")
    assert read["outputs"]["C"]["data"] == {"end": 1}
    assert read["outputs"]["C"]["summary"] == "all" and read["outputs"]["C"]["artifacts"] == ["x"]
    assert read["meta"]["status"] == "succeeded" and read["meta"]["finalized_at"]


async def test_retry_and_catch_hold_for_work_from_outside(redis_url: str, tmp_path: Path) -> None:
    work = task(
        Retry=[{"ErrorEquals": ["Busy"], "IntervalSeconds": 1, "MaxAttempts": 1, "BackoffRate": 1}],
        Catch=[{"ErrorEquals": ["Busy"], "Next": "B", "ResultPath": "$.error"}],
    )
    await start(redis_url, flow(A=work, B=task()), {"n": 1})
    async with desk_on(redis_url, tmp_path) as desk:
        token = (await acquire(desk))["lease"]["token"]
        failed = await update(desk, token, new_status="failed", error_name="Busy")
        assert failed["updated_state"]["status"] == "waiting" and failed["ready"] == []
        await asyncio.sleep(1.1)
        again = await acquire(desk)
        assert again["work"]["try"] == 2 and again["work"]["idempotency_key"] == "r/A/1/2"
        failed = await update(
            desk, again["lease"]["token"], new_status="failed", error_name="Busy",
            error_message="no hands",
        )  # fmt: skip
        assert failed["ready"] == ["B"]
        caught = await acquire(desk, "B")
    assert caught["work"]["input"] == {"n": 1, "error": {"Error": "Busy", "Cause": "no hands"}}


async def test_without_a_token_nothing_is_written(redis_url: str, tmp_path: Path) -> None:
    await start(redis_url, flow(A=task()))
    async with desk_on(redis_url, tmp_path) as desk:
        await acquire(desk)
        write = {"workflow_id": "r", "state": "A", "new_status": "done", "output_json": "1"}
        name = "update_workflow_control_plane"
        assert await desk.refused(name, **write) == "lease_required"
        assert await desk.refused(name, **write, lease_token="x" * 32) == "lease_mismatch"
        read = await desk.good("read_workflow_control_plane", workflow_id="r")
    assert read["states"]["A"]["status"] == "running" and read["outputs"]["A"] is None


async def test_tokens_are_shown_to_their_holder_alone(redis_url: str, tmp_path: Path) -> None:
    await start(redis_url, flow(A=task()))
    async with desk_on(redis_url, tmp_path) as desk:
        token = (await acquire(desk))["lease"]["token"]
        other = await desk.call(
            "acquire_state_lease", workflow_id="r", state="A", owner_agent_id="other"
        )
        assert other["error"].startswith("lease_held: me holds the lease")
        assert other["lease"]["owner_agent_id"] == "me" and other["lease"]["token"] is None
        same_name = await desk.call(
            "acquire_state_lease", workflow_id="r", state="A", owner_agent_id="me"
        )
        assert same_name["error"].startswith("lease_held:")
        read = await desk.good("read_workflow_control_plane", workflow_id="r")
        history = await desk.good("read_history", workflow_id="r")
    for answer in (other, same_name, read, history):
        assert token not in json.dumps(answer)
        assert "callback_secret" not in json.dumps(answer)


async def test_who_lost_a_lease_can_change_nothing(redis_url: str, tmp_path: Path) -> None:
    await start(redis_url, flow(A=task()))
    async with desk_on(redis_url, tmp_path) as desk:
        old = (await acquire(desk, lease_ttl_s=1))["lease"]["token"]
        await asyncio.sleep(1.1)
        found = await desk.good("notify_next_worker_agent", workflow_id="r")
        assert [(one["state"], one["sent"]) for one in found["targets"]] == [("A", True)]
        new = await acquire(desk)
        write = {"workflow_id": "r", "state": "A", "lease_token": old}
        finish = {**write, "new_status": "done", "output_json": '"stale"'}
        assert await desk.refused("update_workflow_control_plane", **finish) == "lease_mismatch"
        assert await desk.refused("renew_state_lease", **write) == "lease_mismatch"
        assert await desk.refused("release_state_lease", **write) == "lease_mismatch"
        await update(desk, new["lease"]["token"], new_status="done", output_json='"fresh"')
        # The zombie of the earlier system: after the end it could write again.
        assert await desk.refused("update_workflow_control_plane", **finish) == "no_lease"
        read = await desk.good("read_workflow_control_plane", workflow_id="r")
    assert read["outputs"]["A"]["data"] == "fresh"
    assert new["work"]["idempotency_key"] == "r/A/1/1"


async def test_a_server_may_go_between_acquire_and_finish(redis_url: str, tmp_path: Path) -> None:
    await start(redis_url, flow(A=task(ResultPath="$.a", Next="B") | {"End": False}, B=task()), {})
    async with desk_on(redis_url, tmp_path) as first:
        token = (await acquire(first))["lease"]["token"]
    async with desk_on(redis_url, tmp_path) as second, desk_on(redis_url, tmp_path) as third:
        renewed = await second.good(
            "renew_state_lease", workflow_id="r", state="A", lease_token=token, lease_ttl_s=60
        )
        assert renewed["status"] == "lease_renewed" and renewed["lease"]["ttl_s"] == 60
        done = await update(third, token, new_status="done", output_json="1")
        assert done["ready"] == ["B"]
        # The answer was lost, and the client says it again to another server.
        again = await update(second, token, new_status="done", output_json="1")
        assert again["output_written"]
        # Another output under the same token is not stored, and nobody is told that it was.
        other = await second.call(
            "update_workflow_control_plane", workflow_id="r", state="A", lease_token=token,
            new_status="done", output_json="2",
        )  # fmt: skip
        assert other["error"].startswith("already_finished: ")
        assert (other["status"], other["output_written"]) == (None, False)
        read = await second.good("read_workflow_control_plane", workflow_id="r")
        assert read["outputs"]["A"]["data"] == {"a": 1}
        cleanup = await second.good(
            "release_state_lease", workflow_id="r", state="A", lease_token=token
        )
    assert cleanup["status"] == "lease_already_clear"


async def test_an_acquire_that_is_said_again_gets_the_same_lease(
    redis_url: str, tmp_path: Path
) -> None:
    await start(redis_url, flow(A=task()))
    async with desk_on(redis_url, tmp_path) as desk:
        first = await acquire(desk, lease_token=TOKEN)
        again = await acquire(desk, lease_token=TOKEN)
    assert first["status"] == "lease_acquired" and again["status"] == "lease_already_held"
    assert first["lease"]["fence"] == again["lease"]["fence"]
    assert again["updated_state"]["attempts"] == 1


async def test_what_is_given_back_is_ready_in_the_same_try(redis_url: str, tmp_path: Path) -> None:
    await start(redis_url, flow(A=task()))
    async with desk_on(redis_url, tmp_path) as desk:
        token = (await acquire(desk))["lease"]["token"]
        released = await desk.good(
            "release_state_lease", workflow_id="r", state="A", lease_token=token
        )
        assert released["status"] == "lease_released"
        assert released["updated_state"]["status"] == "ready"
        assert (await acquire(desk))["work"]["idempotency_key"] == "r/A/1/1"


async def test_states_that_need_no_work_are_advanced_for_runs_without_workers(
    redis_url: str, tmp_path: Path
) -> None:
    each = {"StartAt": "T", "States": {"T": task()}}
    states = {
        "M": {"Type": "Map", "ItemProcessor": each, "Next": "W"},
        "W": {"Type": "Wait", "Seconds": 1, "Next": "Z"},
        "Z": {"Type": "Pass", "End": True},
    }
    await start(redis_url, flow(**states), [1, 2])
    async with desk_on(redis_url, tmp_path) as desk:
        ready = await desk.good("notify_next_worker_agent", workflow_id="r")
        assert [one["state"] for one in ready["targets"]] == ["M[0]/T", "M[1]/T"]
        for number, state in enumerate(("M[0]/T", "M[1]/T")):
            lease = (await acquire(desk, state))["lease"]["token"]
            await update(desk, lease, state, new_status="done", output_json=str(number))
        await asyncio.sleep(1.1)
        await desk.good("notify_next_worker_agent", workflow_id="r")
        read = await desk.good("read_workflow_control_plane", workflow_id="r")
    assert read["meta"]["status"] == "succeeded"
    assert read["outputs"]["Z"]["data"] == [0, 1]


async def test_a_task_over_its_time_takes_no_answer(redis_url: str, tmp_path: Path) -> None:
    await start(redis_url, flow(A=task(TimeoutSeconds=1)))
    async with desk_on(redis_url, tmp_path) as desk:
        token = (await acquire(desk))["lease"]["token"]
        await asyncio.sleep(1.1)
        late = {"workflow_id": "r", "state": "A", "lease_token": token, "new_status": "done"}
        assert await desk.refused("update_workflow_control_plane", **late) == "timed_out"
        await desk.good("notify_next_worker_agent", workflow_id="r")
        found = await desk.good("explain_workflow", workflow_id="r")
    assert found["run_status"] == "failed" and "States.Timeout" in found["summary"]


async def test_work_from_outside_reads_and_writes_the_node_of_its_task(
    redis_url: str, tmp_path: Path
) -> None:
    insert, search, promote = (
        "archival_memory_insert",
        "archival_memory_search",
        "memory_promote",
    )
    binding = {"memory": {"note": "$.is", "score": "$.mpa"}}
    retry = [{"ErrorEquals": ["States.ALL"], "MaxAttempts": 1, "IntervalSeconds": 1}]
    inner = flow(A={"Type": "Task", "AgentBinding": binding, "Retry": retry, "End": True})
    fan = {"Type": "Map", "ItemProcessor": inner, "Next": "B"}
    await start(redis_url, flow(Fan=fan, B=task(AgentBinding={})), ["plum", "fig"])
    async with desk_on(redis_url, tmp_path) as desk:

        async def use(taken: dict[str, Any], tool: str, **arguments: Any) -> dict[str, Any]:
            return await desk.call(
                "call_skill_tool",
                agent_id="me",
                tool=tool,
                arguments_json=arguments,
                workflow_id="r",
                state=taken["state"],
                lease_token=taken["lease"]["token"],
                call_id="one",
            )

        await desk.good("notify_next_worker_agent", workflow_id="r")
        plum, fig = [await acquire(desk, f"Fan[{number}]/A") for number in range(2)]
        assert [one["work"]["memory"]["node"] for one in (plum, fig)] == ["r/Fan[0]", "r/Fan[1]"]
        assert {it["name"] for it in plum["work"]["memory"]["tools"]} == {insert, search, promote}
        kept = await use(plum, insert, content="The glue was too wet.")
        assert (await use(plum, insert, content="The glue was too wet."))["data"] == kept["data"]
        (found,) = (await use(plum, search, query="wet glue"))["data"]
        assert found == {"text": "The glue was too wet.", **kept["data"]}
        assert (await use(fig, search, query="wet glue"))["data"] == []
        assert (await use(fig, promote, **kept["data"]))["error_name"] == "memory_unknown_entry"
        assert (await use(plum, insert))["error_name"] == "DCF.MalformedCall"

        failed = {"new_status": "failed", "error_name": "Broke", "error_message": "too wet"}
        await update(desk, plum["lease"]["token"], plum["state"], **failed)
        late = await use(plum, insert, content="Too late.")
        assert late["error"].startswith("no_lease")
        await asyncio.sleep(1.1)
        again = await acquire(desk, plum["state"])
        assert again["work"]["memory"]["node"] == "r/Fan[0]/A#2"
        found = (await use(again, search, query="wet"))["data"]
        assert sorted(it["text"] for it in found) == [
            "A failed with Broke: too wet",
            "The glue was too wet.",
        ]
        for taken, word, mpa in ((again, "It holds.", 6), (fig, "It breaks.", 2)):
            output = {"is": word, "mpa": mpa}
            for _ in range(2):
                await update(
                    desk,
                    taken["lease"]["token"],
                    taken["state"],
                    new_status="done",
                    output_json=output,
                )
        # Where no workflow speaks of the memory there is none.
        last = await acquire(desk, "B")
        assert "memory" not in last["work"]
        assert (await use(last, insert, content="x"))["error"].startswith("DCF.PermissionDenied")
        home = await desk.platform.home()
        root = await home.memory.nodes.named(str(tmp_path.resolve()))
        tree = [one for one in await home.memory.nodes.tree(root.id) if one.entries]
        own = [await home.memory.nodes.entries(it.node.id, inherited=False) for it in tree]
    found_tree = {
        one.node.name: (one.node.score, [it.text for it in entries])
        for one, entries in zip(tree, own, strict=True)
    }
    failure = "A failed with Broke: too wet"
    assert found_tree == {
        "Fan[0]": (6.0, ["The glue was too wet.", failure, "It holds."]),
        "Fan[1]": (2.0, ["It breaks."]),
    }
