"""Whatever agents are, a file of them says all of it; and whatever a file says of what DCF does not
know comes back."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from agent_file_samples import gardener, shop
from campaigns import campaign
from hypothesis import given, settings
from hypothesis import strategies as st

from dcf.agents.files import (
    AgentFile,
    FileAgent,
    FileBlock,
    FileMessage,
    FileTool,
    InvalidAgentFile,
    read_agent_file,
    write_agent_file,
)
from dcf.memory import NewAgent, NewBlock, NewMessage

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
names = texts.filter(str.strip)
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(texts.filter(lambda name: name != "dcf"), values, max_size=3)
unknown = st.dictionaries(texts.map(lambda name: f"x {name}"), values, max_size=3)
maybe = st.none() | texts
agents = st.builds(
    NewAgent,
    name=names,
    description=texts,
    role=texts,
    model=st.sampled_from(
        [None, "openai:gpt-5", "google:gemini", "ollama:q:4b", "x:y", "rehearsal"]
    ),
    embedder=maybe,
    system=texts,
    context_window=st.integers(1, 10**6),
    parallel_tool_calls=st.booleans(),
    enable_sleeptime=st.booleans(),
    lifecycle=st.sampled_from(["ephemeral", "pooled", "persistent"]),
    template=maybe,
    template_digest=maybe,
    tags=st.sets(names, max_size=3).map(lambda tags: tuple(sorted(tags))),
    metadata=objects,
)
limits = st.none() | st.integers(0, 10**9)
blocks = st.builds(
    NewBlock,
    label=names,
    value=texts,
    description=texts,
    type=st.sampled_from(["global", "project", "shared"]),
    soft_limit=limits,
    hard_limit=st.none() | st.integers(100, 10**9),
    on_limit=st.sampled_from(["warn", "truncate", "reject"]),
    read_only=st.booleans(),
    provenance=st.just("imported"),
    project=maybe,
    metadata=objects,
)
calls = st.fixed_dictionaries(
    {"kind": st.just("call"), "id": texts, "tool": texts, "arguments": objects | texts}
)
returns = st.fixed_dictionaries(
    {
        "kind": st.just("return"),
        "id": texts,
        "tool": texts,
        "content": texts,
        "is_error": st.booleans(),
    }
)
messages = st.builds(
    NewMessage,
    role=st.sampled_from(["system", "user", "assistant", "tool", "summary"]),
    content=texts,
    parts=st.lists(calls | returns | objects, max_size=3).map(tuple),
    session_id=maybe,
    run_id=maybe,
    sender=maybe,
    correlation_id=maybe,
    replaces=st.none() | st.tuples(st.integers(1, 9), st.integers(9, 20)),
)
tools = st.builds(
    FileTool, id=st.just(""), name=names, kind=texts, description=texts, extra=unknown
)


@st.composite
def files(draw: st.DrawFn) -> AgentFile:
    """Agent files of up to two agents, which share blocks and tools."""
    some_blocks = draw(
        st.lists(st.tuples(blocks, unknown), max_size=3, unique_by=lambda b: b[0].label)
    )
    some_tools = draw(st.lists(tools, max_size=2))
    block_ids = [f"block-{n}" for n in range(len(some_blocks))]
    tool_ids = [f"tool-{n}" for n in range(len(some_tools))]
    made = []
    for number, new in enumerate(draw(st.lists(agents, max_size=2))):
        said = draw(st.lists(st.tuples(messages, st.booleans(), unknown), max_size=3))
        made.append(
            FileAgent(
                f"agent-{number}",
                new,
                blocks=tuple(draw(st.permutations(block_ids))),
                tools=tuple(draw(st.permutations(tool_ids))),
                messages=tuple(FileMessage(f"message-{n}", *one) for n, one in enumerate(said)),
                secrets=tuple(sorted(draw(st.sets(names, max_size=2)))),
                extra=draw(unknown),
            )
        )
    return AgentFile(
        agents=tuple(made),
        blocks=tuple(
            FileBlock(one, *block) for one, block in zip(block_ids, some_blocks, strict=True)
        ),
        tools=tuple(replace(tool, id=one) for one, tool in zip(tool_ids, some_tools, strict=True)),
        extra=draw(unknown),
    )


@campaign(shares=20)
@given(files())
@settings(max_examples=50, deadline=None)
def test_a_file_that_was_written_says_all_that_its_agents_are(share: int, file: AgentFile) -> None:
    again = read_agent_file(json.dumps(write_agent_file(file)))
    assert write_agent_file(again) == write_agent_file(file)
    for one, other in zip(file.agents, again.agents, strict=True):
        assert (one.new, one.blocks, one.tools, one.secrets) == (
            other.new,
            other.blocks,
            other.tools,
            other.secrets,
        )
        assert [(m.new, m.in_context) for m in one.messages] == [
            (m.new, m.in_context) for m in other.messages
        ]
    assert [block.new for block in file.blocks] == [block.new for block in again.blocks]


@given(st.dictionaries(texts.map(lambda name: f"x {name}"), values, max_size=4))
@settings(max_examples=50, deadline=None)
def test_members_that_nobody_knows_come_back_as_they_were(more: dict[str, object]) -> None:
    value = shop()
    places = [
        lambda file: file,
        lambda file: file["agents"][0],
        lambda file: file["agents"][0]["messages"][1],
        lambda file: file["blocks"][0],
        lambda file: file["tools"][0],
        lambda file: file["groups"][0],
    ]
    for place in places:
        place(value).update(more)
    written = write_agent_file(read_agent_file(json.dumps(value)))
    for place in places:
        there = {name: item for name, item in place(written).items() if name in more}
        assert json.dumps(there, sort_keys=True) == json.dumps(more, sort_keys=True)


def places_in(value: object, here: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """The paths of all values inside ``value``."""
    inside = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    return [
        place for step, item in inside for place in ((*here, step), *places_in(item, (*here, step)))
    ]


def changed(value: Any, place: tuple[str | int, ...], other: object) -> Any:
    """``value`` with ``other`` at ``place``."""
    *way, last = place
    here = value
    for step in way:
        here = here[step]
    here[last] = other
    return value


MUTATIONS = [(make, place) for make in (gardener, shop) for place in places_in(make())]
own = st.builds(
    lambda inside: {"dcf": inside},
    st.dictionaries(
        st.sampled_from(
            ["name", "tags", "model", "metadata", "parts", "replaces", "hard_limit", "x"]
        ),
        values,
        max_size=3,
    ),
)


@campaign(shares=20)
@given(st.sampled_from(MUTATIONS), values | own)
@settings(max_examples=150, deadline=None)
def test_a_file_with_anything_in_any_place_is_read_or_refused(
    share: int, where: tuple[Callable[[], Any], tuple[str | int, ...]], other: object
) -> None:
    make, place = where
    try:
        file = read_agent_file(json.dumps(changed(make(), place, other)))
    except InvalidAgentFile as error:
        assert error.problems
    else:
        assert read_agent_file(json.dumps(write_agent_file(file))) == file


@given(st.binary(max_size=40) | texts)
@settings(max_examples=150, deadline=None)
def test_any_bytes_are_read_or_refused(data: bytes | str) -> None:
    with suppress(InvalidAgentFile):
        read_agent_file(data)
