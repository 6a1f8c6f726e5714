"""``dcf graph``: questions, declared or in words."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from rich.text import Text

from dcf.cli.answer import Answer, ErrorNote
from dcf.cli.exits import BAD_INPUT, FAILED
from dcf.cli.graph.accounts import changes_lines, run_tree, understood_lines, why_lines
from dcf.cli.graph.findings import (
    approvals_table,
    causes_list,
    chosen_list,
    compared_lines,
    deciders_table,
    periods_lines,
    runs_list,
    sessions_table,
    spreads_table,
    tools_table,
    trend_lines,
)
from dcf.cli.graph.reading import reading
from dcf.cli.graph.session_tables import delegations_table, patterns_list, session_tree
from dcf.cli.graph.tables import (
    alike_table,
    costs_table,
    crossing_table,
    insights_list,
    overview_table,
    ranking_table,
    runs_table,
)
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.knowledge import GRAPH, GraphSetting, load_embedder
from dcf.knowledge.asking import (
    GROUPS,
    QUESTIONS,
    Asked,
    Asker,
    Chosen,
    Names,
    Period,
    Question,
    account_of,
    chosen,
    groups_written,
    names_in,
    overview,
    ranking,
    runs_like,
    why,
)

_SHOWN: dict[str, Callable[[Any], list[Any]]] = {
    "skills": ranking_table,
    "changes": changes_lines,
    "why": why_lines,
    "similar": alike_table,
    "run": run_tree,
    "causes": causes_list,
    "listing": runs_list,
    "trend": trend_lines,
    "comparison": compared_lines,
    "periods": periods_lines,
    "tools": tools_table,
    "approvals": approvals_table,
    "deciders": deciders_table,
    "chosen": chosen_list,
    "durations": spreads_table,
    "retries": spreads_table,
    "sessions": sessions_table,
    "outcomes": crossing_table,
    "runs": runs_table,
    "costs": costs_table,
    "session": session_tree,
    "delegations": delegations_table,
    "patterns": patterns_list,
    "insights": insights_list,
    "stats": overview_table,
}
_FACTS = 5


async def ask_graph(
    settings: Settings, screen: Screen, words: str, groups: Sequence[str], since: int | None
) -> Answer:
    """What ``words`` ask for; else the facts nearest to them, and what can be asked."""
    where = chosen(groups)
    async with reading(settings, screen) as knowledge:
        asker = Asker(knowledge, _embedder, chooser=_chooser(settings))
        with screen.working("asking"):
            asked = await asker.ask(words, where, since=since)
            facts = [] if asked.understood else await _facts(settings, words, where)
    fields: dict[str, Any] = {
        "words": words,
        "understood": asked.understood,
        "scores": asked.matched.scores,
    }
    if asked.matched.question is None:
        return _not_understood(asked, fields, facts)
    name = asked.matched.question.name
    arguments = {key: list(found) for key, found in asked.matched.arguments.items()}
    period = asked.matched.period
    fields |= {
        "arguments": arguments,
        "by": list(asked.matched.by),
        "order": asked.matched.order,
        "choices": dict(asked.matched.choices),
        "period": _span(period),
        "against": _span(asked.matched.against),
        "unused": list(asked.matched.unused),
        "chosen_by": "model" if asked.matched.by_model else "rules",
        "result": _json(asked.result),
    }
    heading = [Text(line, "dim") for line in understood_lines(asked)]
    return Answer(fields, [*heading, *_SHOWN[name](asked.result)])


async def rank_skills(
    settings: Settings, screen: Screen, task_type: str | None, skill: str | None, since: int | None
) -> Answer:
    """Versions by measured success."""
    async with reading(settings, screen) as knowledge:
        known = await names_in(knowledge.graph)
        wanted: dict[str, str | None] = {"task_type": task_type, "skill": skill}
        meant = {
            argument: known.meant(name, argument) if name is not None else ()
            for argument, name in wanted.items()
        }
        several = {name: wanted[name] for name, found in meant.items() if len(found) > 1}
        if several:
            argument, said = next(iter(several.items()))
            return _ambiguous(argument, str(said), meant[argument])
        task, only = (next(iter(meant[name]), wanted[name]) for name in ("task_type", "skill"))
        found = await ranking(knowledge.graph, task_type=task, skill=only, since=since)
        unknown = None if found else _unknown(known, wanted)
    fields, lines = {"ranking": _json(found)}, ranking_table(found)
    if unknown is not None:
        return Answer(fields, lines, "error", unknown, BAD_INPUT)
    return Answer(fields, lines)


async def show_run(settings: Settings, screen: Screen, workflow_id: str) -> Answer:
    """A run as the graph tells it."""
    async with reading(settings, screen) as knowledge:
        account = await account_of(knowledge.graph, workflow_id)
    return Answer(account.to_json(), run_tree(account))


async def blame(settings: Settings, screen: Screen, workflow_id: str, state: str | None) -> Answer:
    """Why a run, or one of its states, failed."""
    async with reading(settings, screen) as knowledge:
        found = await why(knowledge.graph, workflow_id, state)
    return Answer(found.to_json(), why_lines(found))


async def find_alike(settings: Settings, screen: Screen, workflow_id: str, limit: int) -> Answer:
    """Runs like one."""
    async with reading(settings, screen) as knowledge:
        found = await runs_like(knowledge.graph, workflow_id, await _embedder(), limit=limit)
    return Answer({"run": workflow_id, "alike": _json(found)}, alike_table(found))


async def list_insights(settings: Settings, screen: Screen, *, ever: bool) -> Answer:
    """What analyses found."""
    async with reading(settings, screen) as knowledge:
        found = await knowledge.insights(valid=not ever)
    return Answer({"insights": _json(found)}, insights_list(found, ever=ever))


async def show_stats(settings: Settings, screen: Screen, groups: Sequence[str]) -> Answer:
    """What there is."""
    async with reading(settings, screen) as knowledge:
        found = await overview(knowledge.graph, chosen(groups))
        written = [] if found.groups else await groups_written(knowledge.graph)
    lines = overview_table(found)
    strange = [name for name in groups if name not in (GRAPH, *GROUPS, *written)]
    if not found.groups and strange:
        near = get_close_matches(strange[0], [GRAPH, *GROUPS, *written], 3)
        hint = f"did you mean {', '.join(near)}?" if near else "see `dcf graph stats` for all"
        note = ErrorNote("graph_unknown", f"The graph knows no group {strange[0]!r}.", hint)
        return Answer(found.to_json(), lines, "error", note, BAD_INPUT)
    return Answer(found.to_json(), lines)


async def _embedder() -> Any:
    return await asyncio.to_thread(load_embedder)


def _json(result: Any) -> Any:
    return [one.to_json() for one in result] if isinstance(result, list) else result.to_json()


def _ambiguous(argument: str, said: str, meant: Sequence[str]) -> Answer:
    kind = "kind of task" if argument == "task_type" else argument
    note = ErrorNote(
        "graph_ambiguous",
        f"{said!r} may be any of {len(meant)} names of a {kind}.",
        f"say which: {', '.join(meant[:10])}",
    )
    return Answer({"ranking": [], "meant": list(meant)}, [], "error", note, BAD_INPUT)


def _unknown(known: Names, wanted: Mapping[str, str | None]) -> ErrorNote | None:
    """What of ``wanted`` (argument -> name) the graph has never heard of; None where it knows all
    of it."""
    for argument, name in wanted.items():
        if name is None:
            continue
        names = {one for one, kinds in known.known.items() if argument in kinds}
        bare = {one.removeprefix("skill.") for one in names}
        if name in names | bare or name.removeprefix("skill.") in bare:
            continue
        near = [*get_close_matches(name, sorted(bare), 3), *known.near([name])]
        listed = ", ".join(dict.fromkeys(one for one in near if one in bare))
        hint = f"did you mean {listed}?" if listed else "`dcf graph skills` lists what was measured"
        kind = "kind of task" if argument == "task_type" else argument
        return ErrorNote("graph_unknown", f"The graph knows no {kind} {name!r}.", hint)
    return None


def _not_understood(asked: Asked, fields: dict[str, Any], facts: list[str]) -> Answer:
    matched = asked.matched
    missing = ", ".join(matched.missing)
    reason = f"it names no {missing} that the graph knows" if missing else "no question comes near"
    reason = matched.why_not or reason
    near = list(matched.nearest)
    lines: list[Any] = ["I can answer these:", *map(_as_in, near)]
    if facts:
        lines += ["", "Facts that come near:", *(Text(f"  {fact}") for fact in facts)]
    hint = "say it like one of the examples, with names as the graph has them"
    if asked.near:
        hint = f"names that come near: {', '.join(asked.near)}; {hint}"
    note = ErrorNote("graph_not_understood", f"this is no question I can answer: {reason}", hint)
    fields |= {
        "facts": facts,
        "near": list(asked.near),
        "unused": list(matched.unused),
        "questions": [
            {"answers": one.answers, "example": one.example} for one in _nearest_first(near)
        ],
        "problems": [{"code": "graph_not_understood", "message": text} for text in asked.problems],
    }
    return Answer(fields, lines, "error", note, FAILED)


def _span(period: Period | None) -> dict[str, int | None] | None:
    return {"since": period.since, "until": period.until} if period else None


def _as_in(question: Question) -> Text:
    return Text(f"  {question.answers}, as in: {question.example}")


def _nearest_first(near: Sequence[Question]) -> list[Question]:
    return [*near, *(one for one in QUESTIONS if one not in near)]


async def _facts(settings: Settings, words: str, where: Chosen) -> list[str]:
    """The facts nearest to ``words`` by Graphiti's search; none where that is not installed."""
    from dcf.knowledge.graphiti import GraphitiMissing, GraphitiSearch

    address = await GraphSetting.from_env(settings.env).address()
    try:
        async with GraphitiSearch.open(address.url) as search:
            return [fact.fact for fact in await search.facts(words, where, limit=_FACTS)]
    except GraphitiMissing:
        return []


def _chooser(settings: Settings) -> Any:
    """The model of the settings, None where there is none."""
    from dcf.agents.models import Models, named_model, parse_name
    from dcf.knowledge.asking import ModelChooser

    name = named_model(settings.env, role="reflector").name
    parsed = parse_name(name)
    if getattr(parsed, "is_rehearsal", False):
        return None
    return ModelChooser(Models(settings.env).of(name))
