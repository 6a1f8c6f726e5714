"""A workflow document: the envelope (version 2.x) around an ASL definition, or plain ASL."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from control_plane import payload
from dcf import asl
from dcf.context_form import FILE_KINDS, KINDS
from dcf.problem import Problem, has_errors
from dcf.schema import SchemaUnusable, example_of, schema_of
from dcf.skills import SkillCatalog, UnknownSkill
from dcf.workflow.errors import InvalidWorkflow
from dcf.workflow.naming import TASK_WORKFLOW
from dcf.workflow.unruled_joins import warn_unruled
from dcf_agents.shipped import docs_page


@dataclass(frozen=True, slots=True)
class WorkflowDocument:
    """A valid workflow. ``raw`` is the envelope as given (plain ASL is wrapped in one)."""

    name: str
    raw: dict[str, Any]
    machine: asl.StateMachine
    warnings: tuple[Problem, ...] = ()

    @property
    def definition(self) -> dict[str, Any]:
        """The ASL definition."""
        found: dict[str, Any] = self.raw["asl"]
        return found

    @property
    def text(self) -> str:
        """The text that a run is pinned to. Members keep their order: it shows in texts made of
        values, such as those of ``States.JsonToString``."""
        return json.dumps(self.raw, ensure_ascii=False, separators=(",", ":"))

    @property
    def digest(self) -> str:
        """What the document says, whatever the order of members and the spacing: SHA-256."""
        text = json.dumps(self.raw, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        return payload.digest(text)

    def with_worker_deaths(self, limit: int | None) -> WorkflowDocument:
        """This document with another limit of deaths over a state; itself for None."""
        return self if limit is None else replace(self, raw={**self.raw, "worker_deaths": limit})

    def check_input(self, value: Any) -> list[Problem]:
        """Where ``value`` violates ``workflow_input_schema``; all places."""
        schema = self.raw.get("workflow_input_schema")
        if schema is None:
            return []
        try:
            faults = schema_of(schema).faults(value)
            others = [one for one in faults if list(one.absolute_schema_path) != ["required"]]
            lacks = _lacks(schema, value) if len(others) < len(faults) else []
            return lacks + [
                Problem(
                    "WF_INPUT",
                    f"the input violates workflow_input_schema: {error.message}",
                    _pointer(error.absolute_path),
                    hint=_schema_hint(error.schema),
                    file="input",
                )
                for error in others
            ]
        except SchemaUnusable as unusable:
            return [
                Problem(
                    "WF_INPUT_SCHEMA",
                    f"workflow_input_schema cannot be used: {unusable}",
                    "/workflow_input_schema",
                    hint=_UNUSABLE[unusable.kind],
                )
            ]


_UNUSABLE = {
    "invalid": "see JSON Schema 2020-12",
    "reference": "put it under $defs and refer to it as #/$defs/…",
    "endless": "let a $ref lead to a smaller part of the input",
    "slow": "write patterns without repeats inside repeats: ^a+$ instead of ^(a+)+$",
}


def load(text: str, *, file: str, catalog: SkillCatalog | None = None) -> WorkflowDocument:
    """Parse and validate the JSON in ``text``.

    With ``catalog``, skills and tools are resolved too. Raises InvalidWorkflow with every problem,
    each placed in ``file`` by line and column.
    """
    raw, unclean = asl.read_json(text, file)
    if raw is None and unclean:
        raise InvalidWorkflow(unclean)
    stem = Path(file).stem
    name = stem.removesuffix(".asl") or stem
    problems = validate(raw, catalog=catalog)
    if isinstance(raw, dict) and "asl" not in raw:
        problems += _check_name(name, "", "call the file otherwise")
    placed = asl.with_others(unclean, asl.place(problems, text, file))
    if has_errors(placed):
        raise InvalidWorkflow(placed)
    return build(raw, name=name, warnings=placed)


def document_of(definition: Mapping[str, Any], *, name: str) -> WorkflowDocument:
    """The document of a plain ``definition``, unwarned. Raises DefinitionError."""
    return build({"workflow_name": name, "asl": dict(definition)}, name=name, warnings=[])


def build(raw: Mapping[str, Any], *, name: str, warnings: list[Problem]) -> WorkflowDocument:
    """The document of a ``raw`` value that was validated; ``name`` is for plain ASL."""
    envelope: dict[str, Any]
    envelope = dict(raw) if "asl" in raw else {"workflow_name": name, "asl": dict(raw)}
    machine = asl.parse(envelope["asl"])
    return WorkflowDocument(envelope["workflow_name"], envelope, machine, tuple(warnings))


def validate(raw: Any, *, catalog: SkillCatalog | None = None) -> list[Problem]:
    """Every problem of a workflow document or plain ASL definition."""
    if not isinstance(raw, dict):
        found = type(raw).__name__
        return [
            Problem(
                "WF_NOT_AN_OBJECT",
                f"a workflow is a JSON object, found {found}",
                hint='write {"workflow_name": …, "asl": {"StartAt": …, "States": {…}}}',
            )
        ]
    not_text = list(_check_text(raw, ""))
    if "asl" not in raw and ("States" in raw or "StartAt" in raw):
        return not_text + asl.validate(raw) + _check_bindings(raw, "", catalog)
    problems = not_text + [
        Problem(
            "WF_SCHEMA", error.message, _pointer(error.absolute_path), _schema_hint(error.schema)
        )
        for error in Draft202012Validator(_schema()).iter_errors(raw)
    ]
    problems += _check_name(raw.get("workflow_name"), "/workflow_name", "call it otherwise")
    problems += _check_input_schema(raw.get("workflow_input_schema"))
    definition = raw.get("asl")
    if isinstance(definition, dict):
        problems += [
            _below("/asl", problem)
            for problem in asl.validate(definition) + _check_bindings(definition, "", catalog)
        ]
        problems += warn_unruled(raw)
    return problems


def _check_name(name: Any, path: str, how: str) -> list[Problem]:
    """What is wrong with the name of a workflow besides its form."""
    if not isinstance(name, str) or not name.startswith(TASK_WORKFLOW):
        return []
    message = (
        f"the workflow is called {name!r}; names that begin with {TASK_WORKFLOW!r} are those of"
        " tasks of sessions"
    )
    hint = f"{how}, for example {name.removeprefix(TASK_WORKFLOW) or 'task'!r}"
    return [Problem("WF_NAME_RESERVED", message, path, hint=hint)]


def task_states(
    definition: Mapping[str, Any], path: str = ""
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every Task state at any depth with its JSON pointer."""
    states = definition.get("States")
    if not isinstance(states, dict):
        return
    for name, state in states.items():
        if not isinstance(state, dict):
            continue
        here = f"{path}/States/{_escape(name)}"
        if state.get("Type") == "Task":
            yield here, state
        branches = state.get("Branches")
        for number, branch in enumerate(branches if isinstance(branches, list) else []):
            if isinstance(branch, dict):
                yield from task_states(branch, f"{here}/Branches/{number}")
        for field in ("ItemProcessor", "Iterator"):
            if isinstance(state.get(field), dict):
                yield from task_states(state[field], f"{here}/{field}")


