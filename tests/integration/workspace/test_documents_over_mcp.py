"""The RedisJSON tools, each over the wire."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from integration.workspace.wire import Wire, wire
from redis.asyncio import Redis

START = {"n": 1, "l": [1], "o": {"a": None}, "t": "x"}
CHANGES: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("json_set", {"path": "$.o.b", "value_json": "5"}, {"o": {"a": None, "b": 5}}),
    ("json_set", {"path": "$.t", "value_json": {"as": "value"}}, {"t": {"as": "value"}}),
    ("json_append", {"path": "$.l", "value_json": "[2, 3]"}, {"l": [1, 2, 3]}),
    ("json_ensure", {"path": "$.o.a", "default_json": "0"}, {"o": {"a": 0}}),
    ("json_merge", {"path": "$", "patch_json": '{"t": null, "u": 1}'}, {"t": ..., "u": 1}),
    ("json_increment", {"path": "$.n", "delta": "2"}, {"n": 3}),
    ("json_increment", {"path": "$.n", "delta": 0.5}, {"n": 1.5}),
    ("json_copy", {"from_path": "$.l", "to_path": "$.m"}, {"m": [1]}),
    ("json_move", {"from_path": "$.l[0]", "to_path": "$.first"}, {"l": [], "first": 1}),
    ("json_delete", {"path": "$.o"}, {"o": ...}),
]
ERRORS: list[tuple[str, dict[str, Any], str]] = [
    ("json_create", {"redis_key": "doc:d"}, "document_exists"),
    ("json_create", {"redis_key": "doc:new", "initial_json": "[1]"}, "root_not_an_object"),
    ("json_create", {"redis_key": "doc:new", "initial_json": "{"}, "bad_value"),
    ("json_create", {"key_prefix": "cp:wf:"}, "key_outside_prefix"),
    ("json_read", {"redis_key": "doc:none"}, "key_not_found"),
    ("json_read", {"redis_key": "doc:d", "path": "$..n"}, "bad_path"),
    ("json_set", {"redis_key": "doc:d", "path": "$", "value_json": "1"}, "root_not_an_object"),
    ("json_append", {"redis_key": "doc:d", "path": "$.n", "value_json": "1"}, "not_an_array"),
    ("json_ensure", {"redis_key": "doc:d", "path": "$.l[9]", "default_json": "1"},
     "index_out_of_range"),
    ("json_merge", {"redis_key": "doc:d", "path": "$", "patch_json": "no"}, "bad_value"),
    ("json_increment", {"redis_key": "doc:d", "path": "$.t", "delta": "1"}, "not_a_number"),
    ("json_increment", {"redis_key": "doc:d", "path": "$.n", "delta": "1e999"}, "bad_value"),
    ("json_copy", {"redis_key": "doc:d", "from_path": "$.x", "to_path": "$.y"}, "source_missing"),
    ("json_move", {"redis_key": "doc:d", "from_path": "$.n", "to_path": "$.t",
                   "overwrite": False}, "destination_exists"),
    ("json_move", {"redis_key": "doc:d", "from_path": "$.o", "to_path": "$.o.x"}, "into_itself"),
    ("json_delete", {"redis_key": "doc:d", "path": "$["}, "bad_path"),
]  # fmt: skip
KEYED = ["json_read", "json_set", "json_append", "json_ensure", "json_merge", "json_increment",
         "json_copy", "json_move", "json_delete"]  # fmt: skip


async def start(tools: Wire) -> None:
    await tools.good("json_create", redis_key="doc:d", initial_json=json.dumps(START))


async def test_every_change_is_made_and_shown(redis_url: str, tmp_path: Path) -> None:
    async with wire(redis_url, tmp_path) as tools:
        for name, arguments, changed in CHANGES:
            await tools.good("json_create", redis_key="doc:d", initial_json=json.dumps(START),
                             overwrite=True)  # fmt: skip
            answer = await tools.good(name, redis_key="doc:d", **arguments)
            expected = {**START, **changed}
            expected = {key: value for key, value in expected.items() if value is not ...}
            assert json.loads(answer["doc_json"]) == expected, name
            assert (answer["success"], answer["redis_key"]) == (True, "doc:d")
            read = await tools.good("json_read", redis_key="doc:d")
            assert json.loads(read["value_json"]) == expected


async def test_every_refusal_has_a_code_and_says_of_what(redis_url: str, tmp_path: Path) -> None:
    async with wire(redis_url, tmp_path) as tools:
        await start(tools)
        for name, arguments, code in ERRORS:
            answer = await tools.call(name, **arguments)
            assert str(answer["error"]).startswith(f"{code}: "), (name, answer)
            assert answer["success"] is False
            assert answer["redis_key"] == arguments.get("redis_key", "")
        assert json.loads((await tools.good("json_read", redis_key="doc:d"))["value_json"]) == START


async def test_reading(redis_url: str, tmp_path: Path) -> None:
    async with wire(redis_url, tmp_path) as tools:
        await start(tools)
        assert (await tools.good("json_read", redis_key="doc:d", path="$.no"))[
            "value_json"
        ] == "null"
        pretty = await tools.good("json_read", redis_key="doc:d", path="l", pretty=True)
        assert pretty["value_json"] == "[\n  1\n]"
        made = await tools.good("json_create", key_prefix="doc:plan:")
        assert made["redis_key"].startswith("doc:plan:")


async def test_a_word_is_text_and_a_warning_says_so(redis_url: str, tmp_path: Path) -> None:
    async with wire(redis_url, tmp_path) as tools:
        answer = await tools.good(
            "json_set", redis_key="doc:d", path="s", value_json="done", redis_url="redis://evil"
        )
        assert json.loads(answer["doc_json"]) == {"s": "done"}
        assert len(answer["warnings"]) == 2
        assert "redis://evil" not in json.dumps(answer)


@pytest.mark.parametrize(
    "key",
    ["cp:wf:r:meta", "dp:wf:r:output:A", "cp:agent:a", "cp:doc:call:{doc:d}:x", "{doc:}x", "*",
     "doc:", "doc: x", "doc:x\n", "\x00doc:x", "DOC:x", "ｄoc:x", "doc:" + "x" * 300],
)  # fmt: skip
async def test_no_tool_reaches_another_key(redis_url: str, tmp_path: Path, key: str) -> None:
    arguments = {"path": "$.x", "value_json": "1", "default_json": "1", "patch_json": "{}",
                 "delta": "1", "from_path": "$.x", "to_path": "$.y"}  # fmt: skip
    async with wire(redis_url, tmp_path) as tools, Redis.from_url(redis_url) as client:
        await client.execute_command("JSON.SET", key, "$", '{"secret": 1}')
        for name in KEYED:
            schema = {tool: arguments[tool] for tool in _wanted(name, arguments)}
            assert await tools.refused(name, redis_key=key, **schema) in (
                "key_outside_prefix", "bad_key",
            )  # fmt: skip
        for more in ({"overwrite": True}, {"overwrite": True, "key_prefix": "doc:"}):
            assert await tools.refused("json_create", redis_key=key, **more) in (
                "key_outside_prefix", "bad_key",
            )  # fmt: skip
        assert await client.execute_command("JSON.GET", key) == b'{"secret":1}'


def _wanted(name: str, arguments: dict[str, str]) -> list[str]:
    from dcf.mcp import load_catalogue

    properties = load_catalogue().tools()[name].input_schema["properties"]
    return [argument for argument in arguments if argument in properties]


async def test_clients_of_two_servers_lose_no_increment(redis_url: str, tmp_path: Path) -> None:
    async with wire(redis_url, tmp_path) as one, wire(redis_url, tmp_path) as two:
        await asyncio.gather(
            *[
                tools.good("json_increment", redis_key="doc:n", path="n", delta="1")
                for tools in (one, two)
                for _ in range(40)
            ]
        )
        assert (await one.good("json_read", redis_key="doc:n", path="n"))["value_json"] == "80"


async def test_another_prefix_is_a_setting(redis_url: str, tmp_path: Path) -> None:
    async with wire(redis_url, tmp_path, key_prefix="team:docs:") as tools:
        await tools.good("json_create", redis_key="team:docs:a")
        assert await tools.refused("json_create", redis_key="doc:a") == "key_outside_prefix"
