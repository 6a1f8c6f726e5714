"""What runs and sessions showed: an index that is searched, what was seen around something, all of
single ones, and changing them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC
from typing import Annotated, Any, Literal, cast

from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

from dcf.mcp.approval_token import check_approval_token
from dcf.mcp.envelope import BadArguments, Envelope
from dcf.mcp.help import Obvious
from dcf.mcp.observation_view import details_view, index_rows
from dcf.mcp.platform import Platform
from dcf.mcp.tool import tool
from dcf.memory import (
    Actor,
    BadChoice,
    Observation,
    ObservationChoice,
    ObservationDesk,
    Texts,
    details_of,
    short_id,
    way_back,
)
from dcf.problem import Problem

Workflow = Annotated[str | None, Obvious("Only of this workflow.")]
Project = Annotated[str | None, Obvious("Only of this project, a folder.")]
_IDS = Obvious("Ids, as in the rows, or addresses.")
Ids = Annotated[list[str], _IDS, Field(min_length=1, max_length=100)]
_ARGUMENTS = {"/types": "type", "/concepts": "concept", "/since": "during", "/until": "during"}
"""The arguments by the fields of a choice."""
Action = Literal["edit", "pin", "unpin", "forget", "promote"]
_TOLD: tuple[Action, ...] = ("edit", "pin", "promote")
"""What puts something before the agents of other runs, which only people should."""
_SHOWN = 50
"""Rows of what is changed at once."""
_DONE = {
    "edit": "edited",
    "pin": "pinned",
    "unpin": "unpinned",
    "forget": "forgotten",
    "promote": "promoted",
}


class Rows(Envelope, total=False):
    """Observations, one row for each."""

    rows: Annotated[
        list[str],
        Field(
            description="id, icon, type: title (kind of source, age, tokens of its details). The"
            " address is dcf://observation/ID. What a model found in a text, which may be wrong or"
            " what a stranger wants, has 'by a model' before the source."
        ),
    ]
    scores: Annotated[list[float], Field(description="How well each row fits the query.")]
    next_before: Annotated[str | None, Field(description="Pass it as before for older ones.")]


class Details(Envelope, total=False):
    """All of some observations."""

    observations: Annotated[
        list[dict[str, Any]],
        Field(
            description="{id, uri, type, text, concepts, workflow, project, pinned, by_model,"
            " at, times, used, tokens, seen}; seen are the addresses of the newest sources, with"
            " their times."
        ),
    ]


class Changed(Envelope, total=False):
    """What was changed, or would be."""

    rows: Annotated[list[str], Field(description="What is changed, as it is then.")]
    count: Annotated[int, Field(description="How many; rows has the first 50.")]
    text: Annotated[str, Field(description="What an edited one says, or the block.")]
    way_back: Annotated[str | None, Field(description="The command that takes it back.")]


class NewTexts(TypedDict, total=False):
    """What an observation is to say."""

    __pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[misc]

    title: str
    subtitle: str
    facts: list[str]
    narrative: str


class Which(TypedDict, total=False):
    """Observations that fit every filter."""

    __pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[misc]

    topic: str
    type: str
    concept: str
    workflow: str
    project: str
    source_id: str
    during: str


@tool("planner", "conductor", "worker", "companion", "strategist", "reflector")
async def observations_search(
    platform: Platform,
    query: Annotated[str, "Empty: the newest."] = "",
    type: Annotated[str | None, Obvious("Only of this type: decision, bugfix, …")] = None,
    concept: Annotated[str | None, Obvious("Only about this: gotcha, pattern, …")] = None,
    workflow: Workflow = None,
    project: Project = None,
    source_id: Annotated[str | None, Obvious("Only of this run, session or thread.")] = None,
    during: Annotated[str | None, "last week, 2026-11; else 90 days."] = None,
    before: Annotated[str | None, Obvious("next_before of the page before.")] = None,
    limit: Annotated[int, Obvious("At most so many."), Field(ge=1, le=200)] = 20,
) -> Rows:
    """What runs and sessions showed, as cheap rows: begin here. Then observations_timeline, and
    observations_details of the few that matter."""
    desk = await _desk(platform)
    choice = _choice(
        type=type,
        concept=concept,
        workflow=workflow,
        project=project,
        source_id=source_id,
        during=during,
    )
    if not query.strip():
        with _places():
            page = await desk.newest(choice, limit=limit, before=before or None)
        last = short_id(page.observations[-1].id) if page.more else None
        return {"rows": await index_rows(platform, page.observations), "next_before": last}
    if before:
        message = "goes with an empty query only: what fits best has no pages"
        raise BadArguments([Problem("MCP_ARGUMENT", message, "/before", hint="raise limit")])
    with _places():
        page = await desk.search(query, choice, limit=limit)
    rows = await index_rows(platform, page.observations)
    return {"rows": rows, "scores": [round(score, 4) for score in page.scores]}


@tool("planner", "conductor", "worker", "companion", "strategist", "reflector")
async def observations_timeline(
    platform: Platform,
    point: Annotated[str, "Id, address or time."],
    each: Annotated[int, Obvious("Rows before and after."), Field(ge=1, le=100)] = 5,
    workflow: Workflow = None,
    project: Project = None,
) -> Rows:
    """What was seen around a point, the oldest first, as rows."""
    desk = await _desk(platform)
    choice = ObservationChoice(days=None, workflows=_one(workflow), projects=_one(project))
    with _places():
        found = await desk.timeline(point, choice, each=each)
    return {"rows": await index_rows(platform, found.observations)}


@tool("planner", "conductor", "worker", "companion", "strategist", "reflector")
async def observations_details(platform: Platform, ids: Ids) -> Details:
    """All that some observations say."""
    found = await (await _desk(platform)).details(ids)
    return {"observations": [details_view(one) for one in found]}


@tool("strategist", "reflector", strict=True)
async def observations_change(
    platform: Platform,
    action: Annotated[Action, Obvious("What to do.")],
    ids: Annotated[list[str] | None, _IDS, Field(max_length=100)] = None,
    confirm: Annotated[bool, "Else only shown: look first."] = False,
    texts_json: Annotated[NewTexts | None, "edit: title, subtitle, facts, narrative"] = None,
    which_json: Annotated[
        Which | None, "forget, in place of ids: topic, project, during, …"
    ] = None,
    block: Annotated[str | None, Obvious("promote: the label.")] = None,
    agent_id: Annotated[str | None, Obvious("promote: whose block.")] = None,
    reason: Annotated[str, Obvious("Why, for the history.")] = "",
    approval_token: Annotated[str | None, Obvious("Secret of those who approve.")] = None,
) -> Changed:
    """Correct, pin or forget observations, or promote them into an agent's block."""
    ids = ids or []
    _refuse_misfits(action, ids, texts_json, which_json, block, agent_id)
    if confirm and action in _TOLD:
        check_approval_token(platform, approval_token, f"dcf memory observations {action}")
    desk = await _desk(platform)
    by = Actor("user", "mcp", reason or "observations_change")
    dry_run = not confirm
    if action == "forget":
        choice = replace(_choice(**cast("dict[str, str]", which_json or {})), days=None)
        with _places("/which_json"):
            gone = await desk.forget(ids, choice, by=by, dry_run=dry_run)
        return await _changed(platform, action, gone.observations, confirm, gone.events)
    if action == "promote":
        done = await desk.promote(ids, agent_id or "", block or "", by=by, dry_run=dry_run)
        events = () if done.event is None else (done.event,)
        answer = await _changed(platform, action, done.added, confirm, events)
        return {**answer, "text": done.block.value}
    if action == "edit":
        change = await desk.edit(ids[0], _texts(texts_json or {}), by=by, dry_run=dry_run)
    else:
        change = await desk.pin(ids, pinned=action == "pin", by=by, dry_run=dry_run)
    events = () if change.event is None else (change.event,)
    now = () if change.is_same else change.now
    answer = await _changed(platform, action, now, confirm, events)
    return {**answer, "text": details_of(change.now[0])} if action == "edit" else answer


