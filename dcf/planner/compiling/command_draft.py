"""The draft of a skill that runs the commands of one runbook, for a person to read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dcf.planner.compiling.command_steps import RUN_COMMAND, CommandSteps
from dcf.skills import NewSkill, SourcePlan
from dcf.sop import ArgumentList
from dcf.tools.commands import PARAMS, RESULT, TOOL

_SERVER = RUN_COMMAND.partition(":")[0]
_STUB = {"exit_code": 0, "stdout": "the stub ran nothing", "stderr": "", "truncated": False}


def write_command_draft(root: Path, generated: Path, steps: CommandSteps) -> NewSkill:
    """Write the skill into the sources below ``root``; its tool and the server, on the stub, where
    they are not there. ``generated`` is where the schemas are. Nothing is overwritten: what is in
    the way is a problem, and with any nothing is written."""
    plan = SourcePlan(root, generated / "schemas")
    plan.create(f"skills/{steps.domain}/run_commands.skill.yaml", _skill_yaml(steps), "skill")
    if RUN_COMMAND not in plan.tools.tools:
        plan.create(f"tools/{_SERVER}.tools.yaml", _tools_yaml(), "tools")
        plan.index([f"{_SERVER}.tools.yaml"])
    plan.registry([_SERVER])
    if not plan.problems:
        plan.carry_out()
    return NewSkill(plan.problems, plan.written, plan.extended)


def _skill_yaml(steps: CommandSteps) -> str:
    title = steps.sop.title.replace("`", "")[:400]
    lines = [
        "apiVersion: skill/v1",
        "kind: Skill",
        "metadata:",
        f"  manifestId: skill.{steps.skill}@0.1.0",
        f"  name: {steps.skill}",
        "  version: 0.1.0",
        f"  description: {_flow(f'Run the commands of the runbook: {title}')}",
        f"  tags: [{steps.domain}]",
        "spec:",
        "  permissions:",
        "    egress: none",
        "    secrets: []",
        "    riskLevel: high",
        "    # Exactly the programs that stand in the runbook. Read what they can do.",
        f"    commands: {_flow(list(steps.programs))}",
        "  directives: |",
        f"    Call {TOOL} once, with exactly the argv and timeout_s of the task. Change nothing,",
        "    and try nothing else if it fails. Report what it returned.",
        "  tools:",
        f"    - ref: {RUN_COMMAND}",
        "  tests:",
        "    - name: the stub answers, and nothing is run",
        f"      tool: {RUN_COMMAND}",
        f"      arguments: {_flow({'argv': _example(steps.lists[0])})}",
        "      expect: { contains: { exit_code: 0 } }",
    ]
    return "\n".join(lines) + "\n"


def _tools_yaml() -> str:
    lines = [
        "apiVersion: tools/v1",
        "kind: ToolsRegistry",
        "servers:",
        f"  {_SERVER}:",
        "    description: Runs programs by argument lists, without a shell",
        "    tools:",
        f"      {TOOL}:",
        "        version: 0.1.0",
        "        description: Run a program with exactly these arguments, without a shell.",
        f"        params: {_flow(PARAMS)}",
        f"        result: {_flow(RESULT)}",
        "        defaults:",
        f"          response: {_flow(_STUB)}",
    ]
    return "\n".join(lines) + "\n"


def _example(runs: ArgumentList) -> list[str]:
    return [
        "".join(part if isinstance(part, str) else part.name.upper() for part in argument)
        for argument in runs.arguments
    ]


def _flow(value: Any) -> str:
    """JSON, which is YAML too, on one line."""
    return json.dumps(value, ensure_ascii=False)
