"""A reflection: read what happened, say what it shows, publish what planners should know."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import Any

from dcf.advisors.analysis import Analysis, Collector
from dcf.advisors.reflector.board import GuidelinesBoard
from dcf.advisors.reflector.fact import fact_of, known_insights, recent_insights
from dcf.advisors.reflector.following import Following
from dcf.advisors.reflector.insights import insights_of, retracted
from dcf.advisors.reflector.source import Sink, Source, WithRun
from dcf.evidence import HALF_LIFE_MS
from dcf.guidelines import (
    Conflict,
    Guidelines,
    Insight,
    Rules,
    conflicts,
    is_publishable,
    publish,
)
from dcf.knowledge import INSIGHT, ToldRun
from dcf.memory import PlaybookMatch


@dataclass(frozen=True, slots=True)
class SeenBefore:
    """``error`` failed ``n`` times, in ``runs`` (the last ones); the playbook of ``match`` fits it
    best."""

    error: str
    n: int
    runs: tuple[str, ...]
    match: PlaybookMatch

    def to_json(self) -> dict[str, Any]:
        """``{error, n, runs, playbook, pattern, resolution, owner, helped, failed, stale, score,
        why}``; ``playbook`` is its address."""
        known = self.match.playbook
        return {
            "error": self.error,
            "n": self.n,
            "runs": list(self.runs),
            "playbook": known.citation,
            "pattern": known.pattern,
            "resolution": known.resolution,
            "owner": known.owner,
            "helped": known.helped,
            "failed": known.failed,
            "stale": self.match.stale,
            "score": self.match.score,
            "why": self.match.reason,
        }


@dataclass(frozen=True, slots=True)
class Reflection:
    """``insights`` are what holds now, the surest first; of ``published`` ones (ids) planners are
    told. ``playbooks`` fit what failed. ``retracted`` hold no longer. ``given`` are insights of
    earlier reflections with what became of them. ``guidelines`` are those after it, None where
    there is no board."""

    analysis: Analysis
    insights: tuple[Insight, ...]
    published: tuple[str, ...]
    retracted: tuple[Insight, ...]
    given: tuple[Insight, ...]
    guidelines: Guidelines | None
    conflicts: tuple[Conflict, ...]
    warnings: tuple[str, ...]
    playbooks: tuple[SeenBefore, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """All but the analysis: ``{since, until, outcomes, workflows, insights, published,
        playbooks, retracted, followed, conflicts, revision}``."""
        followed = [one.to_json() for one in self.given if one.followed is not None]
        return {
            "since": self.analysis.since,
            "until": self.analysis.until,
            "outcomes": self.analysis.outcomes,
            "workflows": self.analysis.workflows,
            "insights": [insight.to_json() for insight in self.insights],
            "published": list(self.published),
            "playbooks": [one.to_json() for one in self.playbooks],
            "retracted": [insight.id for insight in self.retracted],
            "followed": followed,
            "conflicts": [conflict.words for conflict in self.conflicts],
            "revision": None if self.guidelines is None else self.guidelines.revision,
        }


async def reflect(
    source: Source,
    *,
    since: int,
    now: int,
    rules: Rules | None = None,
    board: GuidelinesBoard | None = None,
    sink: Sink | None = None,
    history_ms: int = HALF_LIFE_MS,
) -> Reflection:
    """Analyse what ended between ``since`` and ``now`` (ms), against ``history_ms`` before it.

    With a ``board`` what is sure enough is published there; with a ``sink`` every insight, and
    every change of one, goes to the graph. Interrupted at any point it is called again: it computes
    the same, and whatever was written is written once. Raises what ``source``, ``board`` and
    ``sink`` raise.
    """
    kept = rules or Rules()
    given = await _given(source, board)
    collector, following = Collector(since), Following(given)
    async for outcome in source.outcomes(since=since - history_ms):
        collector.add(outcome)
        following.add(outcome)
    given = tuple(following.followed(insight) for insight in given)
    # Of many outcomes that is seconds, in which others have work to do in this process.
    analysis = await asyncio.to_thread(collector.analysis, now)
    found = await asyncio.to_thread(insights_of, analysis, given, now, kept)
    over = retracted(analysis, given, found, now)
    published = tuple(insight.id for insight in found if is_publishable(insight, now, kept))
    guidelines, dropped = None, tuple[str, ...]()
    if board is not None:
        guidelines, dropped = await board.change(
            lambda before: publish(
                before, found, now, kept, retracted=[insight.id for insight in over]
            ),
            now,
            kept,
        )
    if sink is not None:
        await _keep(sink, found, over, given, now)
    return Reflection(
        analysis=analysis,
        insights=found,
        published=published,
        retracted=over,
        given=given,
        guidelines=guidelines,
        conflicts=conflicts(guidelines.skill_recommendations) if guidelines else (),
        warnings=tuple(f"no room in the guidelines for {what}" for what in dropped),
    )


async def reflect_on_file(
    run: ToldRun, known: Source | None, *, since: int, now: int
) -> Reflection:
    """The reflection on the run of an exported file beside what ``known`` has (None: nothing), from
    ``since`` (ms), or from the run's start if that is earlier, to ``now``.

    Nothing is published and nothing goes to the graph: anybody can make a file.
    """
    began = min(since, run.end.started_at)
    reflection = await reflect(WithRun(run, known), since=began, now=now)
    return replace(reflection, published=())


async def _given(source: Source, board: GuidelinesBoard | None) -> tuple[Insight, ...]:
    """The insights of earlier reflections: those in the graph, and those that were published and
    may still be on their way there."""
    known = known_insights(await source.insights())
    if board is None:
        return known
    ids = {insight.id for insight in known}
    recent = recent_insights(await board.read())
    return (*known, *(insight for insight in recent if insight.id not in ids))


async def _keep(
    sink: Sink,
    found: tuple[Insight, ...],
    over: tuple[Insight, ...],
    given: tuple[Insight, ...],
    now: int,
) -> None:
    again = {insight.id for insight in (*found, *over)}
    # First what became of advice that is neither found again nor over: what takes the place of such
    # advice has to be written after it.
    facts = [fact_of(one) for one in given if one.id not in again and one.followed]
    facts += [fact_of(insight) for insight in found]
    facts += [fact_of(insight, retracted_at=now) for insight in over]
    for fact in facts:
        await sink.put(INSIGHT, fact.id, fact.to_json())
