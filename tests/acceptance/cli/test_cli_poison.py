"""Tasks that kill their workers: they are stopped and named, and nothing beside them fails."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest
from acceptance.cli.dcf_user import Dcf, until

LIMIT = 3
HANDLERS = """
import asyncio, os, signal, subprocess, sys, time

async def kill(_):
    print("out of memory, I guess", file=sys.stderr, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)

async def leave(_):
    os._exit(7)

async def cancel(_):
    for task in asyncio.all_tasks():
        task.cancel()
    await asyncio.sleep(300)

async def exit_(_):
    sys.exit(4)

async def exit_below(_):
    async def below():
        raise KeyboardInterrupt
    await asyncio.gather(asyncio.create_task(below()))

async def third(_):
    # Done by the third who begins it, once the second one is gone.
    with open("begun", "a+") as file:
        print(os.getpid(), file=file, flush=True)
        file.seek(0)
        begun = [int(line) for line in file]
    while len(begun) < 3 or there_is(begun[1]):
        await asyncio.sleep(0.05)
    # Its watcher may tell of it first.
    await asyncio.sleep(1)

def there_is(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True

async def effect(name):
    with open("effects", "a") as file:
        print(name, file=file, flush=True)
    await asyncio.sleep(1)
    return name

async def block(_):
    with open("blocked", "w"):
        time.sleep(300)

HANDLERS = {
    "kill": kill, "leave": leave, "cancel": cancel, "exit": exit_, "exit below": exit_below,
    "effect": effect, "block": block, "third": third,
}
"""


def task(resource: str, **more: Any) -> dict[str, Any]:
    return {"Type": "Task", "Resource": resource, "End": True, **more}


def one(**state: Any) -> dict[str, Any]:
    return {"StartAt": "T", "States": {"T": state}}


@pytest.fixture
def handlers(dcf: Dcf) -> tuple[str, ...]:
    """What a worker is started with."""
    dcf("up")
    dcf.write("hand.py", HANDLERS)
    return ("--handlers", "hand:HANDLERS", "--lease-ttl", "2")


def test_poison_tasks_are_stopped_and_named_and_their_neighbours_succeed(
    dcf: Dcf, handlers: tuple[str, ...]
) -> None:
    neighbours = ("a", "b")
    poisons = {"killer": "kill", "leaver": "leave", "canceller": "cancel"}
    for run, resource in {**dict.fromkeys(neighbours, "effect"), **poisons}.items():
        flow = dcf.write(f"{run}.json", one(**task(resource)))
        assert dcf("submit", flow, "--id", run, "--input", f'"{run}"').code == 0
    workers = [dcf.worker(*handlers)]

    def all_are_over() -> bool:
        if workers[-1].poll() is not None:
            workers.append(dcf.worker(*handlers))
        return all(is_over(dcf, run) for run in (*neighbours, *poisons))

    until(all_are_over, "the end of all runs")

    assert [status(dcf, run) for run in neighbours] == ["succeeded"] * 2
    assert [status(dcf, run) for run in poisons] == ["failed"] * 3
    # Each of them kills one worker with all that it does, at most.
    assert 1 < len(workers) <= 1 + len(poisons)
    why = {run: why_failed(dcf, run) for run in poisons}
    assert all("DCF.WorkerLost" in said for said in why.values())
    assert (
        f"killed {LIMIT} worker processes, the last one: exit by signal 9 (SIGKILL)"
        in why["killer"]
    )
    assert 'last line "out of memory, I guess"' in why["killer"]
    assert "exit with status 7" in why["leaver"]
    assert "exit with status 130" in why["canceller"]
    told = [event["type"] for event in dcf("history", "killer", "--json").json["events"]]
    # The first death is that of a worker that did more; a busy machine may end leases by itself.
    assert told.count("LeaseExpired") >= 1
    assert told.count("WorkerDied") == LIMIT - 1


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc")
def test_a_task_whose_own_process_is_frozen_for_long_is_charged_with_no_death(
    dcf: Dcf, handlers: tuple[str, ...]
) -> None:
    assert dcf("submit", dcf.write("flow.json", one(**task("third"))), "--id", "cold").code == 0
    first = dcf.worker(*handlers)
    begun = dcf.folder / "begun"
    until(begun.exists, "the first try")
    first.kill()
    first.wait()
    dcf.worker(*handlers)
    until(lambda: begun.read_text().count("\n") == 2, "its own process")
    os.kill(int(begun.read_text().split()[1]), signal.SIGSTOP)
    # Nobody lets it go on but its worker.
    until(lambda: is_over(dcf, "cold"), "its end")

    assert status(dcf, "cold") == "succeeded"
    told = [event["type"] for event in dcf("history", "cold", "--json").json["events"]]
    assert told.count("LeaseExpired") >= 2 and "WorkerDied" not in told


@pytest.mark.parametrize("resource", ["exit", "exit below"])
def test_what_a_handler_raises_to_end_the_process_fails_its_task_alone(
    dcf: Dcf, handlers: tuple[str, ...], resource: str
) -> None:
    worker = dcf.worker(*handlers)
    done = dcf("run", dcf.write("flow.json", one(**task(resource))), "--json")
    assert done.code == 1
    assert done.json["error"]["code"] == "States.TaskFailed"
    assert worker.poll() is None


def test_a_second_signal_ends_a_worker_whose_handler_blocks_it(
    dcf: Dcf, handlers: tuple[str, ...]
) -> None:
    dcf.write("flow.json", one(**task("block")))
    assert dcf("submit", "flow.json", "--id", "stuck").code == 0
    worker = dcf.worker(*handlers)
    until((dcf.folder / "blocked").exists, "the handler")

    def has_ended() -> bool:
        # Again and again: two signals at once are one.
        worker.send_signal(signal.SIGTERM)
        return worker.poll() is not None

    until(has_ended, "its end")
    said = worker.communicate(timeout=60)[1]
    assert worker.returncode == 130
    assert "abandoned in work: T of stuck" in said


def test_a_process_for_a_state_whose_starter_died_before_it_said_which_ends(dcf: Dcf) -> None:
    assert dcf("worker", "--solo").code == 0


def why_failed(dcf: Dcf, run: str) -> str:
    [reason] = dcf("explain", run, "--json").json["reasons"]
    return str(reason["why"])


def is_over(dcf: Dcf, run: str) -> bool:
    return status(dcf, run) in ("succeeded", "failed")


def status(dcf: Dcf, run: str) -> str:
    return str(dcf("explain", run, "--json").json["run_status"])
