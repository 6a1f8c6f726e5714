"""``dcf memory``: skills from a folder, consolidation, what there is and what can be given up."""

from __future__ import annotations

import signal
import sqlite3
from contextlib import closing
from pathlib import Path

from dcf_user import ROOT, until
from memory_user import MemoryUser

from dcf.memory.consolidation import Written

SKILL = """---
name: {name}
description: {about}
---
{text}
"""


def skill(folder: Path, name: str, text: str = "Boil water.", about: str = "How to brew.") -> Path:
    """A skill in a folder of skills."""
    file = folder / name / "SKILL.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(SKILL.format(name=name, about=about, text=text), encoding="utf-8")
    return file


def test_skills_are_taken_in_loaded_and_unloaded(ada: MemoryUser) -> None:
    skill(ada.folder / ".skills", "brew-tea")
    skill(ada.folder / ".skills", "pour-coffee")
    done = ada.ok("skills", "ada", "--sync", "--load", "brew-tea")
    assert done["sync"]["added"] == ["brew-tea", "pour-coffee"]
    assert {one["name"]: one["is_loaded"] for one in done["skills"]} == {
        "brew-tea": True,
        "pour-coffee": False,
    }
    assert "Boil water." in ada.text("ada", "loaded_skills")
    assert "pour-coffee" in ada.text("ada", "skills")
    listed = ada("skills")
    assert "ada knows 2 skills, 1 loaded" in listed.out and "How to brew." in listed.out
    ada.ok("skills", "ada", "--unload", "brew-tea", "--load", "pour-coffee")
    (ada.folder / ".skills/pour-coffee/SKILL.md").unlink()
    (ada.folder / ".skills/pour-coffee").rmdir()
    gone = ada("skills", "ada", "--sync")
    assert "- pour-coffee" in gone.out and "was loaded, and is no longer" in gone.out
    assert "no change" in ada("skills", "ada", "--sync").out


def test_the_folder_is_that_of_the_session_or_the_one_that_is_named(ada: MemoryUser) -> None:
    skill(ada.folder / "own", "brew-tea")
    ada.ok("init", "ada", "--skills", "own")
    assert ada.ok("skills", "--sync")["sync"]["added"] == ["brew-tea"]
    skill(ada.folder / "other", "pour-coffee")
    found = ada.ok("skills", "--sync", "--folder", "other")
    assert found["sync"]["folder"] == str(ada.folder / "other")
    assert len(found["skills"]) == 2


def test_a_skill_with_an_error_is_told_and_the_others_come_in(ada: MemoryUser) -> None:
    skill(ada.folder / ".skills", "brew-tea")
    (ada.folder / ".skills/broken").mkdir()
    (ada.folder / ".skills/broken/SKILL.md").write_text("no front matter", encoding="utf-8")
    code, done = ada.refused("skills", "ada", "--sync")
    assert (code, done["error"]["code"]) == (1, "memory_skill_faults")
    assert done["sync"]["added"] == ["brew-tea"]
    assert "broken" in done["problems"][0]["file"]


NO_SKILLS: list[tuple[list[str], int, str]] = [
    (["--sync"], 2, "bad_input"),
    (["--sync", "--folder", "nowhere"], 2, "bad_input"),
    (["--watch", "--folder", "nowhere"], 2, "bad_input"),
    (["--load", "nothing"], 2, "memory_unknown_skill"),
    (["--watch", "--sync"], 2, "usage"),
    (["--folder", "x"], 2, "usage"),
]


def test_what_skills_cannot_do_is_refused(ada: MemoryUser) -> None:
    for order, code, name in NO_SKILLS:
        found, document = ada.refused("skills", "ada", *order)
        assert (order, found, document["error"]["code"]) == (order, code, name)


def test_watching_takes_in_what_is_saved_and_ends_by_ctrl_c(ada: MemoryUser) -> None:
    file = skill(ada.folder / ".skills", "brew-tea")
    watching = ada.start("skills", "ada", "--watch")
    assert watching.stdout is not None
    lines = iter(watching.stdout.readline, "")
    until(lambda: "+ brew-tea" in next(lines), "the first synchronisation")
    file.write_text(SKILL.format(name="brew-tea", about="Better.", text="Boil."), encoding="utf-8")
    until(lambda: "~ brew-tea" in next(lines), "the change")
    watching.send_signal(signal.SIGINT)
    out, err = watching.communicate(timeout=30)
    assert watching.returncode == 0 and "stopped after 2" in out and err == ""


