"""``dcf memory``: agents and what they remember, as its user sees it."""

from __future__ import annotations

import io
import json
import os
import pty
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from memory_user import MemoryUser

from dcf.search.word_vectors import word_vectors

LABELS = ["persona", "human", "project", "skills", "loaded_skills", "style"]


def test_from_nothing_to_a_text_that_is_remembered(memory: MemoryUser) -> None:
    made = memory("init")
    assert made.code == 0
    assert "tea-house is made: persona, human, project, skills, loaded_skills, style" in made.out
    assert memory("remember", "@default", "prefers tea").code == 0
    shown = memory("show")
    assert shown.code == 0
    assert "prefers tea" in shown.out
    assert "11 of 4,000 bytes" in shown.out
    assert "read-only" in shown.out


def test_init_again_changes_nothing_and_finds_the_agent_of_the_project(memory: MemoryUser) -> None:
    first = memory.ok("init", "ada", "--tag", "support")
    assert first["created"] is True
    before = memory.last_event()
    for again in (memory.ok("init", "ada", "--tag", "support"), memory.ok("init")):
        assert again["created"] is False
        assert again["agent"]["id"] == first["agent"]["id"]
        assert again["agent"]["blocks"] == LABELS
    assert memory.last_event() == before


def test_a_folder_below_belongs_to_the_project_and_another_one_does_not(
    memory: MemoryUser, tmp_path: Path
) -> None:
    memory.ok("init", "ada")
    below, beside = memory.folder / "src", tmp_path / "coffee-house"
    below.mkdir()
    beside.mkdir()
    memory.patch.chdir(below)
    assert memory.ok("show")["agent"]["name"] == "ada"
    assert memory.ok("init")["project"] == str(memory.folder)
    memory.patch.chdir(beside)
    code, document = memory.refused("show")
    assert (code, document["error"]["code"]) == (1, "memory_no_default")
    assert memory.ok("init")["agent"]["name"] == "coffee-house"


def test_two_folders_of_one_name_get_an_agent_each(memory: MemoryUser, tmp_path: Path) -> None:
    memory.ok("init")
    other = tmp_path / "elsewhere" / "tea-house"
    other.mkdir(parents=True)
    memory.patch.chdir(other)
    assert memory.ok("init")["agent"]["name"] == "tea-house-2"


def test_all_seven_settings_of_an_agent_can_be_given(memory: MemoryUser) -> None:
    (memory.folder / "orders.md").write_text("Be brief.\n", encoding="utf-8")
    given = [
        *("--description", "Brews", "--model", "openai:gpt-5-mini", "--embedder", "minilm"),
        *("--system", "orders.md", "--context-window", 4000),
        *("--no-parallel-tool-calls", "--sleeptime"),
    ]
    agent = memory.ok("init", "ada", *given)["agent"]
    wanted = {
        "description": "Brews",
        "model": "openai:gpt-5-mini",
        "embedder": "minilm",
        "system": "Be brief.\n",
        "context_window": 4000,
        "parallel_tool_calls": False,
        "enable_sleeptime": True,
    }
    assert {name: agent[name] for name in wanted} == wanted
    changed = memory.ok("init", "ada", "--model", "", "--no-sleeptime")["agent"]
    assert (changed["model"], changed["enable_sleeptime"]) == (None, False)
    assert changed["description"] == "Brews"


def test_an_agent_is_made_from_a_template_or_with_chosen_blocks(memory: MemoryUser) -> None:
    agent = memory.ok("init", "bo", "--template", "companion")["agent"]
    assert (agent["template"], agent["lifecycle"]) == ("companion", "persistent")
    assert agent["template_digest"].startswith("sha256:")
    assert "persona" in agent["blocks"]
    few = memory.ok("init", "cy", "--block", "human", "--block", "recipes")["agent"]
    assert few["blocks"] == ["human", "recipes"]
    assert memory.ok("init", "cy", "--block", "style")["agent"]["blocks"][-1] == "style"
    code, document = memory.refused("init", "bo", "--template", "worker")
    assert (code, document["error"]["code"]) == (1, "memory_other_template")
    code, document = memory.refused("init", "di", "--template", "compagnon")
    assert (code, document["problems"][0]["code"]) == (2, "TEMPLATE_UNKNOWN")
    assert "companion" in document["problems"][0]["hint"]


