"""Agents, blocks and messages in the form of a Letta server, and what is said without a server."""

from __future__ import annotations

import socket
import sys
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcf.agents import open_runtime, runtime_named
from dcf.agents.letta import (
    LettaAgents,
    LettaMissing,
    LettaServer,
    LettaSettings,
    LettaUnreachable,
)
from dcf.agents.letta.agent_state import agent_of, handle_of, members_of, server_name, tools_of
from dcf.agents.letta.block_state import block_of
from dcf.agents.letta.block_state import members_of as block_members
from dcf.agents.letta.files import _put_prompts_first
from dcf.agents.letta.message_state import messages_of, question
from dcf.memory import Memory, NewAgent, NewBlock, Source, ToolSpec, random_id
from dcf_agents.installation import extra_command

texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)
names = texts.filter(str.strip)
limits = st.none() | st.integers(0, 1_000)


def _agent_state(new: NewAgent, tools: Any = None) -> Any:
    members = members_of(new, tools)
    config = SimpleNamespace(model_dump=lambda mode: _config(members))
    at = datetime(2026, 1, 1, tzinfo=UTC)
    return SimpleNamespace(
        id="agent-1", model=None, llm_config=config, created_at=at, updated_at=at, **members
    )


def _config(members: dict[str, Any]) -> dict[str, Any]:
    return {
        "context_window": members["context_window_limit"],
        "parallel_tool_calls": members["parallel_tool_calls"],
    }


def _block_state(new: NewBlock) -> Any:
    return SimpleNamespace(id="block-1", **block_members(new, new.value, 7))


@given(
    st.builds(
        NewAgent,
        name=names,
        description=texts,
        role=texts,
        system=texts.filter(lambda text: text == "" or bool(text.strip())),
        model=st.none() | st.just("somewhere:model"),
        context_window=st.integers(1, 300_000),
        parallel_tool_calls=st.booleans(),
        enable_sleeptime=st.booleans(),
        lifecycle=st.sampled_from(["ephemeral", "pooled", "persistent"]),
        template=st.none() | texts,
        tags=st.lists(names, unique=True).map(lambda tags: tuple(sorted(tags))),
        metadata=st.dictionaries(texts.filter(lambda name: not name.startswith("dcf")), texts),
        extra=st.dictionaries(texts, texts),
    )
)
def test_an_agent_of_the_server_says_all_that_it_was_made_with(new: NewAgent) -> None:
    agent = agent_of(_agent_state(new))
    for name in NewAgent.__dataclass_fields__:
        assert getattr(agent, name) == getattr(new, name), name


@given(
    st.builds(
        NewBlock,
        label=names,
        value=texts,
        description=texts,
        type=st.sampled_from(["global", "project", "shared"]),
        soft_limit=limits,
        hard_limit=limits,
        on_limit=st.sampled_from(["warn", "truncate", "reject"]),
        read_only=st.booleans(),
        provenance=st.sampled_from(["new", "global", "project", "imported"]),
        project=st.none() | texts,
        metadata=st.dictionaries(texts.filter(lambda name: not name.startswith("dcf")), texts),
    )
)
def test_a_block_of_the_server_says_all_that_it_was_made_with(new: NewBlock) -> None:
    block = block_of(_block_state(new))
    for name in NewBlock.__dataclass_fields__:
        assert getattr(block, name) == getattr(new, name), name
    assert (block.created_at, block.updated_at) == (7, 7)


@given(names)
def test_a_name_on_the_server_has_no_character_that_it_refuses(name: str) -> None:
    assert all(one.isalnum() or one in "_ '-" for one in server_name(name))


def test_a_revision_changes_with_anything_in_the_block() -> None:
    one = block_of(_block_state(NewBlock("notes", "one")))
    assert block_of(_block_state(NewBlock("notes", "one"))).revision == one.revision
    for other in (NewBlock("notes", "two"), NewBlock("notes", "one", read_only=True)):
        assert block_of(_block_state(other)).revision != one.revision


