"""``dcf graph``: questions, declared or in words."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from rich.text import Text

from dcf.cli.answer import Answer, ErrorNote
from dcf.cli.exits import FAILED
from dcf.cli.graph.accounts import changes_lines, run_tree, why_lines
from dcf.cli.graph.reading import reading
from dcf.cli.graph.tables import (
    alike_table,
    crossing_table,
    insights_list,
    overview_table,
    ranking_table,
)
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.knowledge import GraphSetting, load_embedder
from dcf.knowledge.asking import (
    QUESTIONS,
    Asked,
    Asker,
    Chosen,
    account_of,
    chosen,
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
    "outcomes": crossing_table,
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
    fields |= {
        "arguments": arguments,
        "by": list(asked.matched.by),
        "chosen_by": "model" if asked.matched.by_model else "rules",
        "result": _json(asked.result),
    }
    named = ", ".join(f"{key} {found[0]}" for key, found in arguments.items())
    heading = f"Understood as: {asked.matched.question.answers}" + (f" ({named})" if named else "")
    return Answer(fields, [Text(heading, "dim"), *_SHOWN[name](asked.result)])


async def rank_skills(
    settings: Settings, screen: Screen, task_type: str | None, skill: str | None, since: int | None
) -> Answer:
    """Versions by measured success."""
    async with reading(settings, screen) as knowledge:
        found = await ranking(knowledge.graph, task_type=task_type, skill=skill, since=since)
    return Answer({"ranking": _json(found)}, ranking_table(found))


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
    return Answer({"insights": _json(found)}, insights_list(found))


async def show_stats(settings: Settings, screen: Screen, groups: Sequence[str]) -> Answer:
    """What there is."""
    async with reading(settings, screen) as knowledge:
        found = await overview(knowledge.graph, chosen(groups))
    return Answer(found.to_json(), overview_table(found))


async def _embedder() -> Any:
    return await asyncio.to_thread(load_embedder)


def _json(result: Any) -> Any:
    return [one.to_json() for one in result] if isinstance(result, list) else result.to_json()


def _not_understood(asked: Asked, fields: dict[str, Any], facts: list[str]) -> Answer:
    missing = ", ".join(asked.matched.missing)
    reason = f"it names no {missing} that the graph knows" if missing else "no question comes near"
    lines: list[Any] = []
    if facts:
        lines = ["Facts that come near:", *(Text(f"  {fact}") for fact in facts), ""]
    lines += ["What can be asked:"]
    lines += [Text(f"  {one.answers}, as in: {one.example}") for one in QUESTIONS]
    hint = "say it like one of the examples, with names as the graph has them"
    note = ErrorNote("graph_not_understood", f"this is no question I can answer: {reason}", hint)
    fields |= {
        "facts": facts,
        "questions": [{"answers": one.answers, "example": one.example} for one in QUESTIONS],
        "problems": [{"code": "graph_not_understood", "message": text} for text in asked.problems],
    }
    return Answer(fields, lines, "error", note, FAILED)


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