def test_agents_are_listed_by_tags_and_shown_with_their_settings(memory: MemoryUser) -> None:
    assert memory.refused("agents")[1]["error"]["code"] == "memory_missing"
    for name, tags in (("ada", "ab"), ("bo", "b"), ("cy", "")):
        memory.ok("init", name, *(word for tag in tags for word in ("--tag", tag)))

    def names(*options: object) -> list[str]:
        return [agent["name"] for agent in memory.ok("agents", *options)["agents"]]

    assert names() == ["ada", "bo", "cy"]
    assert names("--tag", "a", "--tag", "b") == ["ada"]
    assert names("--tag", "a", "--tag", "b", "--any") == ["ada", "bo"]
    assert names("--tag", "z") == []
    assert memory("agents", "--tag", "z").out.startswith("There are no agents with all of z.")
    assert names("--limit", 2) == ["ada", "bo"]
    assert memory.ok("agents", "--limit", 2)["more"] is True
    listed = memory("agents").out
    assert "ada" in listed and "3 agents" in listed
    shown = memory("agents", "ada")
    assert "200,000 tokens" in shown.out and "what DCF_MODEL says" in shown.out
    by_id = memory.ok("agents", memory.ok("agents", "ada")["agent"]["id"])
    assert by_id["agent"]["name"] == "ada"


def test_an_agent_is_changed_and_told_when_it_was_so_already(ada: MemoryUser) -> None:
    changed = ada.ok("agents", "ada", "--rename", "eva", "--add-tag", "x", "--description", "new")
    assert changed["changed"] is True
    assert ada.ok("agents", "eva")["agent"]["tags"] == ["x"]
    assert ada.ok("agents", "eva", "--description", "new")["changed"] is False
    assert ada.ok("agents", "eva", "--remove-tag", "x")["agent"]["tags"] == []
    assert "nothing changed" in ada("agents", "eva", "--description", "new").out


def test_a_deleted_agent_is_asked_for_told_of_and_brought_back(ada: MemoryUser) -> None:
    ada.ok("remember", "ada", "prefers tea")
    ada.ok("remember", "ada", "Fridays are quiet.", "--passage")
    code, document = ada.refused("agents", "--delete", "ada")
    assert (code, document["error"]["code"]) == (1, "not_confirmed")
    assert "--yes" in document["error"]["hint"]
    gone = ada.ok("agents", "--delete", "ada", "--yes")
    assert gone["lost"] == {"blocks": 6, "messages": 0, "passages": 1, "stay": 0}
    assert ada.refused("agents", "ada")[0] == 2
    # Its history stays, under the name that it had.
    assert ada.ok("history", "ada")["events"][0]["operation"] == "deleted"
    assert ada(*gone["way_back"].split()[2:], "--yes").code == 0
    assert ada.text("ada") == "prefers tea"
    assert ada.ok("search", "Fridays")["found"][0]["kind"] == "passage"


def test_at_a_terminal_it_is_shown_what_goes_and_asked(ada: MemoryUser) -> None:
    ada.answers("n", "y")
    kept = ada("agents", "--delete", "ada")
    assert kept.code == 1
    assert "This removes ada with 6 blocks" in kept.out
    assert ada("agents", "--delete", "ada").code == 0
    assert ada.ok("agents")["agents"] == []


def test_ctrl_c_at_a_question_ends_it_and_nothing_is_done(ada: MemoryUser) -> None:
    ours, theirs = pty.openpty()
    child = ada.start("agents", "--delete", "ada", terminal=theirs)
    os.close(theirs)
    seen = ""
    while "[y/N]" not in seen:
        seen += os.read(ours, 1000).decode()
    while child.poll() is None:
        # One that comes between the question and the reading of the answer is not heard of yet.
        child.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            child.wait(timeout=2)
    assert child.returncode == 130
    os.close(ours)
    assert ada.ok("agents")["agents"][0]["name"] == "ada"


