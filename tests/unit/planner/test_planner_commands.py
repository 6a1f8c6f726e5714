"""Commands of a runbook as tasks: what is bound, what a value can do to a command, and what a draft
permits."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_market import small_market

from dcf import asl
from dcf.planner import command_steps, compile_sop, decompile, write_command_draft
from dcf.planner.compiling.command_arguments import command_arguments
from dcf.planner.compiling.expression import Names
from dcf.planner.decompiling.command import command_of
from dcf.problem import has_errors
from dcf.skills import SkillCatalog, generate_all
from dcf.sop import (
    NotPlain,
    Sop,
    Step,
    Transfer,
    Value,
    draft,
    parse,
    print_markdown,
    print_yaml,
    read_argument_list,
)

RUNBOOK = """\
# Drain a node

## Steps

1. Look at it
   ```bash
   kubectl get node <node>
   kubectl describe node <node> # all of it
   ```
2. Drain it
   ```bash
   kubectl drain <node>
   kubectl get pods | grep <node>
   ```
3. Wait for it with `sleep 5`
"""


def _sop() -> Sop:
    return draft(RUNBOOK, "drain.md").sop


def test_a_step_is_taken_whole_and_its_commands_in_order() -> None:
    found = command_steps(_sop())
    tasks = [(step.number, step.runs) for step in found.sop.all_steps() if step.runs is not None]
    words = [["".join(map(str, one)) for one in runs.arguments[:3]] for _, runs in tasks if runs]
    assert [number for number, _ in tasks] == ["1", "1.1", "3"]
    assert words[0][:2] == ["kubectl", "get"] and words[1][:2] == ["kubectl", "describe"]
    assert words[2] == ["sleep", "5"]
    assert found.programs == ("kubectl", "sleep")
    why = {one.command.text: one.why for one in found.left}
    assert why["kubectl get pods | grep <node>"] == "a pipe"
    assert why["kubectl drain <node>"] == "another command of the step is no argument list"
    assert len(found.lists) + len(found.left) == sum(len(s.commands) for s in _sop().all_steps())


def test_a_command_needs_the_values_of_its_placeholders() -> None:
    text = "# Look\n\n1. Look at it\n   ```bash\n   kubectl get <node>\n   ```\n2. Tell `<owner>`\n"
    sop = draft(text, "look.md").sop
    found = command_steps(sop)
    assert {one.name: one.required for one in sop.inputs} == {"node": False, "owner": False}
    assert {one.name: one.required for one in found.sop.inputs} == {"node": True, "owner": False}


def test_a_step_that_somebody_answers_stays_with_a_person() -> None:
    sop = _sop()
    asks = replace(sop.steps[0], choices=("yes", "no"))
    found = command_steps(replace(sop, steps=(asks, *sop.steps[1:])))
    assert found.sop.steps[0] == asks
    assert {one.why for one in found.left if "node <node>" in one.command.text} >= {
        "somebody has to answer the step"
    }


def _argv(command: str, value: Any) -> Any:
    """The argv that a Task is given; the cause where it fails."""
    arguments = command_arguments(read_argument_list(command), Names(), None)
    machine = {
        "QueryLanguage": "JSONata",
        "StartAt": "Take",
        "States": {
            "Take": {"Type": "Pass", "Assign": {"x": "{% $states.input.x %}"}, "Next": "Run"},
            "Run": {"Type": "Pass", "Output": arguments, "End": True},
        },
    }
    ended = asl.interpret(
        asl.parse(machine),
        {"x": value},
        call_task=lambda _: pytest.fail("there is no Task"),
        clock=asl.VirtualClock(0.0),
        rng=Random(0),
    )
    return ended.output["argv"] if ended.error is None else ended.cause


@pytest.mark.parametrize(
    "value", ["; rm -rf /", "$(id)", "a b", "' \" `", "*", "{% 1 %}", "$states", "é", "a-b", 7]
)
def test_a_value_is_one_argument_whatever_it_says(value: Any) -> None:
    assert _argv("run <x>", value) == ["run", str(value)]
    assert _argv("run --to=<x>-1", value) == ["run", f"--to={value}-1"]


@pytest.mark.parametrize(
    ("command", "value", "cause"),
    [
        ("run <x>", "--output=/etc/passwd", "would be an option"),
        ("run <x>/y", "-y", "would be an option"),
        ("run <x>", "a\nb", "line breaks"),
        ("run <x>", "a\0b", "line breaks"),
        ("run --to=<x>", "a\rb", "line breaks"),
        ("run /data/<x>", "", "is empty"),
        ("run /data/<x>", "../etc", "leads out"),
        ("run /data/<x>/y", "a/..", "leads out"),
        ("run <x>", None, "no value"),
        ("run <x>", ["a", "b"], "no value"),
        ("run <x>", {"a": 1}, "no value"),
    ],
)
def test_a_value_that_would_be_more_fails_the_task(command: str, value: Any, cause: str) -> None:
    assert cause in _argv(command, value)


def test_behind_two_hyphens_and_in_an_option_a_value_may_begin_with_one() -> None:
    assert _argv("run -- <x>", "-y") == ["run", "--", "-y"]
    assert _argv("run --at=<x>", "-3") == ["run", "--at=-3"]


def test_a_text_that_looks_like_an_expression_is_none() -> None:
    assert _argv("run '{% $x %}'", 1) == ["run", "{% $x %}"]


def test_the_draft_permits_exactly_the_programs_of_the_text(tmp_path: Path) -> None:
    found = command_steps(_sop())
    sources, generated = tmp_path / "skills_src", tmp_path / "generated"
    assert write_command_draft(sources, generated, found).problems == []
    assert not has_errors(generate_all(sources, generated).problems)
    catalog = SkillCatalog.load(generated)
    (skill,) = [catalog.resolve(found.skill)]
    assert skill.permissions.commands == ("kubectl", "sleep")
    assert skill.permissions.risk_level == "high"
    assert found.covered_by(catalog)
    more = draft(RUNBOOK.replace("sleep 5", "shred disk"), "drain.md").sop
    assert not command_steps(more).covered_by(catalog)
    assert write_command_draft(sources, generated, found).problems[0].code == "SKILL_NEW_EXISTS"


def test_commands_are_told_and_compile_to_the_same_states(tmp_path: Path) -> None:
    found = command_steps(_sop())
    sources, generated = tmp_path / "skills_src", tmp_path / "generated"
    assert write_command_draft(sources, generated, found).problems == []
    assert not has_errors(generate_all(sources, generated).problems)
    market = replace(small_market(tmp_path), catalog=SkillCatalog.load(generated))
    plan = compile_sop(found.sop, market)
    assert plan.document is not None, [str(one) for one in plan.problems]

    states = {name: part for name, part in plan.document.items() if name != "plan"}
    text = print_markdown(decompile(states).sop)
    assert "Runs: `kubectl get node {{node}}`" in text
    read = parse(text, "told.md")
    assert read.sop is not None, [str(one) for one in read.problems]
    again = compile_sop(read.sop, market).document
    assert again is not None
    assert _commands(again) == _commands(plan.document)
    assert decompile(plan.document).sop.steps[0].runs == found.sop.steps[0].runs


def test_a_command_that_its_skill_may_not_run_is_no_plan(tmp_path: Path) -> None:
    text = "# T\n\n## Objective\n\nO.\n\n## Steps\n\n1. Look\n   - Skill: shop.price\n"
    sop = parse(f"{text}   - Runs: `ls -l`\n", "x.md").sop
    assert sop is not None

    plan = compile_sop(sop, small_market(tmp_path))

    assert plan.document is None
    assert [one.code for one in plan.problems] == ["PLAN_COMMAND"]


WORD = st.text(st.sampled_from("ab -'\"`$*#;|<>{}\\é=/"), max_size=8)
VALUE = st.sampled_from([("--to={{x}}-1",), ("{{x}}",), ("--",), ("{{y}}/z",)])


@given(st.lists(st.one_of(WORD.map(lambda one: (shlex.quote(one),)), VALUE), max_size=5))
def test_any_command_is_printed_as_it_reads_and_its_argv_is_read_back(
    words: list[tuple[str]],
) -> None:
    try:
        runs = read_argument_list(" ".join(["run", *(word for (word,) in words)]))
    except NotPlain:
        return
    reads = tuple(Transfer(name, name) for name in runs.placeholders)
    step = Step("1", "Do it", skills=("a.b",), reads=reads, runs=runs)
    sop = Sop("T", "O.", (step,), tuple(map(Value, runs.placeholders)))
    for printed in (print_markdown(sop), print_yaml(sop)):
        assert parse(printed, "x.md" if printed.startswith("#") else "x.yaml").sop == sop, printed
    state = {"Arguments": command_arguments(runs, Names(), None)}
    assert command_of(state, {"skills": ["a.b@1.0.0"]}) == runs


def _commands(document: dict[str, Any]) -> dict[str, Any]:
    states = document["asl"]["States"]
    return {name: one["Arguments"] for name, one in states.items() if "Arguments" in one}
