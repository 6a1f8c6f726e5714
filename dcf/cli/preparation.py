"""Everything about a run that can be checked before anything is started."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from control_plane import BadDocument, BadName, check_workflow_id, payload
from dcf import asl
from dcf.cli.generated_skills import no_skills
from dcf.cli.input_source import read_file, read_input
from dcf.cli.model_check import model_troubles, named_troubles
from dcf.cli.settings import Settings
from dcf.cli.trouble import BadInput
from dcf.problem import Problem, has_errors
from dcf.skills import SkillCatalog
from dcf.tools import Registry, UnknownServer
from dcf.workflow import InvalidWorkflow, WorkflowDocument, blank_warning, further_pins, load

_LONGEST_SLUG = 48


@dataclass(frozen=True, slots=True)
class Prepared:
    """A run that may start. ``servers`` are the URLs of the tool servers that it will call;
    ``pins`` the digests of tools and prompts that it is submitted with."""

    document: WorkflowDocument
    value: Any
    workflow_id: str
    catalog: SkillCatalog
    servers: frozenset[str]
    pins: Mapping[str, str] = field(default_factory=dict)

    def warnings(self) -> Iterator[Problem]:
        """What is doubtful about the workflow, and about this input of it."""
        yield from self.document.warnings
        if blank := blank_warning(self.document, self.value):
            yield blank


def prepare(
    file: Path,
    given: str | None,
    workflow_id: str | None,
    settings: Settings,
    stub_url: str,
    *,
    models: bool = False,
    worker_deaths: int | None = None,
) -> Prepared:
    """Read and check workflow, input, id, skills and servers, and ``models`` where this process's
    own workers will ask them; ``worker_deaths`` takes the place of the document's own limit. Raises
    BadInput with all problems."""
    catalog = open_catalog(settings)
    document, problems = check_file(file, catalog, settings)
    if models:
        problems += model_troubles(settings)
    value = read_input(given)
    problems += value.problems
    if not value.problems:
        problems += value.place(_check_value(document, value.value))
    if workflow_id is not None:
        problems += _check_id(workflow_id)
    servers: frozenset[str] = frozenset()
    if document is not None:
        servers, unknown = _servers(document, file, catalog, settings, stub_url)
        problems += unknown
        if models:
            problems += _bound_models(document, file, settings)
    if document is None or has_errors(problems):
        raise BadInput(problems)
    document = document.with_worker_deaths(worker_deaths)
    run = workflow_id or fresh_id(document.name)
    pins = _pins(document, catalog, settings, problems)
    return Prepared(document, value.value, run, catalog, servers, pins)


def _pins(
    document: WorkflowDocument, catalog: SkillCatalog, settings: Settings, problems: list[Problem]
) -> dict[str, str]:
    """What the run is pinned to. Raises BadInput, where ``problems`` come before those of it."""
    if settings.skills is None:
        return {}
    from dcf.agents.templates import InvalidTemplate
    from dcf.worker import read_lock

    try:
        return further_pins(document, catalog, read_lock(settings.skills), settings.templates)
    except InvalidTemplate as invalid:
        raise BadInput([*problems, *invalid.problems]) from invalid


def open_catalog(settings: Settings) -> SkillCatalog:
    """The generated skills, an empty catalog where nothing was generated."""
    return SkillCatalog.load(settings.skills) if settings.skills else SkillCatalog([])


def check_file(
    file: Path, catalog: SkillCatalog, settings: Settings
) -> tuple[WorkflowDocument | None, list[Problem]]:
    """The workflow in ``file``, None with errors; and every problem, warnings too."""
    text, unreadable = read_file(file)
    if unreadable is not None:
        return None, [unreadable]
    try:
        document = load(text, file=str(file), catalog=catalog)
    except InvalidWorkflow as invalid:
        problems = list(invalid.problems)
        others = [p for p in problems if p.code != "WF_UNKNOWN_SKILL"]
        if settings.skills is None and len(others) < len(problems):
            # One cause, said once: without it every skill of every state would be unknown.
            problems = [no_skills(settings.generated), *others]
        return None, problems
    return document, list(document.warnings)


def fresh_id(name: str) -> str:
    """A new run id that begins with the workflow's name."""
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:_LONGEST_SLUG].rstrip("-")
    return f"{slug or 'run'}-{secrets.token_hex(4)}"


def _check_value(document: WorkflowDocument | None, value: Any) -> list[Problem]:
    problems = document.check_input(value) if document is not None else []
    try:
        payload.encode(value)
    except BadDocument as error:
        problems.append(Problem("CLI_INPUT", str(error), hint="give a smaller, plainer input"))
    return problems


def _check_id(workflow_id: str) -> list[Problem]:
    try:
        check_workflow_id(workflow_id)
    except BadName as error:
        hint = "leave --id out: a fitting one is made"
        return [Problem("CLI_ID", str(error), hint=hint, file="--id")]
    return []


def _servers(
    document: WorkflowDocument,
    file: Path,
    catalog: SkillCatalog,
    settings: Settings,
    stub_url: str,
) -> tuple[frozenset[str], list[Problem]]:
    """The URLs of the servers whose tools the workflow's skills declare."""
    refs = {ref for state in all_states(document.machine) for ref in _skills_of(state)}
    wanted = {tool.server_id: ref for ref in sorted(refs) for tool in catalog.resolve(ref).tools}
    if not wanted:
        return frozenset(), []
    env = {**settings.env, "DCF_STUB_URL": stub_url}
    registry = Registry.load(settings.generated / "registry.json", env)
    urls, problems = set(), []
    for server_id, ref in wanted.items():
        try:
            urls.add(registry.server(server_id).url or "")
        except UnknownServer as unknown:
            hint = f"skill {ref} calls it; declare it in registry.yaml, then `dcf skills generate`"
            problems.append(Problem("CLI_UNKNOWN_SERVER", str(unknown), hint=hint, file=str(file)))
    return frozenset(urls), problems


def _bound_models(document: WorkflowDocument, file: Path, settings: Settings) -> list[Problem]:
    """What keeps the models that bindings name from being asked."""
    bound = {
        (state.binding or {}).get("model"): state.name for state in all_states(document.machine)
    }
    return [
        replace(problem, file=str(file), message=f"state {state!r}: {problem.message}")
        for model, state in bound.items()
        if model
        for problem in named_troubles(model, settings)
    ]


def all_states(machine: asl.StateMachine) -> Iterator[asl.State]:
    """Every state at any depth."""
    for state in machine.states.values():
        yield state
        for inner in (*state.branches, *([state.processor] if state.processor else [])):
            yield from all_states(inner)


def _skills_of(state: asl.State) -> list[str]:
    return list((state.binding or {}).get("skills", ()))