def test_the_end_of_the_input_is_no_answer(ada: MemoryUser) -> None:
    def nothing(_question: str) -> str:
        raise EOFError

    ada.answers()
    ada.patch.setattr("builtins.input", nothing)
    refused = ada("agents", "--delete", "ada")
    assert refused.code == 1 and "nothing was done" in refused.err


def test_a_text_is_appended_replaced_or_written_anew(ada: MemoryUser) -> None:
    ada.ok("remember", "ada", "prefers tea")
    ada.ok("remember", "ada", "lives in Oslo", "--append")
    assert ada.text("ada") == "prefers tea\nlives in Oslo"
    ada.ok("remember", "ada", "prefers coffee", "--replace", "prefers tea")
    assert ada.text("ada") == "prefers coffee\nlives in Oslo"
    ada.ok("remember", "ada", "unknown", "--rewrite")
    assert ada.text("ada") == "unknown"
    made = ada.ok("remember", "ada", "green: 70 degrees", "--block", "recipes", "--new")
    assert (made["block"]["label"], made["block"]["bytes"]) == ("recipes", 17)


def test_a_text_comes_from_standard_input(ada: MemoryUser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("naïve ☕\n".encode())))
    ada.ok("remember", "ada", "-")
    assert ada.text("ada") == "naïve ☕"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"one\n\xff")))
    code, document = ada.refused("remember", "ada", "-")
    assert (code, document["problems"][0]["line"]) == (2, 2)


def test_a_limit_is_told_when_it_is_near_and_can_be_raised(ada: MemoryUser) -> None:
    near = ada("remember", "ada", "x" * 3300)
    assert near.code == 0
    assert "warning: block 'human' has 3,300 bytes, more than the 3,200 it should have" in near.out
    code, document = ada.refused("remember", "ada", "y" * 1000)
    assert (code, document["error"]["code"]) == (1, "memory_over_limit")
    raised = ada.ok("remember", "ada", "y" * 1000, "--limit", 8000)
    assert (raised["block"]["bytes"], raised["block"]["hard_limit"]) == (4301, 8000)
    assert ada.ok("remember", "ada", "", "--limit", 9000)["block"]["bytes"] == 4301


def test_a_passage_goes_into_the_archive_and_is_forgotten_by_its_id(ada: MemoryUser) -> None:
    kept = ada.ok("remember", "ada", "Jasmine: 80 degrees", "--passage", "--tag", "recipes")
    passage = kept["passage"]
    assert (passage["text"], passage["tags"]) == ("Jasmine: 80 degrees", ["recipes"])
    assert ada.ok("search", "jasmine", "--tag", "recipes")["found"][0]["ref"] == passage["id"]
    ada.ok("init", "bo")
    code, document = ada.refused("forget", "bo", "--passage", passage["id"], "--yes")
    assert (code, document["error"]["code"]) == (2, "memory_unknown_passage")
    gone = ada.ok("forget", "ada", "--passage", passage["id"], "--yes")
    assert gone["passage"]["text"] == "Jasmine: 80 degrees"
    assert ada.ok("search", "jasmine")["found"] == []
    ada.ok(*gone["way_back"].split()[2:], "--yes")
    assert ada.ok("search", "jasmine")["found"][0]["ref"] == passage["id"]


FORGOTTEN = [
    ("tea", "tea", ""),
    ("one\ntwo\nthree", "two", "one\nthree"),
    ("one\ntwo", "one", "two"),
    ("one\ntwo\nthree", "two\nthree", "one"),
    ("prefers green tea", " green", "prefers tea"),
    ("tea\ntea-time", "tea", "tea-time"),
]