def test_attached_tools_are_no_metadata_of_the_agent() -> None:
    kept = {"clock": {"description": "The time.", "input_schema": {"type": "object"}}}
    state = _agent_state(NewAgent("scout", metadata={"mine": 1}), kept)
    assert tools_of(state) == (ToolSpec("clock", "The time.", {"type": "object"}),)
    assert agent_of(state).metadata == {"mine": 1}


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("openai:gpt-5", "openai/gpt-5"),
        ("google:gemini", "google_ai/gemini"),
        ("openai-proxy/own", "openai-proxy/own"),
        ("rehearsal", None),
        (None, None),
    ],
)
def test_a_model_has_the_servers_name(ours: str | None, theirs: str | None) -> None:
    assert handle_of(ours) == theirs


def test_a_prompt_that_is_put_first_has_an_id_of_its_own() -> None:
    ids = ["message-7", "message-" + "9" * 5_000, "message-\u00b2"]
    messages = [{"id": one, "role": "user"} for one in ids]
    agent = {"messages": messages, "in_context_message_ids": ids[1:], "system": "Be kind."}
    _put_prompts_first([agent])
    assert agent["in_context_message_ids"] == ["message-8", *ids[1:]]


def test_messages_are_counted_and_know_their_question() -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)

    def state(kind: str, **members: Any) -> Any:
        return SimpleNamespace(id=kind, date=at, message_type=kind, **members)

    asked = question("There?", "bo", "round/7", "q1")
    call = SimpleNamespace(tool_call_id="c1", name="clock", arguments="{not json")
    told = SimpleNamespace(tool_call_id="c1", tool_return="noon", status="success")
    messages = messages_of(
        "agent-1",
        [
            state("system_message", content="the prompt"),
            state(
                "user_message",
                **{name: asked[name] for name in ("content", "otid")},
                sender_id=asked["sender_id"],
            ),
            state("approval_request_message", tool_call=call, tool_calls=[call]),
            state("approval_response_message"),
            state("tool_return_message", tool_returns=[told]),
            state("assistant_message", content="Noon."),
            state("user_message", content="Thanks.", otid=None, sender_id=None),
        ],
    )
    assert [(one.seq, one.role, one.content) for one in messages] == [
        (2, "user", "There?"),
        (3, "assistant", ""),
        (5, "tool", ""),
        (6, "assistant", "Noon."),
        (7, "user", "Thanks."),
    ]
    assert [one.correlation_id for one in messages] == ["round/7"] * 4 + [None]
    assert messages[0].sender == "bo"
    assert messages[1].parts[0]["written"] == "{not json"
    assert (messages[2].parts[0]["tool"], messages[2].parts[0]["content"]) == ("clock", "noon")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"DCF_RUNTIME": "cloud"}, "runtimes are local and letta"),
        ({"DCF_RUNTIME": "letta"}, "no address of a Letta server"),
        ({"DCF_RUNTIME": "letta", "DCF_LETTA_URL": "localhost:8283"}, "no http URL"),
    ],
)
async def test_settings_that_name_no_runtime_are_told(
    settings: dict[str, str], said: str, tmp_path: Path
) -> None:
    clock, source = (lambda: 0), Source(tmp_path / "memory.db")
    async with Memory.open(source, clock=clock, new_id=random_id) as memory:
        with pytest.raises(LettaSettings, match=said) as raised:
            async with open_runtime(memory, settings):
                pass
    assert raised.value.hint


def test_without_a_setting_the_runtime_is_the_local_one() -> None:
    assert runtime_named({}) == runtime_named({"DCF_RUNTIME": ""}) == "local"


def test_a_token_is_not_shown() -> None:
    assert "secret" not in repr(LettaServer("http://127.0.0.1:8283", "secret"))


async def test_a_server_that_does_not_answer_is_told_with_its_address() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        runtime = LettaAgents(LettaServer(url))
        with pytest.raises(LettaUnreachable, match=url) as raised:
            await runtime.connection.client()
            with runtime.connection.asking():
                await (await runtime.connection.client()).agents.list(limit=1)
        await runtime.aclose()
    assert "docker compose --profile letta" in raised.value.hint


async def test_without_its_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "letta_client", None)
    runtime = LettaAgents(LettaServer("http://127.0.0.1:8283"))
    with pytest.raises(LettaMissing) as raised:
        await runtime.check()
    assert raised.value.hint == extra_command("letta")
