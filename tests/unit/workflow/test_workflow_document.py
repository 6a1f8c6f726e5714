"""Workflow documents: what is accepted, and how what is not is told."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import Any

import pytest
from unit.workflow.stage import flow, mapping, parallel, passing, task

from dcf import workflow
from dcf.problem import Problem
from dcf.skills import Manifest, Permissions, SkillCatalog, SkillTool
from dcf.workflow import InvalidWorkflow


def a_skill(name: str, *tools: str) -> Manifest:
    declared = tuple(SkillTool("web", tool, tool, "", True, {"type": "object"}) for tool in tools)
    return Manifest(
        manifest_id=f"skill.{name}@1.0.0",
        name=name,
        version="1.0.0",
        description=name,
        directives="",
        tags=(),
        permissions=Permissions(),
        tools=declared,
        data_sources=(),
        dependencies=(),
        package_id=None,
        digest=f"sha256:{name}",
        raw={},
    )


CATALOG = SkillCatalog([a_skill("search", "find", "fetch"), a_skill("send", "mail")])


def problems_of(text: str, *, catalog: SkillCatalog | None = None) -> list[Problem]:
    with pytest.raises(InvalidWorkflow) as invalid:
        workflow.load(text, file="flow.json", catalog=catalog)
    return invalid.value.problems


def places(problems: list[Problem]) -> set[tuple[str, str]]:
    return {(problem.code, problem.path) for problem in problems}


@pytest.mark.parametrize("name", ["task:", "task:review"])
def test_no_workflow_is_called_as_tasks_of_sessions_are(name: str) -> None:
    """It would be told what those showed, and those what it did."""
    machine = flow(A=passing(End=True))
    for raw in (envelope(machine, workflow_name=name), envelope({"States": 1}, workflow_name=name)):
        found = [one for one in problems_of(json.dumps(raw)) if one.code == "WF_NAME_RESERVED"]
        assert [one.path for one in found] == ["/workflow_name"]
        assert "'task:'" in found[0].message
    with pytest.raises(InvalidWorkflow) as invalid:
        workflow.load(json.dumps(machine), file=f"flows/{name}.asl.json")
    assert [one.code for one in invalid.value.problems] == ["WF_NAME_RESERVED"]
    for right in ("task", "tasks:x", "my-task:x", "Task:x"):
        workflow.load(json.dumps(envelope(machine, workflow_name=right)), file="x.json")


def envelope(definition: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"workflow_name": "Shop", "asl": definition, **fields}


def bound(*skills: str, tool: str | None = None) -> dict[str, Any]:
    binding: dict[str, Any] = {"agent_template_ref": {"name": "any"}, "skills": list(skills)}
    if tool is not None:
        binding["tool_name"] = tool
    return {"Type": "Task", "AgentBinding": binding}


def test_plain_asl_is_a_workflow_named_after_its_file() -> None:
    document = workflow.load(json.dumps(flow(A=passing())), file="flows/night-shift.json")
    assert document.name == "night-shift"


def test_an_envelope_carries_the_name_and_the_definition() -> None:
    document = workflow.load(json.dumps(envelope(flow(A=passing()))), file="x.json")
    assert (document.name, document.definition) == ("Shop", flow(A=passing()))


def test_two_spellings_of_one_document_have_one_digest() -> None:
    raw = envelope(flow(A=passing()))
    compact = workflow.load(json.dumps(raw), file="a.json")
    spacious = workflow.load(json.dumps(dict(reversed(raw.items())), indent=4), file="b.json")
    assert compact.digest == spacious.digest


@pytest.mark.parametrize("text", ["[]", "7", "null", '"flow"'])
def test_what_is_no_object_is_told_so(text: str) -> None:
    assert [problem.code for problem in problems_of(text)] == ["WF_NOT_AN_OBJECT"]


def test_text_that_is_no_json_is_placed_by_line_and_column() -> None:
    (problem,) = problems_of('{\n  "StartAt": oops\n}')
    assert (problem.file, problem.line, problem.column) == ("flow.json", 2, 14)


def test_every_problem_is_told_at_once_with_file_line_and_column() -> None:
    text = """{
  "workflow_name": "",
  "surprise": 1,
  "workflow_input_schema": {"type": "objekt"},
  "asl": {
    "StartAt": "A",
    "States": {
      "A": {"Type": "Pass", "Next": "Nowhere"},
      "B": {"Type": "Succeed"}
    }
  }
}"""
    problems = [problem for problem in problems_of(text) if problem.is_error]
    assert {problem.path for problem in problems} >= {
        "/workflow_name",
        "/workflow_input_schema/type",
        "/asl/States/A/Next",
    }
    placed = {problem.path: (problem.file, problem.line) for problem in problems}
    assert placed["/workflow_name"] == ("flow.json", 2)
    assert placed["/workflow_input_schema/type"] == ("flow.json", 4)
    assert placed["/asl/States/A/Next"] == ("flow.json", 8)
    assert any("surprise" in problem.message for problem in problems)
    assert all(problem.column for problem in problems)


def test_a_workflow_without_states_and_envelope_lacks_both_required_fields() -> None:
    messages = [problem.message for problem in problems_of("{}")]
    assert any("workflow_name" in message for message in messages)
    assert any("asl" in message for message in messages)


def test_every_problem_of_an_input_schema_is_told() -> None:
    schema = {"type": "object", "required": "n", "properties": {"n": {"minimum": "one"}}}
    raw = envelope(flow(A=passing()), workflow_input_schema=schema)
    assert places(problems_of(json.dumps(raw))) == {
        ("WF_INPUT_SCHEMA", "/workflow_input_schema/required"),
        ("WF_INPUT_SCHEMA", "/workflow_input_schema/properties/n/minimum"),
    }


def test_warnings_alone_do_not_refuse_a_workflow() -> None:
    states = flow(
        C={"Type": "Choice", "Choices": [], "Default": "End"},
        Round=passing(Next="Round"),
        End={"Type": "Succeed"},
    )
    states["States"]["C"]["Choices"] = [{"Variable": "$", "NumericEquals": 1, "Next": "Round"}]
    endless = states
    document = workflow.load(json.dumps(endless), file="flow.json")
    assert [problem.severity for problem in document.warnings] == ["warning"]
    assert document.warnings[0].line is not None


def test_half_a_surrogate_pair_is_placed() -> None:
    text = '{"StartAt": "A", "States": {"A": {"Type": "Pass", "Result": "\\ud800", "End": true}}}'
    (problem,) = problems_of(text)
    assert (problem.code, problem.path) == ("ASL_JSON_NOT_UNICODE", "/States/A/Result")
    assert (problem.line, problem.column) == (1, 61)


def test_half_a_surrogate_pair_in_a_value_is_placed() -> None:
    raw = flow(A={"Type": "Pass", "Result": "\ud800", "End": True})
    (problem,) = workflow.validate(raw)
    assert (problem.code, problem.path) == ("WF_NOT_UNICODE", "/States/A/Result")


# -- bindings ------------------------------------------------------------------------------------


def test_a_known_skill_and_its_tool_are_accepted() -> None:
    workflow.load(json.dumps(flow(A=bound("search", tool="find"))), file="x.json", catalog=CATALOG)


def test_an_unknown_skill_is_told_with_the_closest() -> None:
    (problem,) = problems_of(json.dumps(flow(A=bound("serch"))), catalog=CATALOG)
    assert (problem.code, problem.path) == ("WF_UNKNOWN_SKILL", "/States/A/AgentBinding/skills/0")
    assert "skill.search@1.0.0" in problem.hint


def test_an_unknown_tool_is_told_with_those_there_are() -> None:
    (problem,) = problems_of(json.dumps(flow(A=bound("search", tool="fnd"))), catalog=CATALOG)
    assert (problem.code, problem.path) == ("WF_UNKNOWN_TOOL", "/States/A/AgentBinding/tool_name")
    assert "find" in problem.hint


def test_a_context_of_files_that_no_skill_permits_is_warned_of() -> None:
    asks = bound("search")
    asks["AgentBinding"]["context"] = {"kinds": ["code", "memory"]}
    (problem,) = workflow.validate(flow(A=asks), catalog=CATALOG)
    assert (problem.code, problem.path) == ("WF_CONTEXT_NO_FILES", "/States/A/AgentBinding/context")
    assert problem.severity == "warning" and "asks for code, and" in problem.message
    asks["AgentBinding"]["context"] = {"kinds": ["memory", "observation"]}
    assert workflow.validate(flow(A=asks), catalog=CATALOG) == []
    permits = replace(a_skill("search", "find"), permissions=Permissions(files=("src",)))
    asks["AgentBinding"]["context"] = {}
    assert workflow.validate(flow(A=asks), catalog=SkillCatalog([permits])) == []


def test_a_tool_of_a_skill_that_is_unknown_is_no_second_problem() -> None:
    problems = problems_of(json.dumps(flow(A=bound("serch", tool="find"))), catalog=CATALOG)
    assert [problem.code for problem in problems] == ["WF_UNKNOWN_SKILL"]


def test_bindings_inside_map_and_parallel_are_checked() -> None:
    inner = flow(Deep=bound("nothing-like-it"))
    raw = envelope(
        flow(
            Fan=mapping(flow(T=bound("serch"))),
            Both=parallel(flow(L=task()), flow(R=mapping(inner))),
        )
    )
    assert places(problems_of(json.dumps(raw), catalog=CATALOG)) == {
        ("WF_UNKNOWN_SKILL", "/asl/States/Fan/ItemProcessor/States/T/AgentBinding/skills/0"),
        (
            "WF_UNKNOWN_SKILL",
            "/asl/States/Both/Branches/1/States/R/ItemProcessor/States/Deep/AgentBinding/skills/0",
        ),
    }


def test_without_a_catalog_skills_are_not_looked_up() -> None:
    workflow.load(json.dumps(flow(A=bound("anything"))), file="x.json")


# -- input ---------------------------------------------------------------------------------------


def test_input_is_checked_in_all_places() -> None:
    schema = {
        "type": "object",
        "required": ["who"],
        "properties": {"items": {"items": {"type": "integer"}}},
    }
    raw = envelope(flow(A=passing()), workflow_input_schema=schema)
    document = workflow.load(json.dumps(raw), file="x.json")
    problems = document.check_input({"items": [1, "two", 3, "four"]})
    assert places(problems) == {
        ("WF_INPUT", ""),
        ("WF_INPUT", "/items/1"),
        ("WF_INPUT", "/items/3"),
    }


def test_any_input_will_do_without_a_schema() -> None:
    assert workflow.load(json.dumps(flow(A=passing())), file="x.json").check_input([1]) == []


@pytest.mark.parametrize("ref", ["#/$defs/none", "http://127.0.0.1:1/schema.json"])
def test_a_reference_out_of_the_input_schema_is_a_problem_and_fetches_nothing(ref: str) -> None:
    raw = envelope(flow(A=passing()), workflow_input_schema={"$ref": ref})
    document = workflow.load(json.dumps(raw), file="x.json")
    (problem,) = document.check_input({})
    assert problem.code == "WF_INPUT_SCHEMA"
    assert ref.removeprefix("#") in problem.message


def test_a_pattern_that_is_no_regular_expression_is_a_problem_of_the_schema() -> None:
    schema = {"properties": {"s": {"pattern": "("}}}
    [problem] = workflow.validate(envelope(flow(A=passing()), workflow_input_schema=schema))
    assert (problem.code, problem.path) == (
        "WF_INPUT_SCHEMA",
        "/workflow_input_schema/properties/s/pattern",
    )


def test_a_schema_that_refers_to_itself_without_end_is_a_problem() -> None:
    raw = envelope(flow(A=passing()), workflow_input_schema={"$ref": "#"})
    document = workflow.load(json.dumps(raw), file="flow.json")
    assert [problem.code for problem in document.check_input({})] == ["WF_INPUT_SCHEMA"]


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"text": {"pattern": "^(a+)+$"}}},
        {"$defs": {"d": {"allOf": [{"$ref": "#/$defs/e"}] * 40}, "e": {"pattern": "(a|aa)+#b"}},
         "properties": {"text": {"$ref": "#/$defs/d"}}},
    ],
)  # fmt: skip
def test_no_schema_of_the_input_holds_a_run_up(schema: dict[str, Any]) -> None:
    raw = envelope(flow(A=passing()), workflow_input_schema=schema)
    document = workflow.load(json.dumps(raw), file="x.json")
    started = time.process_time()
    (problem,) = document.check_input({"text": "a" * 40_000 + "#"})
    assert time.process_time() - started < 3
    assert problem.code == "WF_INPUT_SCHEMA"
    assert "too long" in problem.message


def test_an_input_that_lacks_is_told_with_what_it_is() -> None:
    schema = {
        "type": "object",
        "properties": {"nodes": {"type": "array", "description": "One for each\nturn"}, "n": {}},
        "required": ["nodes", "n"],
    }
    raw = {"workflow_name": "w", "workflow_input_schema": schema, "asl": flow(A=passing())}
    (problem,) = workflow.load(json.dumps(raw), file="w.json").check_input({})
    assert "`nodes`, `n`" in problem.message
    assert problem.hint.startswith("the workflow needs nodes (One for each turn), for example: ")
