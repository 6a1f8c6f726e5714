"""Runs, as a user starts, watches, breaks and repairs them."""

from __future__ import annotations

import json
import shutil
import signal
import socket
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import redis
from dcf_user import ROOT, Dcf, until

ORDERS = ROOT / "workflows" / "order-processing.json"
INPUTS = ROOT / "workflows" / "inputs"
HELLO = {
    "StartAt": "Greet",
    "States": {
        "Greet": {
            "Type": "Pass",
            "Parameters": {"text.$": "States.Format('Hello {}', $.name)"},
            "End": True,
        }
    },
}
FAILS = {
    "StartAt": "No",
    "States": {"No": {"Type": "Fail", "Error": "Nope", "Cause": "on purpose"}},
}


def waiting(seconds: float) -> dict[str, Any]:
    """Waits, then says what it was given."""
    return {
        "StartAt": "Wait",
        "States": {
            "Wait": {"Type": "Wait", "Seconds": seconds, "Next": "Say"},
            "Say": {"Type": "Pass", "End": True},
        },
    }


def status_of(dcf: Dcf, workflow_id: str) -> str:
    said = dcf("explain", workflow_id, "--json")
    return str(said.json["run_status"]) if said.code == 0 else "unknown"


def test_a_run_ends_with_its_output_and_the_audit_path(dcf: Dcf) -> None:
    file = dcf.write("hello.json", HELLO)

    done = dcf("run", file, "--input", '{"name": "Ada"}')

    assert done.code == 0, done.err
    assert '"text": "Hello Ada"' in done.out
    assert "Greet" in done.out
    [audit] = (dcf.folder / "workflows" / "runs").iterdir()
    assert audit.name.startswith("hello-")
    assert audit.name in done.out


def test_a_run_for_scripts_is_one_document(dcf: Dcf) -> None:
    file = dcf.write("hello.json", HELLO)

    done = dcf("run", file, "--input", '{"name": "Ada"}', "--id", "one", "--runs", "r", "--json")

    said = done.json
    assert (done.code, said["status"], said["error"]) == (0, "succeeded", None)
    assert said["output"] == {"text": "Hello Ada"}
    summary = json.loads((dcf.folder / said["audit_trail_path"] / "summary.json").read_text())
    assert summary["final_status"] == "succeeded"
    assert "Greet" in done.err


def test_an_order_goes_through_with_skills_tools_and_two_workers(dcf: Dcf) -> None:
    given = INPUTS / "order-normal.json"

    done = dcf("run", ORDERS, "--input", given, "--workers", 2, "--json")

    assert done.code == 0, done.err
    assert done.json["output"]["status"] == "shipped"
    assert done.json["rehearsal"] is True
    # Those that did the tasks went with the workers of this command, and nobody else comes.
    left = dcf("memory", "agents", "--json")
    assert (left.code, left.json["agents"]) == (0, [])


def test_a_failed_run_is_1_with_its_error_and_what_to_do(dcf: Dcf) -> None:
    file = dcf.write("fails.json", FAILS)

    done = dcf("run", file, "--id", "broken", "--json")

    assert (done.code, done.json["status"], done.json["error"]["code"]) == (1, "failed", "Nope")
    # It would fail in the same state again.
    assert "dcf redrive" not in done.json["error"]["hint"]
    assert dcf("redrive", "broken", "--watch").code == 1
    history = dcf("history", "broken", "--json").json["events"]
    assert "RunRedriven" in [event["type"] for event in history]


def test_the_same_run_again_is_joined_another_one_is_refused(dcf: Dcf) -> None:
    file = dcf.write("hello.json", HELLO)
    assert dcf("run", file, "--input", '{"name": "Ada"}', "--id", "one").code == 0
    before = dcf.keys()

    again = dcf("run", file, "--input", '{"name": "Ada"}', "--id", "one", "--json")
    other = dcf("run", file, "--input", '{"name": "Bob"}', "--id", "one", "--json")

    assert (again.code, again.json["output"]) == (0, {"text": "Hello Ada"})
    assert (other.code, other.json["error"]["code"]) == (2, "run_exists")
    assert "--id" in other.json["error"]["hint"]
    assert dcf.keys() == before


def test_submit_watch_runs_and_cancel(dcf: Dcf) -> None:
    file = dcf.write("long.json", waiting(600))

    assert dcf("submit", file, "--id", "long", "--json").json["workers"] == 0
    assert dcf("explain", "long", "--json").json["reasons"][0]["command"] == (
        "dcf worker --pool default"
    )
    watched = dcf("watch", "long", "--timeout", 0.5, "--json")
    cancelled = dcf("cancel", "long", "--reason", "changed my mind")
    [listed] = dcf("runs", "--status", "cancelled", "--json").json["runs"]

    assert (watched.code, watched.json["error"]["code"]) == (1, "not_over")
    assert cancelled.code == 0
    assert listed["workflow_id"] == "long"
    assert listed["error"]["cause"] == "changed my mind"
    assert dcf("cancel", "long").code == 1
    assert dcf("watch", "long").code == 1