def test_a_text_that_is_forgotten_leaves_no_empty_line(ada: MemoryUser) -> None:
    for held, text, left in FORGOTTEN:
        ada.ok("remember", "ada", held, "--rewrite")
        gone = ada.ok("forget", "ada", text)
        assert ada.text("ada") == left, held
        ada.ok(*gone["way_back"].split()[2:], "--yes")
        assert ada.text("ada") == held


def test_of_lines_that_are_the_same_none_is_forgotten_by_chance(ada: MemoryUser) -> None:
    for held in ("tea\ntea", "tea\nmilk\ntea"):
        ada.ok("remember", "ada", held, "--rewrite")
        _, document = ada.refused("forget", "ada", "tea")
        assert document["error"]["code"] == "memory_text_not_unique"
        assert ada.text("ada") == held


def test_a_forgotten_block_comes_back_with_its_text(ada: MemoryUser) -> None:
    ada.ok("remember", "ada", "short sentences", "--block", "style")
    assert ada.refused("forget", "ada", "--block", "style")[1]["error"]["code"] == "not_confirmed"
    gone = ada("forget", "ada", "--block", "style", "--yes")
    assert "ada has forgotten block style (15 bytes): short sentences" in gone.out
    assert ada.refused("show", "ada", "style")[1]["error"]["code"] == "memory_unknown_block"
    back = gone.out.splitlines()[1].removeprefix("The way back: dcf memory ").split()
    ada.ok(*back, "--yes")
    assert ada.text("ada", "style") == "short sentences"


def test_a_block_that_others_hold_is_let_go_with_detach(ada: MemoryUser) -> None:
    gone = ada.ok("forget", "ada", "--block", "style", "--detach", "--yes")
    assert gone["block"]["label"] == "style"
    assert "style" not in [one["label"] for one in ada.ok("show", "ada")["blocks"]]


def test_a_block_is_shown_as_it_was(ada: MemoryUser) -> None:
    ada.ok("remember", "ada", "prefers tea")
    then = ada.last_event()
    ada.ok("remember", "ada", "nothing at all", "--rewrite")
    assert ada.ok("show", "ada", "human", "--at", then)["value"] == "prefers tea"
    assert ada("show", "ada", "human", "--at", then).out == "prefers tea\n"
    ada.ok("forget", "ada", "--block", "human", "--yes")
    assert ada.ok("show", "ada", "human", "--at", then)["value"] == "prefers tea"
    code, document = ada.refused("show", "ada", "human", "--at", 1)
    assert (code, document["error"]["code"]) == (1, "memory_no_text_then")


def test_the_context_is_shown_with_what_it_costs(ada: MemoryUser) -> None:
    ada.ok("remember", "ada", "prefers tea")
    seen = ada.ok("show", "ada", "--context")
    assert "prefers tea" in seen["system"]
    tokens = seen["tokens"]
    assert tokens["total"] == tokens["system"] + tokens["messages"] <= tokens["budget"] == 200_000
    shown = ada("show", "ada", "--context").out
    assert f"{tokens['total']:,} of 200,000" in shown
    code, document = ada.refused("show", "ada", "--context", "--budget", 10)
    assert (code, document["error"]["code"]) == (1, "memory_context_too_small")


def with_conversation(ada: MemoryUser) -> None:
    """Two messages, as an agent file brings them."""
    form = {
        "agents": [
            {
                "id": "agent-0",
                "name": "talker",
                "agent_type": "letta_v1_agent",
                "block_ids": [],
                "tool_ids": [],
                "in_context_message_ids": ["message-0", "message-1"],
                "messages": [
                    {
                        "id": f"message-{number}",
                        "role": role,
                        "content": [{"type": "text", "text": text}],
                    }
                    for number, (role, text) in enumerate(
                        [("user", "Which tea is green?"), ("assistant", "Sencha is.")]
                    )
                ],
            }
        ],
        "blocks": [],
        "tools": [],
    }
    (ada.folder / "talker.af").write_text(json.dumps(form), encoding="utf-8")
    ada.ok("import", "talker.af")