TWICE = "\n".join(
    [
        "* Order 4711 is for Ada Lovelace in Oslo.",
        "* order 4711 is for Ada Lovelace in Oslo",
        "* The kettle is on the second shelf.",
    ]
)


def test_a_memory_is_analysed_consolidated_and_put_back(ada: MemoryUser) -> None:
    ada.ok("remember", "ada", TWICE)
    before = ada.text("ada")
    analysis = ada.ok("consolidate", "ada", "--analyse")["analysis"]
    assert analysis["metrics"]["redundant_bytes"] > 0
    assert "merge" in {one["strategy"] for one in analysis["suggestions"]}
    shown = ada("consolidate", "ada", "--analyse").out
    assert "efficiency" in shown and "merge human" in shown
    [planned] = ada.ok("consolidate", "ada", "--dry-run")["sessions"]
    assert planned["status"] == "planned" and planned["changes"]
    assert ada.text("ada") == before
    done = ada("consolidate", "ada")
    assert done.code == 0
    assert "completed" in done.out and "efficiency" in done.out
    assert len(ada.text("ada")) < len(before)
    [session] = ada.ok("consolidate", "--history")["sessions"]
    assert session["changes"][0]["reason"]
    assert ada.ok("history", "--consolidation", session["id"])["events"]
    assert "0 row" not in ada("consolidate", "--rollback", session["id"], "--dry-run").out
    assert ada.refused("consolidate", "--rollback", session["id"])[1]["error"]["code"] == (
        "not_confirmed"
    )
    ada.answers("y")
    assert ada("consolidate", "--rollback", session["id"]).code == 0
    assert ada.text("ada") == before
    assert ada.ok("consolidate", "--history", "ada")["sessions"][0]["status"] == "rolled_back"


def test_all_who_want_it_are_consolidated_and_nobody_else(ada: MemoryUser) -> None:
    ada.ok("remember", "ada", TWICE)
    assert "No agent has sleeptime" in ada("consolidate").out
    assert "Nothing was consolidated yet." in ada("consolidate", "--history").out
    ada.ok("init", "bo", "--sleeptime")
    ada.ok("remember", "bo", TWICE)
    sessions = ada.ok("consolidate", "--strategy", "merge")["sessions"]
    assert [one["agent"] for one in sessions] == ["bo"]
    assert ada.text("ada") == TWICE


def test_a_model_writes_what_is_shortened_unless_rules_shall(ada: MemoryUser) -> None:
    long = "\n".join(
        f"* Order {number} went to the harbour on day {number}." for number in range(85)
    )
    ada.ok("remember", "ada", long, "--rewrite")
    asked = []

    async def write(prompt: str, _tokens: int) -> Written:
        asked.append(prompt)
        return Written("* All orders went to the harbour.", 120)

    ada.patch.setattr("dcf.agents.consolidation_writer", lambda *_models: write)
    only = ("consolidate", "ada", "--strategy", "summarize", "--level", 9)
    ada.ok(*only, "--dry-run")
    ada.ok(*only, "--rules", "--dry-run")
    assert asked == []
    [session] = ada.ok(*only)["sessions"]
    assert asked and session["tokens"] == 120 * len(asked)
    [found] = ada.ok("consolidate", "--history")["sessions"]
    assert found["id"] == session["id"]


def test_an_agent_that_somebody_else_consolidates_keeps_no_other_waiting(ada: MemoryUser) -> None:
    ada.ok("agents", "ada", "--sleeptime")
    ada.ok("init", "zoe", "--sleeptime")
    ada.ok("remember", "zoe", TWICE)
    busy = ada.ok("show", "ada")["agent"]["id"]
    with closing(sqlite3.connect(ada.file)) as file:
        file.execute("INSERT INTO consolidation_claims VALUES (?, 'other', 1 << 60)", (busy,))
        file.commit()
    done = ada.ok("consolidate")
    assert [one["agent"] for one in done["sessions"]] == ["zoe"]
    assert [one["code"] for one in done["problems"]] == ["memory_consolidation_running"]
    assert "left alone" in ada("consolidate").out
    assert ada.refused("consolidate", "ada")[1]["error"]["code"] == "memory_consolidation_running"


NO_CONSOLIDATE: list[tuple[list[str], int, str]] = [
    (["nobody"], 2, "memory_unknown_agent"),
    (["ada", "--strategy", "forget"], 2, "usage"),
    (["ada", "--watch"], 2, "usage"),
    (["--analyse", "--history"], 2, "usage"),
    (["--history", "--dry-run"], 2, "usage"),
    (["--rollback", "nothing", "--yes"], 2, "memory_unknown_consolidation"),
]


