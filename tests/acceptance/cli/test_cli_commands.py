"""The commands of a runbook: drafted, read, generated, asked for one by one, run without a shell,
and not run again by whoever takes over."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from dcf_user import Dcf, until

RUNBOOK = """\
# Mark the node

## Steps

1. Leave a mark
   ```bash
   touch -- <node>
   ```
2. Look around
   ```bash
   true
   date -u +%Y   # the year
   ```
3. Wait for it
   ```bash
   sleep 31.0625
   ```
4. Remove the others
   ```bash
   ls | xargs rm
   ```
"""
NODE = "-rf; touch pwned $(touch pwned) `touch pwned` *"


def running(argument: str) -> bool:
    """Whether a process has this argument."""
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if argument.encode() in entry.read_bytes().split(b"\0")[1:2]:
                return True
        except OSError:
            continue
    return False


def approve(dcf: Dcf, state: str, argv: list[str]) -> dict[str, Any]:
    def asked() -> list[dict[str, Any]]:
        found = dcf("approvals", "r-1", "--json").json["approvals"]
        return [one for one in found if one["path"].endswith(state)]

    (question,) = until(asked, f"the question of {state}")
    assert question["arguments"]["argv"] == argv
    seen = ("--digest", question["digest"], "--question", question["question"])
    done = dcf("approve", "r-1", state, "--as", "operator", *seen)
    assert done.code == 0, done.err
    return dict(question)


@pytest.fixture
def planned(dcf: Dcf) -> Dcf:
    """A user whose runbook is planned with its commands, for the server that really runs them."""
    dcf.env["DCF_GENERATED"] = str(dcf.folder / "generated")
    dcf.write("mark.md", RUNBOOK)
    plan = ("plan", "--from-sop", "mark.md", "--commands", "--out", "mark.json")
    drafted = dcf(*plan, "--drafts", "skills_src", "--json")
    assert drafted.code == 2
    assert drafted.json["commands"]["programs"] == ["date", "sleep", "touch", "true"]
    (left,) = drafted.json["commands"]["left"]
    assert (left["command"], left["why"]) == ("ls | xargs rm", "a pipe")
    registry = dcf.folder / "skills_src" / "registry.yaml"
    lines = [
        "    transport: commands" if "endpoint:" in line else line
        for line in registry.read_text().splitlines()
        if "path:" not in line
    ]
    registry.write_text("allowStdio: true\n" + "\n".join(lines) + "\n")
    assert dcf("skills", "generate").code == 0
    assert dcf("skills", "test").code == 0
    made = dcf(*plan, "--json")
    assert made.code == 0, made.err
    assert made.json["commands"]["bound"] is True
    assert not (dcf.home / "workspace").exists()
    return dcf


def test_commands_run_once_each_as_they_were_approved(planned: Dcf) -> None:
    dcf = planned
    assert dcf("up", "--workers", 0).code == 0
    worker = dcf.worker("--lease-ttl", "2")
    assert dcf("submit", "mark.json", "--input", f'{{"node": "{NODE}"}}', "--id", "r-1").code == 0
    approve(dcf, "LeaveAMark", ["touch", "--", NODE])
    approve(dcf, "LookAround1", ["true"])
    approve(dcf, "LookAround2", ["date", "-u", "+%Y"])
    assert [one.name for one in (dcf.home / "workspace").iterdir()] == [NODE]
    approve(dcf, "WaitForIt", ["sleep", "31.0625"])
    until(lambda: running("31.0625"), "the command runs")
    worker.kill()
    until(lambda: not running("31.0625"), "the command ended with its worker")
    dcf.worker("--lease-ttl", "2")
    ended = dcf("watch", "r-1", "--json")
    assert ended.json["status"] == "failed"
    assert "DCF.CommandInterrupted" in ended.out
    assert not running("31.0625")
    events = dcf("history", "r-1", "--json").json["events"]
    made = [one for one in events if one.get("rule") == "approval.granted"]
    assert len(made) == 4