def test_the_conversation_is_shown_and_searched(ada: MemoryUser) -> None:
    with_conversation(ada)
    said = ada.ok("show", "talker", "--messages")
    assert [(one["role"], one["content"]) for one in said["messages"]] == [
        ("user", "Which tea is green?"),
        ("assistant", "Sencha is."),
    ]
    assert said["total"] == 2
    shown = ada("show", "talker", "--messages", "--limit", 1).out
    assert "2 assistant" in shown and "Sencha is." in shown and "1 of 2 messages" in shown
    assert "Which tea is green?" in ada("show", "talker", "--context").out
    [found, *_] = ada.ok("search", "sencha", "--kind", "message")["found"]
    assert (found["agent"], found["seq"], found["role"]) == ("talker", 2, "assistant")
    listed = ada("search", "sencha", "--agent", "talker").out
    assert "talker message 2" in listed and "score" in listed and "words" in listed
    assert ada.ok("search", "sencha", "--since", "yesterday")["found"][0]["ref"] == found["ref"]
    assert ada.ok("search", "sencha", "--until", "last year")["found"] == []


def test_search_says_why_and_looks_where_it_is_told(ada: MemoryUser) -> None:
    ada.ok("remember", "ada", "prefers oolong tea")
    ada.ok("init", "bo")
    ada.ok("remember", "bo", "prefers oolong too")
    everywhere = ada.ok("search", "oolong")
    assert {one["agent"] for one in everywhere["found"]} == {"ada", "bo"}
    [one] = ada.ok("search", "oolong", "--agent", "ada", "-k", 1)["found"]
    assert (one["kind"], one["label"], one["agent"]) == ("block", "human", "ada")
    assert one["score"] > 0 and one["words"] > 0 and one["similarity"] is None
    assert ada.ok("search", "oolong", "--label", "style")["found"] == []
    assert ada.ok("search", "oolong", "--kind", "passage")["found"] == []
    assert "Nothing was found." in ada("search", "whisky").out


def test_where_meanings_are_not_compared_it_is_said(ada: MemoryUser) -> None:
    ada.ok("remember", "ada", "prefers oolong tea")
    ada.patch.setenv("DCF_EMBEDDER", "wordllama")
    ada.patch.setitem(sys.modules, "wordllama", None)
    # A test before this one may have loaded it.
    word_vectors.cache_clear()
    found = ada("search", "oolong")
    assert found.code == 0 and "oolong" in found.out
    assert "By words alone: `dcf memory doctor` says why." in found.out
    examined = ada.ok("doctor")
    assert [one["code"] for one in examined["problems"]] == ["memory_search_words_only"]


def test_history_says_who_changed_what_and_why_with_both_sides(ada: MemoryUser) -> None:
    ada.ok("remember", "ada", "prefers tea")
    ada.ok("remember", "ada", "prefers coffee", "--replace", "prefers tea", "--reason", "she said")
    [changed, made] = ada.ok("history", "ada", "human")["events"][:2]
    assert (changed["by"]["kind"], changed["by"]["reason"]) == ("user", "she said")
    assert changed["operation"] == "updated" and changed["entity"] == "block"
    edit = changed["change"]["changed"]["value"]
    assert (edit["removed"], edit["added"]) == ("tea", "coffee")
    assert made["seq"] < changed["seq"]
    shown = ada("history", "ada", "human").out
    assert "updated block ada/human  (she said)" in shown
    assert "-prefers tea" in shown and "+prefers coffee" in shown
    assert "created block ada/human" in shown