def test_workers_in_the_background_carry_runs_out_and_are_drained(dcf: Dcf) -> None:
    file = dcf.write("hello.json", HELLO)
    first = dcf("up", "--workers", 2, "--json").json["services"]
    second = dcf("up", "--workers", 2, "--json").json["services"]
    dcf("submit", file, "--input", '{"name": "Ada"}', "--id", "one")

    watched = dcf("watch", "one", "--json")
    down = dcf("down", "--json").json["stopped"]

    assert [one["state"] for one in first] == ["started"] * 4
    assert [one["state"] for one in second] == ["running"] * 4
    assert [one["where"] for one in first] == [one["where"] for one in second]
    assert watched.json["output"] == {"text": "Hello Ada"}
    assert len(down) == 4
    assert sum("drained" in line for line in down) == 2
    assert dcf("down", "--json").json["stopped"] == []


def test_a_worker_killed_in_the_middle_of_a_task_is_replaced(dcf: Dcf) -> None:
    dcf("up")
    first = dcf.worker("--name", "first", "--lease-ttl", 1)
    dcf("submit", ORDERS, "--input", INPUTS / "order-demo.json", "--id", "order")
    until(lambda: "create_shipment" in tools_called(dcf, "order"), "the slow call")
    first.kill()

    dcf.worker("--name", "second", "--lease-ttl", 1)
    watched = dcf("watch", "order", "--json")

    assert watched.json["status"] == "succeeded"
    effects = [call for call in calls(dcf, "order") if not call["replayed"]]
    assert len({call["idempotency_key"] for call in effects}) == len(effects)
    assert any(call["replayed"] for call in calls(dcf, "order"))
    events = dcf("history", "order", "--json").json["events"]
    # A busy machine may end leases of the living too: nothing fails by that.
    assert "first" in [event["who"] for event in events if event["type"] == "LeaseExpired"]


def test_sigterm_lets_a_worker_finish_what_it_has(dcf: Dcf) -> None:
    dcf("up")
    worker = dcf.worker("--name", "only")
    dcf("submit", ORDERS, "--input", INPUTS / "order-demo.json", "--id", "order")
    until(lambda: "create_shipment" in tools_called(dcf, "order"), "the slow call")

    worker.send_signal(signal.SIGTERM)

    assert worker.wait(timeout=30) == 0
    events = dcf("history", "order", "--json").json["events"]
    assert "LeaseExpired" not in [event["type"] for event in events]
    [shipped] = [e for e in events if e["type"] == "StateDone" and e["path"] == "ShipOrder"]
    assert shipped["who"] == "only"


def test_a_second_signal_stops_at_once(dcf: Dcf) -> None:
    dcf("up")
    worker = dcf.worker()
    dcf("submit", ORDERS, "--input", INPUTS / "order-demo.json", "--id", "order")
    until(lambda: "create_shipment" in tools_called(dcf, "order"), "the slow call")

    worker.send_signal(signal.SIGTERM)
    assert worker.stderr is not None
    until(lambda: "finishing" in worker.stderr.readline(), "the first signal")
    worker.send_signal(signal.SIGTERM)

    assert worker.wait(timeout=30) == 130


def test_redis_stopped_and_started_again_in_the_middle_of_a_run(dcf: Dcf) -> None:
    file = dcf.write("long.json", waiting(8))
    run = dcf.start("run", file, "--input", '{"a": 1}', "--id", "long", "--json")
    until(lambda: status_of(dcf, "long") == "running", "the run")

    assert any("redis" in line for line in dcf("down", "--json").json["stopped"])
    assert dcf("up").code == 0

    out, err = run.communicate(timeout=60)
    assert run.returncode == 0, err
    assert json.loads(out)["output"] == {"a": 1}


def test_ctrl_c_leaves_the_run_to_others_and_says_how_to_watch(dcf: Dcf) -> None:
    file = dcf.write("long.json", waiting(600))
    run = dcf.start("run", file, "--id", "long", "--json")
    until(lambda: status_of(dcf, "long") == "running", "the run")

    run.send_signal(signal.SIGINT)
    out, _ = run.communicate(timeout=60)

    said = json.loads(out)
    assert (run.returncode, said["error"]["code"]) == (130, "interrupted")
    assert "dcf watch long" in said["error"]["hint"]
    assert "stands still" in said["error"]["message"]
    assert status_of(dcf, "long") == "running"


def test_handlers_of_a_module_do_tasks_by_resource(dcf: Dcf) -> None:
    dcf.write("shop.py", "async def double(x):\n    return 2 * x\nHANDLERS = {'double': double}\n")
    task = {"Type": "Task", "Resource": "double", "End": True}
    file = dcf.write("double.json", {"StartAt": "D", "States": {"D": task}})
    dcf.worker("--handlers", "shop:HANDLERS")

    done = dcf("run", file, "--input", "21", "--json")

    assert (done.code, done.json["output"]) == (0, 42)


