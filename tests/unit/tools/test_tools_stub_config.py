"""The stub's configuration file: what is refused, and what happens when it changes."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from dcf.tools import InvalidDocument
from dcf.tools.stub.catalog import Catalog
from dcf.tools.stub.config import build_config


def config(**tool: Any) -> dict[str, Any]:
    return {"servers": {"s": {"tools": {"t": tool}}}}


def codes(document: Any) -> list[tuple[str, str]]:
    return [(problem.code, problem.path) for problem in build_config(document)[1]]


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ([], ("TOOL_STUB_SHAPE", "")),
        ({"servers": {"s": {}}}, ("TOOL_STUB_SHAPE", "/servers/s")),
        ({"seed": "x", "servers": {}}, ("TOOL_STUB_SHAPE", "/seed")),
        (
            config(cases=[{"caseId": "a", "match": {"strategy": "guess"}}]),
            ("TOOL_STUB_SHAPE", "/servers/s/tools/t/cases/0/match/strategy"),
        ),
        (
            config(
                cases=[{"caseId": "a", "match": {"strategy": "always"}, "errorMode": "explode"}]
            ),
            ("TOOL_STUB_SHAPE", "/servers/s/tools/t/cases/0/errorMode"),
        ),
        (
            config(cases=[{"caseId": "a", "match": {"strategy": "always"}, "flakyRate": 1.5}]),
            ("TOOL_STUB_SHAPE", "/servers/s/tools/t/cases/0/flakyRate"),
        ),
        (
            config(cases=[{"caseId": "a", "match": {"strategy": "regex", "value": "("}}]),
            ("TOOL_STUB_REGEX", "/servers/s/tools/t/cases/0/match/value"),
        ),
        (
            config(cases=[{"caseId": "a", "match": {"strategy": "exact", "expr": "$.["}}]),
            ("TOOL_STUB_EXPR", "/servers/s/tools/t/cases/0/match/expr"),
        ),
        (
            config(paramsSchema={"properties": {"a": {"type": "text"}}}),
            ("TOOL_STUB_SCHEMA", "/servers/s/tools/t/paramsSchema/properties/a/type"),
        ),
        (
            config(cases=[{"caseId": "a", "match": {"strategy": "always"}}] * 2),
            ("TOOL_STUB_CASE_TWICE", "/servers/s/tools/t/cases/1/caseId"),
        ),
    ],
)
def test_a_mistake_is_found_at_its_place(document: Any, expected: tuple[str, str]) -> None:
    assert codes(document) == [expected]


def test_all_mistakes_are_told_at_once() -> None:
    cases = [
        {"caseId": "a", "match": {"strategy": "regex", "value": "("}},
        {"caseId": "b", "match": {"strategy": "exact", "expr": "$["}},
    ]
    assert len(codes(config(cases=cases, resultSchema={"type": 1}))) == 3


def test_null_stands_for_absent_in_every_optional_member() -> None:
    case = {
        "caseId": "a", "match": {"strategy": "always", "expr": None, "value": None},
        "response": None, "responseTemplate": None, "latencyMsOverride": None, "errorMode": None,
        "flakyRate": None, "seed": None, "errorCode": None, "weight": None,
    }  # fmt: skip
    tool = config(
        version="0.1.0", description=None, paramsSchema=None, resultSchema=None,
        defaultResponse=None, rateLimit=None, latencyMs=None, cases=[case],
    )  # fmt: skip
    assert codes(tool) == []


def names(*tools: tuple[str, str]) -> dict[str, str]:
    servers: dict[str, Any] = {}
    for server, tool in tools:
        servers.setdefault(server, {"tools": {}})["tools"][tool] = {}
    built, _ = build_config({"servers": servers})
    return {name: tool.key for name, tool in built.all_tools.items()}


def test_together_clashing_names_carry_their_server_and_none_is_dropped() -> None:
    assert names(("a", "x"), ("a", "y"), ("b", "x")) == {"y": "a:y", "a.x": "a:x", "b.x": "b:x"}


def test_a_long_name_that_clashes_in_turn_is_numbered() -> None:
    assert names(("c", "a.x"), ("a", "x"), ("b", "x")) == {
        "a.x": "c:a.x",
        "a.x_2": "a:x",
        "b.x": "b:x",
    }


def write(file: Path, document: Any) -> None:
    text = document if isinstance(document, str) else json.dumps(document)
    replacement = file.with_suffix(".new")
    replacement.write_text(text)
    replacement.replace(file)


def test_a_changed_file_is_noticed(tmp_path: Path) -> None:
    file = tmp_path / "stub.json"
    write(file, config(description="old"))
    catalog = Catalog(file)
    assert catalog.current().servers["s"]["t"].description == "old"
    write(file, config(description="new"))
    assert catalog.current().servers["s"]["t"].description == "new"
    assert catalog.problems == ()


def test_a_file_that_was_only_touched_is_not_built_again(tmp_path: Path) -> None:
    file = tmp_path / "stub.json"
    write(file, config())
    catalog = Catalog(file)
    before = catalog.current()
    os.utime(file, (1, 1))
    assert catalog.current() is before


@pytest.mark.parametrize("broken", ["{", '{"servers": 3}', None])
def test_a_broken_file_leaves_the_tools_as_they_were_and_says_why(
    tmp_path: Path, broken: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "stub.json"
    write(file, config(description="old"))
    catalog = Catalog(file)
    if broken is None:
        file.unlink()
    else:
        write(file, broken)
    for _ in range(3):
        assert catalog.current().servers["s"]["t"].description == "old"
    assert catalog.problems[0].file == str(file)
    assert caplog.text.count("the tools stay as they were") == 1
    write(file, config(description="old"))
    catalog.current()
    assert catalog.problems == ()


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        (None, "TOOL_STUB_MISSING", None),
        ('{"servers":\n {,}}', "TOOL_STUB_SYNTAX", 2),
        ('{"servers": {\n"s": 3}}', "TOOL_STUB_SHAPE", 2),
    ],
)
def test_the_first_reading_must_succeed(
    tmp_path: Path, text: str | None, code: str, line: int | None
) -> None:
    file = tmp_path / "stub.json"
    if text is not None:
        file.write_text(text)
    with pytest.raises(InvalidDocument) as caught:
        Catalog(file)
    [problem] = caught.value.problems
    assert (problem.code, problem.line, problem.file) == (code, line, str(file))