def _check_bindings(
    definition: Mapping[str, Any], path: str, catalog: SkillCatalog | None
) -> list[Problem]:
    if catalog is None:
        return []
    problems: list[Problem] = []
    for where, state in task_states(definition, path):
        binding = state.get("AgentBinding")
        if not isinstance(binding, dict):
            continue
        skills = binding.get("skills")
        tools: list[str] = []
        complete, files = True, False
        for number, ref in enumerate(skills if isinstance(skills, list) else []):
            try:
                needed = catalog.with_dependencies(catalog.resolve(str(ref)))
                tools += [tool.name for skill in reversed(needed) for tool in skill.tools]
                files = files or any(skill.permissions.files for skill in needed)
            except UnknownSkill as unknown:
                complete = False
                problems.append(
                    Problem(
                        "WF_UNKNOWN_SKILL",
                        f"there is no skill {ref!r}"
                        if unknown.ref == str(ref)
                        else f"the skill {ref!r} needs {unknown.ref!r}, which is not there",
                        f"{where}/AgentBinding/skills/{number}",
                        hint=_closest(unknown.closest, "see `dcf skills validate`"),
                    )
                )
        tool = binding.get("tool_name")
        if isinstance(tool, str) and complete and tool not in tools:
            problems.append(
                Problem(
                    "WF_UNKNOWN_TOOL",
                    f"no skill of this state declares the tool {tool!r}",
                    f"{where}/AgentBinding/tool_name",
                    hint=_closest(tools, "add a skill that declares it"),
                )
            )
        if complete and not files:
            problems += _unpermitted(binding.get("context"), where)
    return problems