def test_each_generated_folder_has_its_own_stub_and_workers(dcf: Dcf) -> None:
    other = dcf.folder / "other"
    shutil.copytree(ROOT / "generated", other)
    there = {"DCF_GENERATED": str(other)}
    dcf("up", "--workers", 1)
    [first] = (dcf.home / "run").glob("stub-*.json")
    before = first.read_text()
    given = INPUTS / "order-normal.json"

    here = dcf("run", ORDERS, "--input", given, "--id", "here", "--json")
    away = dcf("run", ORDERS, "--input", given, "--id", "away", "--json", env=there)
    refused = dcf("up", "--workers", 1, "--json", env=there)

    assert (here.code, away.code) == (0, 0), away.err
    assert holders(dcf, "here").isdisjoint(holders(dcf, "away"))
    assert all(holder.startswith("worker-1") for holder in holders(dcf, "here"))
    assert (refused.code, refused.json["error"]["code"]) == (1, "pool_taken")
    assert first.read_text() == before
    found = {one["name"]: one["found"] for one in dcf("doctor", "--json", env=there).json["checks"]}
    assert str(other) in found["stub tools"]
    stopped = dcf("down", "--json").json["stopped"]
    assert sum(line.startswith("stub tools") for line in stopped) == 2


def test_workers_that_run_do_what_was_generated_after_their_start(
    dcf: Dcf, request: pytest.FixtureRequest
) -> None:
    shutil.copytree(ROOT / "skills_src", dcf.folder / "skills_src")
    flow = dcf.write("orders.json", ORDERS.read_text().replace("@1.0.0", ""))
    dcf.env["DCF_GENERATED"] = str(dcf.folder / "generated")
    dcf("up", "--workers", 1)  # before there is anything
    given = INPUTS / "order-normal.json"
    keep_usual_port(request)

    for version in ("1.0.0", "1.1.0"):
        for file in (dcf.folder / "skills_src/skills/order-processing").rglob("*.yaml"):
            file.write_text(file.read_text().replace("1.0.0", version))
        assert dcf("skills", "generate").code == 0
        dcf("up")
        done = dcf("run", flow, "--input", given, "--id", f"v{version[2]}", "--json")
        assert done.code == 0, done.out
        assert {holder.rpartition("-")[0] for holder in holders(dcf, f"v{version[2]}")} == {
            "worker-1"
        }
        assert tools_called(dcf, f"v{version[2]}"), "of the stub of this home, not of another's"


def keep_usual_port(request: pytest.FixtureRequest) -> None:
    """From now on a stub that starts has to take another port than the usual one."""
    taken = socket.socket()
    request.addfinalizer(taken.close)
    with suppress(OSError):  # somebody else has it, which is as good
        taken.bind(("127.0.0.1", 8765))


def test_the_pool_of_a_single_run_leaves_no_queue(dcf: Dcf) -> None:
    file = dcf.write("hello.json", HELLO)

    assert dcf("run", file, "--input", '{"name": "Ada"}').code == 0

    with redis.Redis.from_url(f"unix://{dcf.home}/redis/redis.sock") as client:
        assert client.keys("*run-*") == []


def test_a_map_tells_what_it_is_doing(dcf: Dcf) -> None:
    each = {"StartAt": "Nap", "States": {"Nap": {"Type": "Wait", "Seconds": 1, "End": True}}}
    fan = {"Type": "Map", "ItemProcessor": each, "End": True}
    file = dcf.write("fan.json", {"StartAt": "Fan", "States": {"Fan": fan}})

    done = dcf("run", file, "--input", "[1, 2]")

    assert done.code == 0, done.err
    for line in ("Fan[0]/Nap: waiting", "Fan[1]/Nap: done"):
        assert line in done.out


def holders(dcf: Dcf, workflow_id: str) -> set[str]:
    """Who worked on a run."""
    events = dcf("history", workflow_id, "--json").json["events"]
    return {event["who"] for event in events if event["type"] == "StateDone"}


def test_doctor_finds_everything_here(dcf: Dcf) -> None:
    done = dcf("doctor", "--json")

    assert done.code == 0
    assert all(check["ok"] for check in done.json["checks"] if check["required"])
    names = [check["name"] for check in done.json["checks"]]
    assert len(set(names)) == len(names)


def calls(dcf: Dcf, workflow_id: str) -> list[dict[str, Any]]:
    """What the stub says it was called for by a run."""
    with urllib.request.urlopen(f"{dcf.stub_url}/calls", timeout=5) as answer:
        found: list[dict[str, Any]] = json.load(answer)["calls"]
    return [call for call in found if call["idempotency_key"].startswith(f"{workflow_id}/")]


def tools_called(dcf: Dcf, workflow_id: str) -> set[str]:
    return {call["tool"] for call in calls(dcf, workflow_id)}


def test_the_audit_folder_that_cannot_be_written_is_said(dcf: Dcf) -> None:
    file = dcf.write("hello.json", HELLO)
    blocked = dcf.write("blocked", "a file, no folder")

    done = dcf("run", file, "--input", '{"name": "Ada"}', "--runs", Path(blocked), "--json")

    assert (done.code, done.json["error"]["code"]) == (3, "audit_unwritable")
