"""What holds the stub up: patterns without end, files nested without end, files that are none."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from dcf.skill_tests.reach import reach
from dcf.tools import InvalidDocument
from dcf.tools.gate.arguments import argument_faults
from dcf.tools.stub.catalog import Catalog
from dcf.tools.stub.choosing import Call, choose, refuse
from dcf.tools.stub.config import build_config

SLOW = {"type": "object", "properties": {"tea": {"type": "string", "pattern": "^(a+)+$"}}}
# The time grows with the square of the length: seconds, where 100 ms are allowed.
LONG = {"tea": "a" * 40_000 + "#"}


def document(schema: Any, *cases: Any) -> dict[str, Any]:
    tool = {"paramsSchema": schema, "cases": list(cases), "defaultResponse": {}}
    return {"servers": {"kettle": {"tools": {"boil": tool}}}}


def test_the_gate_refuses_arguments_that_a_pattern_takes_too_long_on() -> None:
    started = time.process_time()
    (fault,) = argument_faults(SLOW, LONG)
    assert "too long" in fault and len(fault) < 300
    assert time.process_time() - started < 2


def test_the_stub_says_that_a_pattern_of_the_params_takes_too_long() -> None:
    config, problems = build_config(document(SLOW))
    assert problems == []
    answer = refuse(config.servers["kettle"]["boil"], LONG)
    assert answer is not None and answer.error == "RegexTooSlow"


@pytest.mark.parametrize("broken", ["[" * 100_000, '{"servers": ' * 900 + "1" + "}" * 900])
def test_a_file_nested_without_end_leaves_the_tools_as_they_were(
    tmp_path: Path, broken: str
) -> None:
    path = tmp_path / "stub_config.json"
    path.write_text(json.dumps(document({})))
    catalog = Catalog(path)
    path.write_text(broken)
    assert set(catalog.current().servers) == {"kettle"}
    assert catalog.problems


def test_a_pipe_is_no_configuration(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "stub_config.json")
    with pytest.raises(InvalidDocument, match="regular file"):
        Catalog(tmp_path / "stub_config.json")


def test_arguments_for_slow_cases_are_given_up_soon() -> None:
    case = {
        "caseId": "slow",
        "match": {"strategy": "regex", "expr": "$.tea", "value": "^(a|aa)+#?!$"},
    }
    schema = {"type": "object", "properties": {"tea": {"enum": ["a" * 60 + "#"]}}}
    config, problems = build_config(document(schema, case))
    assert problems == []
    tool = config.servers["kettle"]["boil"]
    started = time.process_time()
    assert "too long" in reach(tool, tool.cases[0]).reason
    assert time.process_time() - started < 3


@pytest.mark.parametrize(
    "response", [{"x": "{{ args.a }} " * 2000}, {"x": ["{{ args.a }}"] * 2000}]
)
def test_placeholders_that_come_to_too_much_are_an_error(response: Any) -> None:
    case = {"caseId": "many", "match": {"strategy": "always"}, "response": response}
    config, problems = build_config(document({"type": "object"}, case))
    assert problems == []
    tool = config.servers["kettle"]["boil"]
    started = time.process_time()
    for size, error in ((100_000, "ResponseTooLarge"), (10, None)):
        call = Call({"a": "y" * size}, "k")
        answer = choose(tool, call, seed=1, now=0, number=lambda _: 0, turn=lambda _: 0)
        assert answer.error == error
    assert time.process_time() - started < 2