FAMILY = (
    observations_search,
    observations_timeline,
    observations_details,
    observations_change,
)


async def _desk(platform: Platform) -> ObservationDesk:
    return ObservationDesk((await platform.home()).memory, UTC)


def _choice(
    *,
    topic: str | None = None,
    type: str | None = None,
    concept: str | None = None,
    workflow: str | None = None,
    project: str | None = None,
    source_id: str | None = None,
    during: str | None = None,
) -> ObservationChoice:
    """As clients say it: one word of each kind."""
    return ObservationChoice(
        types=_one(type),
        concepts=_one(concept),
        source_ids=_one(source_id),
        workflows=_one(workflow),
        projects=_one(project),
        since=during or None,
        until=during or None,
        topic=topic or None,
    )


@contextmanager
def _places(at: str = "") -> Iterator[None]:
    """Problems of a choice name the arguments that clients pass, below ``at``; an argument that is
    two fields of the choice is named once. Raises BadChoice."""
    try:
        yield
    except BadChoice as wrong:
        placed = [
            replace(one, path=f"{at}/{_ARGUMENTS.get(one.path or '', (one.path or '')[1:])}")
            for one in wrong.problems
        ]
        raise BadChoice("the choice of observations", list(dict.fromkeys(placed))) from wrong


def _texts(said: NewTexts) -> Texts:
    facts = said.get("facts")
    return Texts(
        title=said.get("title"),
        subtitle=said.get("subtitle"),
        facts=None if facts is None else tuple(facts),
        narrative=said.get("narrative"),
    )


