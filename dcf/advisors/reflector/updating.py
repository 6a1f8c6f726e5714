"""Changing the guidelines by hand, or by an agent's tool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dcf.advisors.reflector.board import GuidelinesBoard
from dcf.advisors.reflector.claims import claimed_insight, claims
from dcf.advisors.reflector.given_json import read_given
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
    """The document as it is now; ``warnings`` name what was not taken in, or had to go, and why.
    ``taken`` counts the items and insights that could be used; whether that changed anything says
    ``is_changed``: one that says what is there already, or less, does not."""

    planner_agent_id: str
    guidelines_block_id: str
    guidelines: Guidelines
    conflicts: tuple[Conflict, ...]
    warnings: tuple[str, ...]
    taken: int
    is_changed: bool

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
    what is there, without it in its place, but for what persons wrote. All of it is taken as the
    word of an agent (``claims``). What cannot be read, or says itself that it is not sure enough,
    is left out with a warning; what has expired goes. Where nothing of it can be used, nothing
    changes. ``expected_revision`` is the one that the caller has seen.

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
    items, doubts = claims(items, kept)
    warnings += doubts
    told = [*_insight(add_insight, warnings), *(whole.recent_insights if whole else ())]

    is_usable = bool(items or told or not warnings)
    revision = 0

    def changed(before: Guidelines) -> Guidelines:
        nonlocal revision
        revision = before.revision
        if expected_revision is not None and before.revision != expected_revision:
            raise RevisionConflict(
                what="the guidelines", expected=expected_revision, found=before.revision
            )
        if not is_usable:
            return before
        current = without_expired(before, now, kept)
        if whole is not None and not merge_mode:
            stay = [_as_it_was(current, item) for item in items]
            insights = [_insight_as_it_was(current, one) for one in told]
            return with_insights(merge(_of_persons(current), stay, now), insights, kept)
        insights = [_insight_as_it_was(current, one) for one in told]
        return with_insights(merge(current, items, now), insights, kept)

    board = GuidelinesBoard(runtime, planner_agent_id)
    after, dropped = await board.change(changed, now, kept)
    block = await runtime.block(planner_agent_id, LABEL)
    return GuidelinesUpdated(
        planner_agent_id,
        block.id,
        after,
        conflicts(after.skill_recommendations),
        (*warnings, *(f"no room for {what}" for what in dropped)),
        len(items) + len(told),
        after.revision != revision,
    )


def _as_it_was(guidelines: Guidelines, item: Item) -> Item:
    """The item that says the same and is there already, with its evidence; else ``item``."""
    there = (one for one in guidelines.items(type(item)) if one.said == item.said)
    return next(there, item)


def _insight_as_it_was(guidelines: Guidelines, insight: Any) -> Any:
    """``insight`` if the document has it already; else as somebody's word."""
    return insight if insight in guidelines.recent_insights else claimed_insight(insight)


def _of_persons(guidelines: Guidelines) -> Guidelines:
    """What persons wrote of it, and nothing else."""
    blank = Guidelines(revision=guidelines.revision, last_updated=guidelines.last_updated)
    return blank.with_items(
        {
            kind.LIST: [item for item in guidelines.items(kind) if item.written_by == "person"]
            for kind in ITEMS
        }
    )


def _whole(text: str | None, warnings: list[str]) -> Guidelines | None:
    document = read_given("guidelines_json", text, warnings)
    if document is None:
        return None
    guidelines, problems = parse_guidelines(document)
    warnings += [str(problem) for problem in problems]
    return guidelines if isinstance(document, Mapping) else None


def _item(kind: type[Item], text: str | None, warnings: list[str]) -> Item | None:
    document = read_given(kind.LIST, text, warnings)
    if document is None:
        return None
    item, problems = parse_item(kind, document, f"/{kind.LIST}")
    warnings += [str(problem) for problem in problems]
    return item


def _insight(text: str | None, warnings: list[str]) -> list[Any]:
    document = read_given("add_insight", text, warnings)
    if document is None or isinstance(document, Mapping):
        return [] if document is None else [document]
    warnings.append("add_insight is no JSON object")
    return []