def test_history_goes_on_where_a_page_ended_and_covers_everything(ada: MemoryUser) -> None:
    ada.ok("init", "bo")
    page = ada.ok("history", "--limit", 3)
    assert page["more"] is True
    older = ada.ok("history", "--limit", 100, "--before", page["events"][-1]["seq"])
    seqs = [event["seq"] for event in [*page["events"], *older["events"]]]
    assert seqs == list(range(seqs[0], 0, -1))
    assert (
        f"--before {page['events'][-1]['seq']} shows older ones" in ada("history", "--limit", 3).out
    )
    assert ada.ok("history", "ada", "nothing")["events"] == []
    assert "No changes." in ada("history", "ada", "nothing").out
    ada.ok("agents", "ada", "--description", "Brews tea", "--context-window", 9000)
    assert "+context_window: 9000" in ada("history", "ada", "--limit", 1).out


def test_long_changes_are_shortened_for_people(ada: MemoryUser) -> None:
    lines = "\n".join(f"line {number}" for number in range(40))
    ada.ok("remember", "ada", lines, "--block", "log", "--new")
    assert "more lines; --json has all" in ada("history", "ada", "log").out
    ada.ok("remember", "ada", "x" * 30_000, "--block", "log")
    ada.ok("remember", "ada", "z", "--replace", "line 7\n", "--block", "log")
    assert "value at character" in ada("history", "ada", "log", "--limit", 1).out


def test_a_block_goes_back_after_it_was_shown_what_that_does(ada: MemoryUser) -> None:
    ada.ok("remember", "ada", "prefers tea")
    then = ada.last_event()
    ada.ok("remember", "ada", "prefers coffee", "--rewrite")
    ada.ok("remember", "ada", "short", "--block", "style")
    back = ("rollback", "ada", "--block", "human", "--to", then)
    tried = ada.ok(*back, "--dry-run")
    assert (tried["status"], len(tried["events"])) == ("tried", 1)
    assert ada.text("ada") == "prefers coffee"
    assert ada.refused(*back)[1]["error"]["code"] == "not_confirmed"
    done = ada(*back, "--yes")
    assert done.code == 0
    assert "1 row went back." in done.out
    assert (ada.text("ada"), ada.text("ada", "style")) == ("prefers tea", "short")
    undo = done.out.splitlines()[-1].partition("dcf memory ")[2].split()
    ada.ok(*undo, "--yes")
    assert ada.text("ada") == "prefers coffee"


def test_a_whole_agent_goes_back(ada: MemoryUser) -> None:
    then = ada.last_event()
    ada.ok("remember", "ada", "prefers tea")
    ada.ok("agents", "ada", "--description", "other")
    ada.answers("y")
    assert ada("rollback", "ada", "--to", then).code == 0
    agent = ada.ok("agents", "ada")["agent"]
    assert (agent["description"], ada.text("ada")) == ("", "")
    assert ada.ok("rollback", "ada", "--to", ada.last_event())["status"] == "unchanged"


def test_what_was_changed_since_stands_in_the_way_and_is_named(ada: MemoryUser) -> None:
    ada.ok("remember", "ada", "one")
    first = ada.last_event()
    ada.ok("remember", "ada", "two", "--rewrite")
    code, document = ada.refused("rollback", "--event", first, "--yes")
    assert (code, document["error"]["code"]) == (1, "memory_rollback_refused")
    [problem] = document["problems"]
    assert f"by event {first + 1}" in problem["message"]
    assert "dcf memory history" in document["error"]["hint"]
    assert ada.text("ada") == "two"


def test_a_change_that_there_is_not_cannot_be_undone(ada: MemoryUser) -> None:
    code, document = ada.refused("rollback", "--event", 900, "--event", 901, "--yes")
    assert code == 2
    assert [one["code"] for one in document["problems"]] == ["CLI_EVENT", "CLI_EVENT"]


