"""A planner that is killed goes on with ``--resume``: one run for each planning, each effect of its
tools once, and all fourteen steps."""

from __future__ import annotations

import json
import signal
import subprocess
import urllib.request
from collections import Counter
from pathlib import Path

import pytest
from commands import python
from dcf_user import Dcf

KILLED = Path(__file__).with_name("killed_planner.py")
POINTS = ("approved", "running", "submitted", "ended")
PROCEDURE = """# Lock an account and pay what is owed

## Objective

The account is locked, and the payee has the money.

## Inputs

- `account_id` (text)
- `payee_id` (text)
- `amount_cents` (integer, default 1200)
- `currency` (text, default "EUR")

## Steps

1. Lock the account
   - Skill: operations.lock_account
   - Reads: `account_id`
   - Writes: `locked`
2. Pay
   - Skill: finance.schedule_payment
   - Reads: `payee_id`, `amount_cents`, `currency`
   - Writes: `transfer_id`
"""


@pytest.mark.timeout(180)
def test_a_planner_that_is_killed_goes_on_and_does_everything_once(dcf: Dcf) -> None:
    dcf.env |= {"DCF_GRAPH": "off", "DCF_EMBEDDER": "none"}
    procedure = dcf.write("pay.md", PROCEDURE)
    assert dcf("up", "--workers", 1).code == 0
    runs: dict[str, str] = {}
    for number, point in enumerate(POINTS):
        account = f"ACC-{number}"
        _kill(dcf, point, "plan", "--from-sop", procedure, "--run", "--yes",
              "--answer", f"account_id={account}", "--answer", "payee_id=PAYEE-310")  # fmt: skip
        [id_] = {file.stem for file in (dcf.folder / "workflows/plannings").glob("*.json")} - {
            run.removeprefix("wf-") for run in runs
        }
        runs[f"wf-{id_}"] = account
        ends = [dcf("plan", "--resume", id_, "--yes", "--json") for _ in range(2)]
        assert [done.code for done in ends] == [0, 0], (point, ends[0].err)
        kept = json.loads((dcf.folder / f"workflows/plannings/{id_}.json").read_text())
        assert kept["status"] == "ended" and kept["run"]["status"] == "succeeded", point
        assert {one["step"] for one in kept["journal"]} == set(range(1, 15)), point
        assert ends[1].json["revision"] == kept["revision"], "the second one changed nothing"
    listed = dcf("runs", "--json").json["runs"]
    assert Counter(one["workflow_id"] for one in listed) == Counter(dict.fromkeys(runs, 1))
    assert _effects(dcf) == Counter(
        (run, tool) for run in runs for tool in ("lock_account", "schedule_transfer")
    )


def _kill(dcf: Dcf, point: str, *arguments: object) -> None:
    command = [python(), str(KILLED), point, *map(str, arguments)]
    done = subprocess.run(
        command, cwd=dcf.folder, env=dcf.env, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == -signal.SIGKILL, (point, done.stderr)


def _effects(dcf: Dcf) -> Counter[tuple[str, str]]:
    """What the tools did, by the run for which they did it. A repetition that a tool knew again by
    its key did nothing."""
    with urllib.request.urlopen(f"{dcf.stub_url}/calls", timeout=10) as response:
        calls = json.load(response)["calls"]
    return Counter(
        (call["idempotency_key"].partition("/")[0], call["tool"])
        for call in calls
        if call["error"] is None and not call["replayed"]
    )
