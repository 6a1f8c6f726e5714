"""Changing the guidelines by hand, or by an agent's tool."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from dcf.advisors.reflector.board import GuidelinesBoard
from dcf.agents import AgentRuntime
from dcf.guidelines import (
    ITEMS,
    LABEL,
    Conflict,
    Guidelines,
    Item,
    ModelAdvice,
    Rules,
    SkillRecommendation,
    UserIntentTip,
    Warning,
    WorkflowPattern,
    conflicts,
    merge,
    parse_guidelines,
    parse_item,
    with_insights,
    without_expired,
)
from dcf.memory import RevisionConflict


@dataclass(frozen=True, slots=True)
class GuidelinesUpdated:
    """The document as it is now; ``warnings`` name what was not taken in, or had to go, and why."""

    planner_agent_id: str
    guidelines_block_id: str
    guidelines: Guidelines
    conflicts: tuple[Conflict, ...]
    warnings: tuple[str, ...]

    @property
    def revision(self) -> int:
        return self.guidelines.revision


async def update_reflector_guidelines(
    runtime: AgentRuntime,
    planner_agent_id: str,
    *,
    guidelines_json: str | None = None,
    add_skill_recommendation: str | None = None,
    add_workflow_pattern: str | None = None,
    add_user_intent_tip: str | None = None,
    add_warning: str | None = None,
    add_model_selection: str | None = None,
    add_insight: str | None = None,
    merge_mode: bool = True,
    expected_revision: int | None = None,
    now: int,
    rules: Rules | None = None,
) -> GuidelinesUpdated:
    """Take in items, each a JSON object in a text, and whole guidelines: with ``merge_mode`` beside
    what is there, without it in its place. What cannot be read, or says itself that it is not sure
    enough, is left out with a warning; what has expired goes. ``expected_revision`` is the one that
    the caller has seen.

    Raises UnknownAgent, UnknownBlock, InvalidGuidelines, and RevisionConflict if ``revision`` is
    another than expected.
    """
    kept = rules or Rules()
    warnings: list[str] = []
    whole = _whole(guidelines_json, warnings)
    added: dict[type[Item], str | None] = {
        SkillRecommendation: add_skill_recommendation,
        WorkflowPattern: add_workflow_pattern,
        UserIntentTip: add_user_intent_tip,
        Warning: add_warning,
        ModelAdvice: add_model_selection,
    }
    items = [item for kind in ITEMS for item in (whole.items(kind) if whole else ())]
    for kind, text in added.items():
        item = _item(kind, text, warnings)
        items += [] if item is None else [item]
    items = _sure(items, kept, warnings)
    insights = [*_insight(add_insight, warnings), *(whole.recent_insights if whole else ())]

    def changed(before: Guidelines) -> Guidelines:
        if expected_revision is not None and before.revision != expected_revision:
            raise RevisionConflict(
                what="the guidelines", expected=expected_revision, found=before.revision
            )
        current = without_expired(before, now, kept)
        if whole is not None and not merge_mode:
            blank = Guidelines(revision=before.revision, last_updated=before.last_updated)
            stay = [_as_it_was(current, item) for item in items]
            return with_insights(merge(blank, stay, now, kept), insights, kept)
        return with_insights(merge(current, items, now, kept), insights, kept)

    board = GuidelinesBoard(runtime, planner_agent_id)
    after, dropped = await board.change(changed, now)
    block = await runtime.block(planner_agent_id, LABEL)
    return GuidelinesUpdated(
        planner_agent_id,
        block.id,
        after,
        conflicts(after.skill_recommendations),
        (*warnings, *(f"no room for {what}" for what in dropped)),
    )


def _as_it_was(guidelines: Guidelines, item: Item) -> Item:
    """The item that says the same and is there already, with its evidence; else ``item``."""
    there = (one for one in guidelines.items(type(item)) if one.said == item.said)
    return next(there, item)


def _whole(text: str | None, warnings: list[str]) -> Guidelines | None:
    document = _json("guidelines_json", text, warnings)
    if document is None:
        return None
    guidelines, problems = parse_guidelines(document)
    warnings += [str(problem) for problem in problems]
    return guidelines if isinstance(document, Mapping) else None


def _item(kind: type[Item], text: str | None, warnings: list[str]) -> Item | None:
    document = _json(kind.LIST, text, warnings)
    if document is None:
        return None
    item, problems = parse_item(kind, document, f"/{kind.LIST}")
    warnings += [str(problem) for problem in problems]
    return item


def _insight(text: str | None, warnings: list[str]) -> list[Any]:
    document = _json("add_insight", text, warnings)
    return [] if document is None else [document]


def _sure(items: list[Item], rules: Rules, warnings: list[str]) -> list[Item]:
    sure = []
    for item in items:
        if item.confidence is not None and item.confidence <= rules.min_confidence:
            warnings.append(
                f"{item.LIST}: {item.said[0]!r} is {item.confidence:.2f} sure; guidelines are more "
                f"than {rules.min_confidence:.2f} sure"
            )
        else:
            # The evidence of what comes from outside is somebody's word: it is dated by us.
            sure.append(replace(item, last_evidence_at=None, insight=None))
    return sure


def _json(name: str, text: str | None, warnings: list[str]) -> Any:
    if text is None or not text.strip():
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as wrong:
        warnings.append(f"{name} is not JSON: {wrong}")
        return None
