"""``dcf session guidelines`` and ``advise``: what the session's conductor is told."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.table import Table
from rich.text import Text

from dcf.advisors.strategist import Remark
from dcf.cli.answer import Answer
from dcf.cli.outcome import who
from dcf.cli.preparation import open_catalog
from dcf.cli.screen import Screen
from dcf.cli.session.opening import open_desk
from dcf.cli.session.starting import named_texts
from dcf.cli.settings import Settings
from dcf.sessions.guidance import Guided, Said, open_guidance


@dataclass(frozen=True, slots=True)
class Advice:
    """The command line of ``dcf session advise``; ``skills`` and ``companions`` are
    ``type-of-task=name``."""

    session_id: str
    recommendation: str | None
    skills: Sequence[str]
    companions: Sequence[str]
    most_companions: int | None
    clear: bool

    def said(self) -> Said:
        """As the guidelines take it."""
        said: Said = {"clear_guidelines": self.clear}
        if self.recommendation is not None:
            said["recommendation"] = self.recommendation
        if self.skills:
            said["skill_preferences_json"] = json.dumps(named_texts(self.skills))
        if self.companions:
            said["companion_preferences_json"] = json.dumps(named_texts(self.companions))
        if self.most_companions is not None:
            bounds = {"max_companions": self.most_companions}
            said["companion_scaling_json"] = json.dumps(bounds)
        return said


async def show_guidelines(session_id: str, settings: Settings, screen: Screen) -> Answer:
    """The guidelines of the session's conductor, with their evidence."""
    async with open_desk(settings, screen) as desk:
        session = await desk.get(session_id)
        conductor_id = session.head.conductors[0]
        guided = await open_guidance(desk.sessions, settings.env).of(conductor_id)
    fields = {
        "session_id": session_id,
        "conductor_id": conductor_id,
        "strategist_id": guided.strategist_id,
        "revision": guided.revision,
        "analysed_tasks": session.head.analysed,
        "guidelines": guided.guidelines.to_json(),
    }
    return Answer(fields, _shown(conductor_id, guided, session.head.analysed))


async def advise(advice: Advice, settings: Settings, screen: Screen) -> Answer:
    """Write what a person says into the guidelines of the session's conductor. Raises
    UnknownSkill."""
    async with open_desk(settings, screen) as desk:
        conductor_id = await desk.conductor(advice.session_id)
        if advice.skills:
            catalog = open_catalog(settings)
            for ref in named_texts(advice.skills).values():
                catalog.resolve(ref)
        guidance = open_guidance(desk.sessions, settings.env)
        updated = await guidance.update(conductor_id, by=who(), **advice.said())
    fields = {
        "session_id": advice.session_id,
        "conductor_id": conductor_id,
        "revision": updated.guidelines.revision,
        "fields": list(updated.fields),
        "dropped": list(updated.dropped),
    }
    told = [f"{conductor_id} is told: {', '.join(updated.fields)}, revision {fields['revision']}."]
    return Answer(fields, [*told, *(f"left out for room: {one}" for one in updated.dropped)])


def _shown(conductor_id: str, guided: Guided, analysed: int) -> list[Any]:
    looked = f"analysed after {analysed} closed tasks" if analysed else "not analysed yet"
    head = f"Guidelines of {conductor_id}, revision {guided.revision}; this session: {looked}."
    lines = guided.guidelines
    settings = Table(title="what is looked up before each delegation", title_justify="left")
    for name in ("guideline", "for", "says"):
        settings.add_column(name, overflow="fold")
    for name in (
        "skill_preferences",
        "companion_preferences",
        "companion_scaling",
        "model_selection",
    ):
        for key, value in _flat(getattr(lines, name)):
            settings.add_row(name, Text(key), Text(value))
    return [
        head,
        settings,
        *_remarks("recommendations", lines.recommendations),
        *_remarks("warnings", lines.warnings),
    ]


def _flat(said: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    for key, value in said.items():
        if isinstance(value, Mapping):
            yield from ((f"{key} {inner}", text) for inner, text in _flat(value))
        else:
            yield key, str(value)


def _remarks(title: str, remarks: Iterable[Remark]) -> list[Table]:
    found = list(remarks)
    if not found:
        return []
    table = Table(title=title, title_justify="left")
    for name in ("says", "confidence", "seen", "evidence"):
        table.add_column(
            name, justify="right" if name in ("confidence", "seen") else "left", overflow="fold"
        )
    for remark in found:
        sure = "" if remark.confidence is None else f"{remark.confidence:.0%}"
        seen = str(remark.observations or "")
        table.add_row(Text(remark.text), sure, seen, Text(_evidence(remark.evidence)))
    return [table]


def _evidence(evidence: Any) -> str:
    if isinstance(evidence, Mapping):
        return ", ".join(f"{key} {_short(value)}" for key, value in evidence.items())
    return "" if evidence is None else str(evidence)


def _short(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