def test_what_a_consolidation_cannot_do_is_refused(ada: MemoryUser) -> None:
    for order, code, name in NO_CONSOLIDATE:
        found, document = ada.refused("consolidate", *order)
        assert (order, found, document["error"]["code"]) == (order, code, name)


def test_watching_consolidates_who_rests_and_ends_by_ctrl_c(ada: MemoryUser) -> None:
    ada.ok("agents", "ada", "--sleeptime")
    ada.ok("remember", "ada", TWICE)
    watching = ada.start("consolidate", "--watch", "--idle", 0, "--interval", 1)
    assert watching.stdout is not None
    lines = iter(watching.stdout.readline, "")
    until(lambda: "completed" in next(lines), "the consolidation")
    watching.send_signal(signal.SIGINT)
    out, err = watching.communicate(timeout=30)
    assert watching.returncode == 0 and "stopped after 1 consolidation" in out and err == ""


def test_statistics_say_how_much_there_is_and_where(ada: MemoryUser) -> None:
    ada.ok("remember", "ada", "prefers tea")
    ada.ok("remember", "ada", "Fridays are quiet.", "--passage")
    found = ada.ok("stats")
    kinds = {one["kind"]: one["count"] for one in found["kinds"]}
    assert (kinds["agents"], kinds["blocks"], kinds["passages"]) == (1, 6, 1)
    [agent] = found["agents"]
    assert (agent["name"], agent["passages"], agent["block_bytes"]) == ("ada", 1, 11)
    assert found["largest_blocks"][0]["label"] == "human"
    shown = ada("stats", "--agents", 1).out
    assert "ada" in shown and "11 of 4,000 bytes" in shown
    assert ada.ok("stats", "--agents", 0, "--blocks", 0)["agents"] == []


def test_what_is_kept_no_longer_is_told_asked_for_and_given_up(ada: MemoryUser) -> None:
    made = ada.last_event()
    for number in range(8):
        ada.ok("remember", "ada", f"Note {number}.", "--rewrite")
    assert ada.ok("gc", "--dry-run")["count"] == 0
    assert "0 rows" in ada("gc").out
    tried = ada("gc", "--most", "events=3", "--dry-run")
    assert "would go" in tried.out and f"goes back to event {made + 5}" in tried.out
    code, document = ada.refused("gc", "--most", "events=3")
    assert (code, document["error"]["code"]) == (1, "not_confirmed")
    assert len(ada.ok("history", "ada", "human")["events"]) == 10
    done = ada("gc", "--most", "events=3", "--yes")
    assert done.code == 0 and "went" in done.out and "the file has" in done.out
    left = [event["seq"] for event in ada.ok("history", "ada", "human")["events"]]
    assert [seq for seq in left if seq > made] == [made + 8, made + 7, made + 6]
    assert ada.refused("rollback", "ada", "--block", "human", "--to", made, "--yes")[0] == 1
    ada.ok("rollback", "ada", "--block", "human", "--to", made + 6, "--yes")
    assert ada.text("ada") == "Note 5."
    assert ada.ok("doctor")["problems"] == []


def test_all_that_is_wrong_with_a_retention_is_said(ada: MemoryUser) -> None:
    code, document = ada.refused("gc", "--keep-days", "event=3", "--most", "bytes=lots", "--yes")
    assert code == 2
    assert [one["file"] for one in document["problems"]] == ["--keep-days", "--most"]
    assert "events" in document["problems"][0]["hint"]
    assert ada.ok("gc", "--keep-days", "events=ever", "--dry-run")["count"] == 0


def test_the_promised_commands_of_the_memory_are_there() -> None:
    from typer.main import get_command

    from dcf.cli.app import build_app

    promised = (
        "init agents remember forget show search history rollback skills consolidate backup"
        " restore import export stats gc doctor"
    )
    groups = get_command(build_app()).commands  # type: ignore[attr-defined]
    assert set(promised.split()) <= set(groups["memory"].commands)


def test_commands_that_hints_name_are_there_with_their_options() -> None:
    import re

    page = (ROOT / "docs/reference/cli.md").read_text(encoding="utf-8")
    named = set()
    for file in (ROOT / "dcf").rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        named |= set(re.findall(r"`dcf memory ([a-z]+)(?: (--[a-z-]+))?", text))
    assert named
    for command, option in named:
        section = page.partition(f"## `dcf memory {command}`")[2].partition("\n## ")[0]
        assert section, command
        assert not option or option in section, f"{command} {option}"