def _unpermitted(context: Any, where: str) -> Iterator[Problem]:
    """A warning where a Task asks for what stands in files, and no skill of it permits any."""
    kinds = context.get("kinds", KINDS) if isinstance(context, dict) else ()
    asked = [kind for kind in FILE_KINDS if isinstance(kinds, list | tuple) and kind in kinds]
    if asked:
        yield Problem(
            "WF_CONTEXT_NO_FILES",
            f"`context` asks for {' and '.join(asked)}, and no skill of this state permits files",
            f"{where}/AgentBinding/context",
            hint="name files or folders in `permissions.files` of a skill, or other `kinds`",
            severity="warning",
        )


def _check_input_schema(schema: Any) -> list[Problem]:
    if not isinstance(schema, dict):
        return []
    try:
        schema_of(schema)
    except SchemaUnusable as unusable:
        return _schema_problems(schema) or [
            Problem(
                "WF_INPUT_SCHEMA",
                f"workflow_input_schema cannot be used: {unusable}",
                "/workflow_input_schema",
                hint=_UNUSABLE[unusable.kind],
            )
        ]
    return []


def _schema_problems(schema: dict[str, Any]) -> list[Problem]:
    metaschema = Draft202012Validator(
        Draft202012Validator.META_SCHEMA, format_checker=Draft202012Validator.FORMAT_CHECKER
    )
    try:
        errors = list(metaschema.iter_errors(schema))
    except (RecursionError, OverflowError):  # of a pattern that cannot be compiled
        return []
    return [
        Problem(
            "WF_INPUT_SCHEMA",
            f"workflow_input_schema is no JSON Schema: {error.message}",
            "/workflow_input_schema" + _pointer(error.absolute_path),
            hint="see JSON Schema 2020-12",
        )
        for error in errors
    ]


def _check_text(value: Any, path: str) -> Iterator[Problem]:
    """Text that is no Unicode cannot be stored, and so not be run."""
    if isinstance(value, dict):
        for name, member in value.items():
            yield from _check_text(name, path)
            yield from _check_text(member, f"{path}/{_escape(name)}")
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _check_text(item, f"{path}/{number}")
    elif isinstance(value, str) and not value.isascii():
        half = next((letter for letter in value if "\ud800" <= letter <= "\udfff"), None)
        if half is not None:
            yield Problem(
                "WF_NOT_UNICODE",
                f"a lone surrogate (\\u{ord(half):04x}) is no text",
                path.encode("utf-8", "replace").decode(),
                hint="write the whole pair, or leave it out",
            )


@cache
def _schema() -> dict[str, Any]:
    file = resources.files("dcf.workflow") / "schemas" / "workflow.schema.json"
    schema: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return schema


def _below(prefix: str, problem: Problem) -> Problem:
    return Problem(
        problem.code, problem.message, prefix + problem.path, problem.hint, problem.severity
    )


def _escape(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def _pointer(parts: Any) -> str:
    return "".join(f"/{_escape(str(part))}" for part in parts)


def _lacks(schema: Mapping[str, Any], value: Mapping[str, Any]) -> list[Problem]:
    """The inputs that ``value`` must have and has not, in one problem with an example."""
    names = [name for name in schema["required"] if name not in value]
    members = schema.get("properties", {})
    example = json.dumps(
        {name: example_of(members.get(name)) for name in names}, ensure_ascii=False
    )
    message = f"the input lacks {', '.join(f'`{name}`' for name in names)}"
    told = [
        f"{name} ({' '.join(str(one['description']).split())})"
        for name in names
        if isinstance(one := members.get(name), dict) and one.get("description")
    ]
    what = ", ".join(told) or ("it" if len(names) == 1 else "them")
    hint = f"the workflow needs {what}, for example: {example}"
    return [Problem("WF_INPUT", message, hint=hint, file="input")]


def _schema_hint(schema: Any) -> str:
    description = schema.get("description") if isinstance(schema, dict) else None
    return str(description) if description else f"see {docs_page('reference/workflow.md')}"


def _closest(names: Any, otherwise: str) -> str:
    known = ", ".join(names)
    return f"did you mean: {known}" if known else otherwise
