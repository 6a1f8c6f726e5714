"""Submission: a valid document and an input become a run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from control_plane import (
    APPROVAL_PROTOCOL,
    EXPRESSION_PROTOCOL,
    FIRST_PROTOCOL,
    JSON,
    LANGUAGE_PROTOCOL,
    SCHEMA_VERSION,
    FirstState,
    Payload,
    RunExists,
    Store,
    UnknownRun,
    payload,
)
from control_plane import keys as names
from dcf import asl
from dcf.problem import has_errors
from dcf.skills import SkillCatalog
from dcf.workflow.document import WorkflowDocument
from dcf.workflow.earlier_runs import speaks_jsonata
from dcf.workflow.effect_commit import takes_callback
from dcf.workflow.errors import InvalidWorkflow
from dcf.workflow.limits import state_limits
from dcf.workflow.run import execution_context, state_context

# What workers of protocol 1 refuse, or take for something else. A word in vain keeps them from a
# run that they could do, one that is missed lets them break it.
_SINCE_2 = (
    '"Assign"',
    ".waitForTaskToken",
    "$$.Task",
    '"DISTRIBUTED"',
    '"ItemReader"',
    '"ItemBatcher"',
    '"ResultWriter"',
    '"Tolerated',
    '"Label"',
    '"Credentials"',
)
# Workers of protocol 2 have no gate: they would make a call that a person has to approve.
_SINCE_3 = ('"AgentBinding"',)


async def submit(
    store: Store,
    document: WorkflowDocument,
    value: JSON,
    *,
    workflow_id: str,
    catalog: SkillCatalog | None = None,
    pins: Mapping[str, str] | None = None,
) -> bool:
    """Start a run of ``document`` with input ``value``; False when the same run is there already.

    With ``catalog`` the run is pinned to its skills; ``pins`` are further digests that are written
    beside theirs (``tool:server:tool``, ``prompt:name``).

    Raises InvalidWorkflow (the input violates its schema), RunExists, BadName, BadDocument. Nothing
    is written before everything is checked. Of two different submissions that race for one id the
    loser may leave its definition among the winner's blobs; it goes with the run.
    """
    names.check_workflow_id(workflow_id)
    problems = document.check_input(value)
    if has_errors(problems):
        raise InvalidWorkflow(problems)
    given = payload.encode(value)
    pinned = skill_pins(document, catalog) | dict(pins or {})
    text = document.text
    definition = Payload(text, payload.digest(text), len(text), blob=text)
    digest = payload.digest(f"{document.digest}/{given.digest}")
    machine = document.machine
    first = machine.states[machine.start_at]
    limits = state_limits(first, _first_visit(workflow_id, document, first, value))
    if await _is_there(store, workflow_id, digest):
        return False
    return await store.seed(
        workflow_id,
        digest=digest,
        meta=_meta(document, definition.digest, given, pinned) | _secret(store, document),
        pins=payload.digest(payload.to_text(dict(sorted(pinned.items())))) if pinned else None,
        states=[(names.encode_name(name), state.type) for name, state in machine.states.items()],
        start=FirstState(
            names.encode_name(first.name),
            first.type,
            given,
            limits,
            takes_callback(first),
        ),
        timeout_ms=int(machine.timeout_s * 1000) if machine.timeout_s is not None else None,
        protocol=_protocol(document),
        deaths=document.raw.get("worker_deaths"),
        blobs=[definition],
    )


def _first_visit(
    workflow_id: str, document: WorkflowDocument, first: asl.State, value: JSON
) -> asl.Visit:
    """What the first state sees, as far as its time limits can depend on it."""
    around = execution_context(workflow_id, document.name, value, 0)
    return asl.Visit(value, state_context(around, first, entered_at=0, retries={}))


def _protocol(document: WorkflowDocument) -> int:
    """The oldest protocol whose workers can take the run."""
    if speaks_jsonata(document.definition):
        # Workers of protocol 3 evaluate expressions by another engine, which sometimes differs.
        return EXPRESSION_PROTOCOL
    text = json.dumps(document.definition)
    if any(word in text for word in _SINCE_3):
        return APPROVAL_PROTOCOL
    return LANGUAGE_PROTOCOL if any(word in text for word in _SINCE_2) else FIRST_PROTOCOL


def _secret(store: Store, document: WorkflowDocument) -> dict[str, str]:
    """The key that signs the task tokens of a run, where it gives any out."""
    return {"callback_secret": store.new_id()} if ".waitForTaskToken" in document.text else {}


async def _is_there(store: Store, workflow_id: str, digest: str) -> bool:
    """Whether this run was submitted to its end before. Raises RunExists when another one was."""
    try:
        run = await store.run(workflow_id)
    except UnknownRun:
        return False
    if run.digest != digest:
        raise RunExists(workflow_id=workflow_id)
    return run.status != "pending"


def _meta(
    document: WorkflowDocument, definition: str, given: Payload, pins: Mapping[str, str]
) -> dict[str, Any]:
    """The public part of the meta document; the scripts add status and times."""
    machine = document.machine
    deps = _dependencies(document.definition)
    bindings = dict(_bindings(machine))
    budget = document.raw.get("budget")
    return {
        "workflow_name": document.name,
        "schema_version": SCHEMA_VERSION,
        "version": document.raw.get("version"),
        "definition": definition,
        "start_at": machine.start_at,
        "states": list(machine.states),
        "terminal_states": [name for name, dep in deps.items() if not dep["downstream"]],
        "deps": deps,
        "agents": {name: _agent(binding) for name, binding in bindings.items()},
        "skills": {name: list(binding.get("skills", ())) for name, binding in bindings.items()},
        "pins": dict(pins),
        "input": json.loads(given.stored),
        **({"budget": budget} if budget else {}),
    }


def _bindings(machine: asl.StateMachine, frame: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every AgentBinding at any depth by its state: ``Pay``, ``Fan[]/Pay``, ``Both[0]/Pay``."""
    for name, state in machine.states.items():
        path = names.inside(frame, name) if frame else name
        if state.binding is not None:
            yield path, state.binding
        if state.processor is not None:
            yield from _bindings(state.processor, f"{names.inside(frame, name)}[]")
        for number, branch in enumerate(state.branches):
            yield from _bindings(branch, f"{names.inside(frame, name)}[{number}]")


