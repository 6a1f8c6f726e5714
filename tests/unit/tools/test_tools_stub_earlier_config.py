"""Configurations that the earlier generator wrote: every value a text, nulls for what is absent."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from dcf.tools.stub.answer import Answer, Call
from dcf.tools.stub.catalog import Catalog
from dcf.tools.stub.config import StubConfig, build_config
from dcf.tools.stub.desk import Desk

PARAMS = {
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "count": {"type": "integer"},
        "price": {"type": "number"},
        "urgent": {"type": "boolean"},
        "note": {"type": ["string", "null"]},
        "tags": {"type": "array", "items": {"type": "integer"}},
        "deep": {"type": "object", "properties": {"n": {"$ref": "#/$defs/n"}}},
        "free": {},
    },
    "$defs": {"n": {"type": "integer"}},
}


def case(strategy: str, path: str | None, value: str | None, **members: Any) -> dict[str, Any]:
    """One case in the earlier form."""
    return {
        "caseId": "a",
        "match": {"strategy": strategy, "expr": "$." + (path or ""), "value": value},
        "response": "met",
        "responseTemplate": None,
        "latencyMsOverride": None,
        "errorMode": None,
        "flakyRate": None,
        "weight": None,
        **members,
    }


def tool(*cases: dict[str, Any], **members: Any) -> dict[str, Any]:
    return {
        "version": "0.1.0",
        "description": "",
        "paramsSchema": PARAMS,
        "resultSchema": None,
        "defaultResponse": "default",
        "rateLimit": {"rps": 0},
        "latencyMs": {"default": 0},
        "cases": list(cases),
        "meta": {"originalToolName": "t"},
        **members,
    }


def built(entry: dict[str, Any]) -> StubConfig:
    config, problems = build_config({"servers": {"s": {"tools": {"t": entry}}}})
    assert problems == []
    return config


def meets(entry: dict[str, Any], arguments: dict[str, Any]) -> bool:
    [one] = built(entry).servers["s"]["t"].cases
    return one.match.holds(arguments)


@pytest.mark.parametrize(
    ("path", "value", "arguments", "expected"),
    [
        ("count", "5", {"count": 5}, True),
        ("count", "5", {"count": 6}, False),
        ("price", "2.5", {"price": 2.5}, True),
        ("price", "2", {"price": 2.0}, True),
        ("urgent", "true", {"urgent": True}, True),
        ("urgent", "True", {"urgent": True}, True),
        ("urgent", "true", {"urgent": False}, False),
        ("id", "5", {"id": "5"}, True),
        ("note", "null", {"note": "null"}, True),
        ("tags[0]", "7", {"tags": [7]}, True),
        ("tags[*]", "7", {"tags": [1, 7]}, True),
        ("deep.n", "3", {"deep": {"n": 3}}, True),
        # What has no declared type is compared as text, as it was.
        ("free", "5", {"free": 5}, True),
        ("free", "5", {"free": "5"}, True),
        ("free", "true", {"free": True}, True),
        ("unknown", "5", {"unknown": 5}, True),
        ("odd-name", "x", {"odd-name": "x"}, True),
    ],
)
def test_a_text_is_compared_in_the_type_of_its_argument(
    path: str, value: str, arguments: dict[str, Any], expected: bool
) -> None:
    assert meets(tool(case("exact", path, value)), arguments) is expected


@pytest.mark.parametrize(("value", "arguments"), [('"gold"', {"id": "gold"}), ("5", {"count": 5})])
def test_jsonpath_has_the_json_of_the_value(value: str, arguments: dict[str, Any]) -> None:
    [path] = arguments
    assert meets(tool(case("jsonpath", path, value)), arguments)


def test_an_empty_path_means_all_arguments() -> None:
    assert meets(tool(case("contains", None, "gold")), {"id": "gold"})
    assert meets(tool(case("regex", "", '"count": 5')), {"count": 5})
    assert meets(tool(case("regex", "", '"count":5')), {"count": 5})


def test_a_regex_looks_at_its_path_and_so_may_be_anchored() -> None:
    assert meets(tool(case("regex", "id", "^ORD-")), {"id": "ORD-1"})
    assert not meets(tool(case("regex", "id", "^ORD-")), {"id": "x", "note": "ORD-1"})


def test_two_cases_may_have_one_id() -> None:
    first, second = case("exact", "id", "1"), case("exact", "id", "2")
    assert len(built(tool(first, second)).servers["s"]["t"].cases) == 2


def test_a_tool_answers_to_the_name_that_was_made_safe_and_to_the_one_before() -> None:
    entry = tool(meta={"originalToolName": "find.page"})
    config, _ = build_config({"servers": {"web": {"tools": {"find_page": entry}}}})
    for server, name in [("web", "find_page"), ("web", "find.page"), (None, "find_page")]:
        found = config.find(server, name)
        assert found is not None and found.key == "web:find_page"
    for name in ("web:find_page", "web.find_page", "web:find.page"):
        assert config.find(None, name) is not None
    assert config.find("web", "other") is None


class Bench:
    def __init__(self, folder: Path, entry: dict[str, Any]) -> None:
        file = folder / "stub.json"
        file.write_text(json.dumps({"servers": {"s": {"tools": {"t": entry}}}}))

        async def no_sleep(_seconds: float) -> None:
            return

        self.desk = Desk(
            Catalog(file), seed=None, clock=lambda: 0.0, monotonic=lambda: 0.0, sleep=no_sleep
        )

    def call(self, arguments: dict[str, Any]) -> Answer:
        served = self.desk.catalog.current().servers["s"]["t"]
        return asyncio.run(self.desk.answer(served, Call(arguments)))


def test_answers_that_break_the_result_schema_are_served_and_the_schema_is_not(
    tmp_path: Path,
) -> None:
    schema = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
    bench = Bench(tmp_path, tool(case("exact", "id", "1", response={}), resultSchema=schema))
    assert bench.call({"id": "1"}).data == {}
    assert bench.call({"id": "2"}).data == "default"
    assert bench.desk.catalog.current().servers["s"]["t"].result_schema is None


def test_a_placeholder_gives_text_where_the_schema_wants_text(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "string"}, "m": {"type": "integer"}}}
    answer = {"n": "{{ args.count }}", "m": "{{ count }}"}
    bench = Bench(tmp_path, tool(resultSchema=schema, defaultResponse={"n": "", "m": 1}))
    assert bench.call({"count": 5}).data == {"n": "", "m": 1}
    bench = Bench(tmp_path, {**tool(defaultResponse=answer), "meta": None, "resultSchema": schema})
    assert bench.call({"count": 5}).data == {"n": "5", "m": 5}


@pytest.mark.parametrize(
    ("mode", "words"),
    [("throw", "stub_thrown_error"), ("http_500", "500: internal server error (stub)")],
)
def test_errors_say_what_they_said(tmp_path: Path, mode: str, words: str) -> None:
    answer = Bench(tmp_path, tool(case("always", None, None, errorMode=mode))).call({})
    assert words in answer.data["message"]