async def _changed(
    platform: Platform,
    action: Action,
    changed: Sequence[Observation],
    confirm: bool,
    events: Sequence[int],
) -> Changed:
    done = _DONE[action]
    status = "unchanged" if not changed else done if confirm else f"would_be_{done}"
    answer: Changed = {
        "status": status,
        "rows": await index_rows(platform, changed[:_SHOWN]),
        "count": len(changed),
        "way_back": way_back(events),
    }
    if changed and not confirm:
        answer["hint"] = "nothing is changed yet; the same with confirm does it"
    return answer


def _refuse_misfits(
    action: Action,
    ids: Sequence[str],
    texts: NewTexts | None,
    which: Which | None,
    block: str | None,
    agent_id: str | None,
) -> None:
    """Raises BadArguments with every argument that the action lacks or has no use for."""
    problems = []
    given = {"texts_json": texts, "block": block, "agent_id": agent_id}
    wanted = {"edit": ("texts_json",), "promote": ("block", "agent_id")}.get(action, ())
    for name, value in given.items():
        if name in wanted and not value:
            problems.append(Problem("MCP_ARGUMENT", f"is required for {action}", f"/{name}"))
        if name not in wanted and value is not None:
            problems.append(Problem("MCP_ARGUMENT", f"is not for {action}", f"/{name}"))
    if which is not None and action != "forget":
        problems.append(Problem("MCP_ARGUMENT", f"is not for {action}", "/which_json"))
    problems += [
        Problem("MCP_ARGUMENT", "is empty, which would leave all", f"/which_json/{name}")
        for name, word in (which or {}).items()
        if not str(word).strip()
    ]
    if not ids and not which:
        hint = "or say which_json" if action == "forget" else ""
        problems.append(Problem("MCP_ARGUMENT", f"is required for {action}", "/ids", hint=hint))
    if action == "edit" and len(ids) > 1:
        problems.append(Problem("MCP_ARGUMENT", "one at a time is edited", "/ids"))
    if problems:
        raise BadArguments(problems)


def _one(value: str | None) -> tuple[str, ...]:
    return (value,) if value else ()