REFUSED: list[tuple[list[Any], int, str]] = [
    (["remember", "eva", "x"], 2, "memory_unknown_agent"),
    (["remember", "ada", "x", "--block", "hunam"], 2, "memory_unknown_block"),
    (["remember", "ada", "x", "--block", "skills"], 1, "memory_read_only"),
    (["remember", "ada", "x", "--expected", "7"], 1, "memory_revision_conflict"),
    (["remember", "ada", "x", "--replace", "nowhere"], 1, "memory_text_not_found"),
    (["remember", "ada", "x", "--block", "human", "--new"], 1, "memory_block_exists"),
    (["remember", "ada", "a\0b"], 2, "bad_input"),
    (["remember", "ada", "", "--passage"], 2, "bad_input"),
    (["remember", "ada", "x", "--passage", "--block", "human"], 2, "usage"),
    (["remember", "ada", "x", "--append", "--rewrite"], 2, "usage"),
    (["remember", "ada", "x", "--tag", "t"], 2, "usage"),
    (["remember", "ada", "x", "--new"], 2, "usage"),
    (["forget", "ada", "nowhere"], 1, "memory_text_not_found"),
    (["forget", "ada"], 2, "usage"),
    (["forget", "ada", "x", "--passage", "p"], 2, "usage"),
    (["forget", "ada", "x", "--detach"], 2, "usage"),
    (["forget", "ada", "--block", "skills", "--yes"], 1, "memory_read_only"),
    (["forget", "ada", "--passage", "passage-0", "--yes"], 2, "memory_unknown_passage"),
    (["agents", "nobody"], 2, "memory_unknown_agent"),
    (["agents", "--rename", "x"], 2, "usage"),
    (["agents", "ada", "--delete", "ada"], 2, "usage"),
    (["agents", "ada", "--rename", "  "], 2, "bad_input"),
    (["agents", "ada", "--system", "nowhere.md"], 2, "bad_input"),
    (["show", "ada", "human", "--context"], 2, "usage"),
    (["show", "ada", "--at", "3"], 2, "usage"),
    (["search", "x", "--kind", "bolck"], 2, "bad_input"),
    (["search", "x", "--since", "soon"], 2, "bad_input"),
    (["search", "x", "--agent", "nobody"], 2, "memory_unknown_agent"),
    (["history", "nobody"], 2, "memory_unknown_agent"),
    (["rollback"], 2, "usage"),
    (["rollback", "ada"], 2, "usage"),
    (["rollback", "--to", "1"], 2, "usage"),
    (["rollback", "--block", "human", "--event", "1"], 2, "usage"),
    (["rollback", "ada", "--to", "1", "--event", "1"], 2, "usage"),
]


def test_what_cannot_be_is_refused_and_changes_nothing(ada: MemoryUser) -> None:
    before = ada.last_event()
    for order, code, name in REFUSED:
        found, document = ada.refused(*order)
        assert (order, found, document["error"]["code"]) == (order, code, name)
        told = document["error"]["hint"] or [one["hint"] for one in document["problems"]]
        assert told or name == "bad_input", order
    assert ada.last_event() == before


def test_a_taken_name_is_refused(ada: MemoryUser) -> None:
    ada.ok("init", "bo")
    code, document = ada.refused("agents", "bo", "--rename", "ada")
    assert (code, document["error"]["code"]) == (1, "memory_agent_exists")


def test_what_only_looks_makes_no_memory(memory: MemoryUser) -> None:
    for order in (["agents"], ["show"], ["search", "x"], ["history"], ["doctor"], ["stats"]):
        code, document = memory.refused(*order)
        assert (code, document["error"]["code"]) == (1, "memory_missing")
        assert "dcf memory init" in document["error"]["hint"]
    assert not memory.file.exists()


def test_a_file_of_its_own_can_be_named(memory: MemoryUser, tmp_path: Path) -> None:
    memory.patch.setenv("DCF_MEMORY", str(tmp_path / "deep" / "mine.db"))
    assert memory.ok("init", "ada")["memory"] == str(tmp_path / "deep" / "mine.db")
    assert (tmp_path / "deep" / "mine.db").exists()
    assert not memory.file.exists()


def test_control_characters_of_a_text_do_not_reach_the_terminal(ada: MemoryUser) -> None:
    ada.ok("remember", "ada", "red \x1b[31m alert")
    shown = ada("show", "ada", "human")
    assert "\x1b[31m" not in shown.out and "\\x1b" in shown.out
