"""What a run that is over taught: analysed by code, published, and kept with its planning."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from control_plane import Outbox, RunDocument, Store
from dcf.advisors import Reflection, open_board, reflect, reflect_on_file, report_of, with_playbooks
from dcf.guidelines import DAY_MS, Insight
from dcf.knowledge import (
    GraphSetting,
    Knowledge,
    KnowledgeError,
    Privacy,
    RunFact,
    ToldRun,
    tell_shelved,
)
from dcf.mcp.envelope import Refused
from dcf.mcp.graph_access import open_graph
from dcf.mcp.platform import Platform
from dcf.mcp.roots import confined
from dcf.memory import MemoryProblem, project_of_runs
from dcf.planner import PlanningProblem
from dcf.workflow import is_file_name, read_run_file, shelve

SINCE_MS = 7 * DAY_MS
"""What ended since then is analysed, and the run, however long it took."""
MOST = 20
"""So many insights are told; `dcf reflect` has all of them."""


@dataclass(frozen=True, slots=True)
class NamedRun:
    """``store`` has its documents. ``told`` is what a file tells, None for a run by its id."""

    store: Store
    document: RunDocument
    told: ToldRun | None = None


async def run_or_file(platform: Platform, given: str, parameter: str) -> NamedRun:
    """The run that ``given`` means. Raises UnknownRun, BadRunFile, and Refused for a file that
    cannot be read or lies outside of the workspace."""
    if not is_file_name(given):
        store = await platform.store_for(given)
        return NamedRun(store, await store.run(given))
    workspace = platform.config.workspace
    file = confined(given, workspace, (workspace,), parameter)
    try:
        export = await asyncio.to_thread(read_run_file, file)
    except OSError as error:
        message = f"{file.name} cannot be read: {error.strerror or error}"
        hint = "a file of `dcf runs export` in the workspace, or the id of a run"
        raise Refused("file_unreadable", message, hint=hint) from error
    store = await shelve(export)
    document = await store.run(export.run.workflow_id)
    told = await tell_shelved(store, document, Privacy.from_env(platform.config.env))
    return NamedRun(store, document, told)


@dataclass(frozen=True, slots=True)
class Learned:
    """``fields`` are what a client gets; empty where nothing was analysed, as ``warnings`` say."""

    fields: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


async def learn_from(platform: Platform, named: NamedRun, planner_agent_id: str) -> Learned:
    """Reflect on the run and what else ended lately, tell the planner what is sure enough, and keep
    it with the planning. Called again it finds the same, and publishes nothing twice; of a file
    nothing is published or kept. Raises UnknownAgent, Refused where the graph is away or does not
    know the run, ControlPlaneError, OSError."""
    if named.told is not None:
        return await _learn_from_file(platform, named.told)
    run = named.document
    if GraphSetting.from_env(platform.config.env).mode == "off":
        why = "nothing was analysed: the graph is off; unset DCF_GRAPH where the server is started"
        return Learned(warnings=(f"{why}, then `dcf graph sync --all`, and trigger it again",))
    home = await platform.home()
    now = round(platform.clock() * 1000)
    board = await open_board(home.runtime, planner_agent_id)
    try:
        async with open_graph(platform) as (knowledge, waiting):
            end = await _end(knowledge, run, waiting)
            since = min(now - SINCE_MS, end.started_at)
            sink = Outbox(platform.backend)
            reflection = await reflect(knowledge, since=since, now=now, board=board, sink=sink)
    except KnowledgeError as away:
        raise _refused(away) from away
    reflection = await _with_playbooks(platform, reflection, end)
    warnings = list(reflection.warnings)
    if waiting:
        warnings.append(f"{waiting} entries of the outbox were not in the graph yet")
    try:
        _keep(platform, run.workflow_id, reflection)
    except PlanningProblem as unkept:
        # It is published, and so not lost.
        warnings.append(f"it is not noted in the planning: {unkept}")
    return Learned(_told(reflection), tuple(warnings))


async def _learn_from_file(platform: Platform, told: ToldRun) -> Learned:
    now = round(platform.clock() * 1000)
    since = now - SINCE_MS
    unpublished = "nothing is published of a file: `dcf runs restore` puts its run back"
    if GraphSetting.from_env(platform.config.env).mode == "off":
        alone = "the graph is off: the run was analysed alone"
        reflection = await reflect_on_file(told, None, since=since, now=now)
        reflection = await _with_playbooks(platform, reflection, told.end)
        return Learned(_told(reflection), (unpublished, alone, *reflection.warnings))
    try:
        async with open_graph(platform) as (knowledge, _):
            reflection = await reflect_on_file(told, knowledge, since=since, now=now)
    except KnowledgeError as away:
        raise _refused(away) from away
    reflection = await _with_playbooks(platform, reflection, told.end)
    return Learned(_told(reflection), (unpublished, *reflection.warnings))


async def _with_playbooks(platform: Platform, reflection: Reflection, end: RunFact) -> Reflection:
    """The reflection with what is known of its failures, where that is kept here. What keeps the
    memory from being read keeps nobody from the rest."""
    home = await platform.home()
    project = project_of_runs(platform.config.generated)
    try:
        return await with_playbooks(reflection, end, home.memory, project)
    except MemoryProblem as problem:
        told = f"playbooks were not looked at: {problem}"
        return replace(reflection, warnings=(*reflection.warnings, told))


def _refused(away: KnowledgeError) -> Refused:
    hint = f"{away.hint}; trigger it again then" if away.hint else "trigger it again"
    return Refused(away.code, away.message, hint=hint)


async def _end(knowledge: Knowledge, run: RunDocument, waiting: int) -> RunFact:
    """How the run ended, as the graph has it. Raises Refused where it does not know it."""
    ends = [one async for one in knowledge.runs(workflow_id=run.workflow_id)]
    if ends:
        return ends[-1]
    hint = "`dcf graph sync --all` where the server runs, then trigger it again"
    if run.finalized_at is None:
        hint = "finalize_workflow, then trigger it again"
    elif waiting:
        hint = f"{waiting} entries still wait to be written: trigger it again"
    raise Refused("run_not_told", f"the graph does not know run {run.workflow_id} yet", hint=hint)


def _told(reflection: Reflection) -> dict[str, Any]:
    whole = reflection.to_json()
    published = set(reflection.published)
    summary = report_of(reflection).sections[0].text
    return {
        "summary": [*summary, *_more(len(reflection.insights))],
        "insights": [
            {**_brief(one), "published": one.id in published} for one in reflection.insights[:MOST]
        ],
        "followed": [
            {**_advice(one), **asdict(one.followed)}
            for one in reflection.given
            if one.followed is not None
        ],
        **{name: whole[name] for name in ("retracted", "conflicts", "outcomes")},
        **({"playbooks": whole["playbooks"][:MOST]} if whole["playbooks"] else {}),
        **({} if whole["revision"] is None else {"revision": whole["revision"]}),
    }


def _more(count: int) -> list[str]:
    return [f"{count - MOST} more insights: `dcf reflect`."] if count > MOST else []


def _advice(insight: Insight) -> dict[str, Any]:
    return {"id": insight.id, "condition": dict(insight.condition), "prefer": insight.prefer}


def _brief(insight: Insight) -> dict[str, Any]:
    """An insight as a model's context has room for it."""
    evidence = insight.evidence
    return {
        **_advice(insight),
        "category": insight.category,
        "avoid": insight.avoid,
        "reason": insight.reason,
        "confidence": round(insight.confidence, 4),
        "severity": insight.severity,
        "outcomes": evidence.outcomes,
        "workflows": evidence.workflows,
        "runs": list(evidence.runs[-3:]),
        "conflicts_with": list(insight.conflicts_with),
    }


def _keep(platform: Platform, workflow_id: str, reflection: Reflection) -> None:
    whole = reflection.to_json()
    insights, published = len(whole["insights"]), len(whole["published"])
    note = (
        f"{whole['outcomes']} outcomes of {SINCE_MS // DAY_MS} days, {insights} insights, "
        f"{published} of them are guidelines (revision {whole['revision']})"
    )
    kept = {
        "status": "done",
        "outcomes": whole["outcomes"],
        "insights": insights,
        "published": whole["published"],
        "revision": whole["revision"],
    }
    platform.plans.reflected(workflow_id, kept, note)