def skill_pins(document: WorkflowDocument, catalog: SkillCatalog | None) -> dict[str, str]:
    """manifestId -> digest of every skill that a run of ``document`` is submitted with, and of
    those they need; nothing without a catalog. Raises UnknownSkill."""
    if catalog is None:
        return {}
    groups = [binding.get("skills", ()) for _, binding in _bindings(document.machine)]
    refs = dict.fromkeys(ref for group in groups for ref in group)
    skills = (catalog.with_dependencies(catalog.resolve(ref)) for ref in refs)
    return {manifest.manifest_id: manifest.digest for group in skills for manifest in group}


def _agent(binding: dict[str, Any]) -> str | None:
    ref = binding.get("agent_ref") or binding.get("agent_template_ref") or {}
    return ref.get("id") or ref.get("name")


def _dependencies(definition: dict[str, Any]) -> dict[str, dict[str, list[str]]]:
    """Who may follow whom, for people to read: choreography does not use it."""
    states = definition["States"]
    deps: dict[str, dict[str, list[str]]] = {
        name: {"upstream": [], "downstream": []} for name in states
    }
    for name, state in states.items():
        for target in dict.fromkeys(_targets(state)):
            deps[name]["downstream"].append(target)
            deps[target]["upstream"].append(name)
    return deps


def _targets(state: dict[str, Any]) -> Iterator[str]:
    for field in ("Next", "Default"):
        if field in state:
            yield state[field]
    for field in ("Choices", "Catch"):
        for rule in state.get(field, ()):
            yield rule["Next"]
