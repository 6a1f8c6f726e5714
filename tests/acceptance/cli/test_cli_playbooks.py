"""`dcf retrieval playbooks`: from an error to what helped the last time."""

from __future__ import annotations

import asyncio
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from memory_user import MemoryUser

from dcf.cli.entry import run_command
from dcf.cli.memory.opening import now_ms
from dcf.memory import SYSTEM, Memory, NewObservation, Origin, Source, random_id


class Playbooks:
    """A person in the folder of a project."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys

    def __call__(self, *arguments: str, code: int = 0) -> dict[str, Any]:
        """The document that a command answers with."""
        assert run_command(["retrieval", "playbooks", *arguments, "--json"]) == code
        document: dict[str, Any] = json.loads(self.capsys.readouterr().out)
        return document

    def said(self, *arguments: str) -> str:
        """What a command that must succeed prints."""
        assert run_command(["retrieval", "playbooks", *arguments]) == 0
        return self.capsys.readouterr().out


@pytest.fixture
def playbooks(memory: MemoryUser, capsys: pytest.CaptureFixture[str]) -> Playbooks:
    (memory.folder / ".git").mkdir()
    return Playbooks(capsys)


ADD = ("add", "ProviderBusy: HTTP 503 from payments", "--resolution", "Wait a minute.")


def test_an_error_is_kept_found_counted_and_removed(
    playbooks: Playbooks, memory: MemoryUser, capsys: pytest.CaptureFixture[str]
) -> None:
    made = playbooks(*ADD, "--owner", "payments")["playbook"]
    assert made["compared"] == ["provider", "busy", "http", "payments", "503"]
    assert made["project"] == str(memory.folder.resolve())
    error = "order 77: ProviderBusy, HTTP 503 from payments"
    (found,) = playbooks("match", error)["matches"]
    assert (found["id"], found["score"], found["stale"]) == (made["id"], 1.0, "")
    memory.patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(f"FAILED\n{error}\n".encode())))
    said = playbooks.said("match", "-")
    assert "Resolution: Wait a minute." in said and "says 5 of 5 words" in said
    assert playbooks("match", "quota exceeded")["matches"] == []
    assert playbooks.said("match", "quota exceeded") == "No playbook fits this error.\n"

    for _ in range(2):
        counted = playbooks("helped", made["citation"], "--run", "my-order")
    assert (counted["playbook"]["helped"], counted["playbook"]["failed"]) == (1, 0)
    for _ in range(2):
        counted = playbooks("failed", made["id"])
    assert counted["playbook"]["stale"] == "it failed in 2 of its last 3 uses"
    assert "Stale: it failed in 2 of its last 3 uses" in playbooks.said("list")
    assert [one["id"] for one in playbooks("list", "--stale")["playbooks"]] == [made["id"]]

    edited = playbooks("edit", made["id"], "--resolution", "Use the other region.")["playbook"]
    assert (edited["resolution"], edited["owner"]) == ("Use the other region.", "payments")
    assert run_command(["open", made["citation"]]) == 0
    assert "Use the other region." in capsys.readouterr().out

    assert playbooks("remove", made["id"], "playbook-no", code=2)["problems"][0]["code"] == (
        "memory_unknown_playbook"
    )
    assert playbooks("list")["playbooks"] != []
    playbooks("remove", made["id"])
    assert playbooks("show", made["id"], code=2)["error"]["code"] == "memory_unknown_playbook"


def test_who_is_shown_and_removes_one_is_noted(
    playbooks: Playbooks, capsys: pytest.CaptureFixture[str]
) -> None:
    made = playbooks(*ADD)["playbook"]
    playbooks("show", made["id"])
    assert run_command(["open", made["citation"], "--json"]) == 0
    capsys.readouterr()
    playbooks("match", "order 77: ProviderBusy, HTTP 503 from payments")
    playbooks("remove", made["id"])
    assert run_command(["retrieval", "audit", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["accesses"]
    assert [one["operation"] for one in told] == ["delete", "read", "read", "read"]
    assert all(one["ids"] == [made["citation"]] for one in told)


def test_secrets_and_what_finds_a_person_are_taken_out(
    playbooks: Playbooks, memory: MemoryUser
) -> None:
    memory.patch.setenv("DCF_PII", "email")
    text = "Set DB_PASSWORD=hunter22hunter and ask ann@example.org."
    made = playbooks("add", "login refused for ann@example.org", "--resolution", text)["playbook"]
    assert "hunter22" not in json.dumps(made) and "ann@example.org" not in json.dumps(made)
    assert made["compared"] == ["login", "refused"]
    kept = memory.file.read_bytes() + b"".join(
        one.read_bytes() for one in memory.home.glob("memory.db-*")
    )
    assert b"hunter22hunter" not in kept and b"ann@example.org" not in kept


def test_what_is_missing_is_named(playbooks: Playbooks, tmp_path: Path) -> None:
    problems = playbooks("add", code=2)["problems"]
    assert [one["file"] for one in problems] == ["PATTERN", "--resolution"]
    problems = playbooks("add", "Error: failed", "--resolution", "x", code=2)["problems"]
    assert [one["code"] for one in problems] == ["memory_playbook_pattern"]
    answer = playbooks("add", "--from", "observation-0", code=2)
    assert answer["error"]["code"] == "memory_unknown_observation"
    problems = playbooks("propose", "--accept", "observation-0", code=2)["problems"]
    assert [one["file"] for one in problems] == ["--owner"]


async def see_busy(user: MemoryUser, runs: int) -> None:
    """Observe what so many runs of the project leave."""
    async with Memory.open(Source(user.file), clock=now_ms, new_id=random_id) as memory:
        for number in range(runs):
            source = Origin("run", f"r{number}")
            new = NewObservation(
                "bugfix",
                "Pay: a retry got over ProviderBusy",
                source,
                project=str(user.folder.resolve()),
                subtitle="Pay failed with ProviderBusy, and a later try succeeded.",
                concepts=("problem-solution",),
            )
            await memory.observations.observe(source, "1/0", new, by=SYSTEM)


def test_a_proposal_becomes_a_playbook_by_a_persons_consent(
    playbooks: Playbooks, memory: MemoryUser
) -> None:
    asyncio.run(see_busy(memory, 3))
    (proposal,) = playbooks("propose")["proposals"]
    assert (proposal["pattern"], proposal["times"]) == ("ProviderBusy", 3)
    assert playbooks("list")["playbooks"] == []
    made = playbooks("propose", "--accept", proposal["observation_id"], "--owner", "payments")
    assert made["playbook"]["sources"] == [proposal["observation_id"]]
    assert made["playbook"]["resolution"].startswith("Try again.")
    assert playbooks("propose")["proposals"] == []
    again = playbooks("add", "--from", proposal["observation_id"], code=2)
    assert again["error"]["code"] == "memory_playbook_exists"
