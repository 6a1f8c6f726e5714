"""Agent files are read whole, written whole, and what is wrong with them is said at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from agent_file_samples import SECRETS, gardener, shop

from dcf.agents.files import AgentFile, InvalidAgentFile, read_agent_file, write_agent_file
from dcf.memory import NewBlock

SAMPLES = Path(__file__).parents[4] / "shared" / "samples" / "agent-files"


def read(value: Any) -> AgentFile:
    return read_agent_file(json.dumps(value))


def problems(value: Any) -> dict[str, str]:
    """code by JSON pointer"""
    with pytest.raises(InvalidAgentFile) as caught:
        read_agent_file(value if isinstance(value, str | bytes) else json.dumps(value))
    return {problem.path: problem.code for problem in caught.value.problems}


def warnings(file: AgentFile, code: str) -> list[str]:
    return [one.path for one in file.warnings if one.code == code]


def test_version_1_is_one_agent_with_its_blocks_and_messages() -> None:
    file = read(gardener())
    (agent,) = file.agents
    assert (file.version, agent.new.name, agent.new.system) == (
        1,
        "gardener",
        "Look after the garden.",
    )
    assert (agent.new.model, agent.new.context_window) == ("openai:gpt-4o-mini", 32000)
    assert [block.new.label for block in file.blocks] == ["persona", "beds"]
    assert file.blocks[0].new == NewBlock(
        "persona", "Patient.", hard_limit=5000, provenance="imported", metadata={"season": 3.0}
    )
    assert [message.in_context for message in agent.messages] == [True, False, True, True]
    assert agent.extra["tool_rules"] == gardener()["tool_rules"]


def test_version_2_is_agents_that_may_share_blocks() -> None:
    file = read(shop())
    clerk, owner = file.agents
    assert clerk.blocks == ("block-7", "block-2")
    assert owner.blocks == ("block-7",)
    assert clerk.new.tags == ("day", "shop")
    assert (clerk.new.model, clerk.new.enable_sleeptime, clerk.new.parallel_tool_calls) == (
        "google:gemini-pro",
        True,
        False,
    )
    assert owner.new.model is None
    assert {block.new.label: block.new.read_only for block in file.blocks} == {
        "human": True,
        "prices": False,
    }
    assert file.extra["unheard_of"] == {"kept": True}


def test_calls_and_answers_are_parts_of_their_messages() -> None:
    _, _, asked, answered = read(gardener()).agents[0].messages
    assert list(asked.new.parts) == [
        {"kind": "call", "id": "call-1", "tool": "measure", "arguments": {"bed": 1}}
    ]
    assert list(answered.new.parts) == [
        {"kind": "return", "id": "call-1", "tool": "measure", "content": "dry", "is_error": False}
    ]


def test_an_approval_is_the_call_it_asks_for_and_the_answer_it_brings() -> None:
    value = shop()
    call = {"id": "c", "type": "function", "function": {"name": "sell", "arguments": "{}"}}
    brought = {"tool_call_id": "c", "status": "error", "func_response": "no tea"}
    value["agents"][1]["messages"] = [
        {"role": "approval", "content": [], "tool_calls": [call]},
        {"role": "approval", "content": [], "tool_returns": [], "approvals": [brought]},
    ]
    value["agents"][1]["in_context_message_ids"] = None
    asked, given = read(value).agents[1].messages
    assert (asked.new.role, given.new.role) == ("assistant", "tool")
    assert list(given.new.parts) == [
        {"kind": "return", "id": "c", "tool": "sell", "content": "no tea", "is_error": True}
    ]


@pytest.mark.parametrize("value", [gardener(), shop()], ids=["version 1", "version 2"])
def test_written_and_read_again_it_is_the_same(value: Any) -> None:
    file = read(value)
    written = write_agent_file(file)
    assert read(written) == file
    assert json.dumps(write_agent_file(read(written))) == json.dumps(written)


def test_what_nobody_knows_is_written_as_it_was() -> None:
    written = write_agent_file(read(shop()))
    clerk = written["agents"][0]
    assert json.dumps(clerk["shelf"]) == json.dumps(shop()["agents"][0]["shelf"])
    assert clerk["messages"][1] == shop()["agents"][0]["messages"][1] | {
        "name": None,
        "tool_calls": None,
        "tool_call_id": None,
        "tool_returns": [],
    }
    assert written["unheard_of"] == {"kept": True}
    assert written["groups"] == shop()["groups"]
    garden = write_agent_file(read(gardener()))["agents"][0]
    assert garden["messages"][2]["tool_calls"] == gardener()["messages"][2]["tool_calls"]
    assert garden["version"] == "0.6.47"


def test_json_text_in_a_json_string_is_read_too() -> None:
    once = json.dumps(shop())
    assert read_agent_file(json.dumps(once)) == read_agent_file(once.encode("utf-8-sig"))


def test_a_block_over_its_limit_comes_in_whole_with_a_warning() -> None:
    file = read(gardener())
    beds = file.blocks[1].new
    assert (beds.value, beds.hard_limit, beds.on_limit) == ("Beans, peas and onions.", 10, "warn")
    assert warnings(file, "AGENT_FILE_OVER_LIMIT") == ["/core_memory/1/value"]


def test_blocks_that_stand_in_an_agent_of_version_2_are_its_blocks() -> None:
    value = shop()
    value["agents"][1]["core_memory"] = [{"label": "persona", "value": "Strict.", "limit": 3}]
    file = read(value)
    assert file.agents[1].blocks == ("block-7", "block-0")
    assert warnings(file, "AGENT_FILE_OVER_LIMIT") == ["/agents/1/core_memory/0/value"]
    assert read(write_agent_file(file)) == file


def test_values_of_secrets_are_never_taken_over_and_their_names_are() -> None:
    clerk, garden = read(shop()), read(gardener())
    text = json.dumps([write_agent_file(clerk), write_agent_file(garden)]) + repr((clerk, garden))
    assert [secret for secret in SECRETS if secret in text] == []
    assert clerk.agents[0].secrets == ("TILL",)
    assert garden.agents[0].secrets == ("GARDEN_KEY",)
    assert warnings(clerk, "AGENT_FILE_SECRET") == [
        "/agents/0/llm_config/api_key",
        "/agents/0/tool_exec_environment_variables/TILL",
        "/mcp_servers/0/server_url",
        "/mcp_servers/0/custom_headers/X-Shop",
    ]
    assert warnings(garden, "AGENT_FILE_SECRET") == ["/tool_exec_environment_variables/0/value"]
    written = write_agent_file(clerk)["agents"][0]
    assert written["tool_exec_environment_variables"] == {"TILL": ""}


def test_it_says_what_each_tool_needs_that_agents_do_not_have_anyway() -> None:
    assert warnings(read(gardener()), "AGENT_FILE_TOOL") == ["/tools/0"]
    assert warnings(read(shop()), "AGENT_FILE_TOOL") == ["/tools/0"]


def test_a_model_of_an_unknown_provider_is_none_and_survives() -> None:
    value = shop()
    value["agents"][0]["llm_config"] = config = {"handle": "moon/m1", "model": "m1"}
    file = read(value)
    assert file.agents[0].new.model is None
    assert warnings(file, "AGENT_FILE_MODEL") == ["/agents/0"]
    assert write_agent_file(file)["agents"][0]["llm_config"] == config


def test_all_that_is_wrong_is_said_at_once_with_its_place() -> None:
    value = shop()
    value["agents"][0]["name"] = " "
    value["agents"][1]["messages"] = [{"role": "robot"}, {}]
    value["blocks"][0]["limit"] = -1
    value["blocks"][1]["read_only"] = "yes"
    value["tools"].append({"id": "tool-9"})
    assert problems(value) == {
        "/agents/0/name": "AGENT_FILE_EMPTY",
        "/agents/1/messages/0/role": "AGENT_FILE_VALUE",
        "/agents/1/messages/1": "AGENT_FILE_MISSING",
        "/blocks/0/limit": "AGENT_FILE_VALUE",
        "/blocks/1/read_only": "AGENT_FILE_TYPE",
        "/tools/2": "AGENT_FILE_MISSING",
    }


def test_ids_that_name_nothing_or_two_things_are_refused() -> None:
    value = shop()
    value["agents"][0]["block_ids"] = ["block-7", "block-9"]
    value["agents"][0]["tool_ids"] = ["tool-9"]
    value["agents"][0]["in_context_message_ids"] = ["message-9"]
    value["blocks"].append({"id": "block-2", "label": "other"})
    assert problems(value) == {
        "/agents/0/block_ids/1": "AGENT_FILE_REFERENCE",
        "/agents/0/tool_ids/0": "AGENT_FILE_REFERENCE",
        "/agents/0/in_context_message_ids/0": "AGENT_FILE_REFERENCE",
        "/blocks/2/id": "AGENT_FILE_ID",
    }


def test_an_agent_has_one_block_of_a_label() -> None:
    value = gardener()
    value["core_memory"].append({"label": "beds", "value": "", "limit": 5})
    assert problems(value) == {"": "AGENT_FILE_LABEL"}


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "AGENT_FILE_SYNTAX"),
        (b'{"agents": [', "AGENT_FILE_SYNTAX"),
        (b"\xff\xfe{", "AGENT_FILE_ENCODING"),
        (b"[]", "AGENT_FILE_UNKNOWN"),
        (b'{"name": "x"}', "AGENT_FILE_UNKNOWN"),
        (b'{"agents": [], "x": NaN}', "AGENT_FILE_NUMBER"),
        (b'{"agents": [], "x": 1e999}', "AGENT_FILE_NUMBER"),
        (b'{"agents": [], "x": ' + b"9" * 5000 + b"}", "AGENT_FILE_NUMBER"),
        (b'{"agents": [], "x": ' + b"[" * 101 + b"]" * 101 + b"}", "AGENT_FILE_DEPTH"),
        (b'{"agents": [], "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "AGENT_FILE_DEPTH"),
        (rb'{"agents": [], "x": "a\u0000b"}', "AGENT_FILE_TEXT"),
        (rb'{"agents": [], "\ud800": 1}', "AGENT_FILE_TEXT"),
    ],
)
def test_what_is_no_agent_file_is_refused_and_never_raises_anything_else(
    data: bytes, code: str
) -> None:
    assert set(problems(data).values()) == {code}


def test_a_file_made_to_fail_gets_a_bounded_answer() -> None:
    assert len(problems({"agents": [{}] * 5000})) == 100


def test_a_file_of_countless_things_is_refused_before_they_are_looked_at() -> None:
    assert problems({"agents": [{"name": "a"}] * 100_001}) == {"": "AGENT_FILE_SIZE"}
    value = shop()
    value["agents"][1]["messages"] = [{}] * 100_000
    assert problems(value) == {"": "AGENT_FILE_SIZE"}


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="the public samples are not here")
def test_files_of_the_public_repositories_survive() -> None:
    files = sorted(SAMPLES.glob("*.af"))
    assert len(files) == 7
    for path in files:
        file = read_agent_file(path.read_bytes())
        assert file.agents[0].new.model, path.name
        written = write_agent_file(file)
        assert read(written) == file, path.name
        original = json.loads(path.read_bytes())
        original = json.loads(original) if isinstance(original, str) else original
        if file.version == 2:
            assert lost(original, written) == [], path.name


def lost(before: Any, after: Any, place: str = "") -> list[str]:
    """Where ``after`` does not say what ``before`` says."""
    if isinstance(before, dict) and isinstance(after, dict):
        return [p for k, v in before.items() for p in lost(v, after.get(k), f"{place}/{k}")]
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        pairs = enumerate(zip(before, after, strict=True))
        return [p for i, (b, a) in pairs for p in lost(b, a, f"{place}/{i}")]
    return [] if json.dumps(before) == json.dumps(after) else [place]


@pytest.mark.parametrize("kind", ["groups", "files", "sources", "mcp_servers"])
def test_an_id_is_a_text_in_whatever_is_only_kept(kind: str) -> None:
    found = problems({"agents": [], kind: [{"id": ["x"]}]})
    assert found == {f"/{kind}/0/id": "AGENT_FILE_TYPE"}
