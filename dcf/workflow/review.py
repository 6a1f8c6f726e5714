"""A workflow document looked at from all sides before anything runs: for planners."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dcf import asl
from dcf.problem import Problem, has_errors
from dcf.skills import Manifest, SkillCatalog, UnknownSkill
from dcf.workflow.document import task_states, validate
from dcf.workflow.graph import Graph, graph_of
from dcf.workflow.imports import Folders, Imports, read_imports

_GRAPH = frozenset(
    {
        "ASL_UNKNOWN_STATE",
        "ASL_UNREACHABLE_STATE",
        "ASL_NO_TERMINAL_STATE",
        "ASL_CYCLE_WITHOUT_EXIT",
        "ASL_NO_TRANSITION",
        "ASL_NEXT_AND_END",
    }
)
_REFERENCES = frozenset({"WF_UNKNOWN_SKILL", "WF_UNKNOWN_TOOL", "WF_UNKNOWN_AGENT", "WF_IMPORT"})


@dataclass(frozen=True, slots=True)
class AgentRef:
    """An agent that a Task names and no import has."""

    where: str
    ref: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Review:
    """``skills`` are those of each Task by its name, as far as they are known."""

    raw: Any
    problems: tuple[Problem, ...]
    imports: Imports
    graph: Graph
    skills: dict[str, tuple[Manifest, ...]]
    unknown_skills: tuple[str, ...]
    unknown_agents: tuple[AgentRef, ...]

    @property
    def is_valid(self) -> bool:
        return not has_errors(self.problems)

    def of(self, kind: str) -> list[Problem]:
        """The errors of a kind: ``graph``, ``references``, or ``schema`` for all others."""
        return [one for one in self.problems if one.is_error and kind_of(one) == kind]


def kind_of(problem: Problem) -> str:
    """Which side of a document a problem is about: ``graph``, ``references`` or ``schema``."""
    if problem.code in _GRAPH:
        return "graph"
    return "references" if problem.code in _REFERENCES else "schema"


def review(text: str, *, catalog: SkillCatalog, folders: Folders) -> Review:
    """Look at the workflow in ``text``. Reads the files that it imports; never raises for what it
    holds."""
    raw, unclean = asl.read_json(text, "workflow_json")
    document = raw if isinstance(raw, dict) else {}
    definition = document.get("asl", document)
    definition = definition if isinstance(definition, dict) else {}
    imports = read_imports(document, folders, catalog)
    skills, unknown = _skills(definition, catalog)
    # A skill that an import brings is known, though no run can load it without the catalog.
    found = [] if raw is None else validate(raw, catalog=catalog)
    agents = _agents(definition, imports) if document.get("af_imports") else []
    problems = [*found, *imports.problems, *(_unknown_agent(one) for one in agents)]
    placed = asl.with_others(unclean, asl.place(problems, text, "workflow_json"))
    return Review(
        raw,
        tuple(placed),
        imports,
        graph_of(definition),
        skills,
        tuple(unknown),
        tuple(agents),
    )


def _skills(
    definition: dict[str, Any], catalog: SkillCatalog
) -> tuple[dict[str, tuple[Manifest, ...]], list[str]]:
    found: dict[str, tuple[Manifest, ...]] = {}
    unknown: list[str] = []
    for where, binding in _bindings(definition):
        refs = binding.get("skills")
        manifests = []
        for ref in refs if isinstance(refs, list) else ():
            try:
                manifests.append(catalog.resolve(str(ref)))
            except UnknownSkill:
                unknown.append(str(ref))
        found[_name(where)] = tuple(manifests)
    return found, list(dict.fromkeys(unknown))


def _agents(definition: dict[str, Any], imports: Imports) -> list[AgentRef]:
    missing = []
    for where, binding in _bindings(definition):
        for field in ("agent_ref", "agent_template_ref"):
            ref = binding.get(field)
            if not isinstance(ref, dict):
                continue
            named = [ref[key] for key in ("id", "name") if isinstance(ref.get(key), str)]
            if named and not any(name in imports.agents for name in named):
                missing.append(AgentRef(f"{where}/AgentBinding/{field}", dict(ref)))
    return missing


def _unknown_agent(missing: AgentRef) -> Problem:
    return Problem(
        "WF_UNKNOWN_AGENT",
        f"no agent file that is imported has {missing.ref}",
        f"/asl{missing.where}",
        hint="import its .af file in af_imports, or correct the name",
    )


def _bindings(definition: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return [
        (where, state["AgentBinding"])
        for where, state in task_states(definition)
        if isinstance(state.get("AgentBinding"), dict)
    ]


def _name(where: str) -> str:
    """``/States/Pay`` -> ``Pay``; states inside others keep their place."""
    parts = where.split("/States/")
    name = parts[-1] if len(parts) == 2 else where
    return name.replace("~1", "/").replace("~0", "~")
