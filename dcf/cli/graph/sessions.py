"""``dcf graph``: questions about sessions."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from dcf.cli.answer import Answer
from dcf.cli.graph.reading import reading
from dcf.cli.graph.session_tables import delegations_table, patterns_list, session_tree
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.cli.trouble import BadInput
from dcf.knowledge.asking import (
    DELEGATION_DIMENSIONS,
    DelegationDimension,
    Handed,
    Narrowed,
    delegations_counted,
    session_account,
)
from dcf.knowledge.asking import patterns as patterns_of
from dcf.problem import Problem


async def show_session(settings: Settings, screen: Screen, session_id: str) -> Answer:
    """A session as the graph tells it."""
    async with reading(settings, screen) as knowledge:
        account = await session_account(knowledge.graph, session_id)
    return Answer(account.to_json(), session_tree(account))


async def count_delegations(
    settings: Settings,
    screen: Screen,
    by: Sequence[str],
    *,
    session: str | None,
    task_type: str | None,
    skill: str | None,
    since: int | None,
) -> Answer:
    """Delegated tasks by dimensions. Raises BadInput."""
    dimensions = [_dimension(one) for one in by]
    handed = Handed(Narrowed(task_type=task_type, skill=skill, since=since), session=session)
    async with reading(settings, screen) as knowledge:
        found = await delegations_counted(knowledge.graph, dimensions, handed)
    return Answer({"delegations": [one.to_json() for one in found]}, delegations_table(found))


def _dimension(name: str) -> DelegationDimension:
    """What to count by. Raises BadInput."""
    if name in DELEGATION_DIMENSIONS:
        return name
    near = get_close_matches(name, DELEGATION_DIMENSIONS, 1)
    all_ = f"there are {', '.join(DELEGATION_DIMENSIONS)}"
    hint = f"did you mean {near[0]}? {all_}" if near else all_
    message = f"delegations are not counted by {name!r}"
    raise BadInput([Problem("CLI_BY", message, hint=hint, file="--by")])


async def list_patterns(
    settings: Settings,
    screen: Screen,
    *,
    session: str | None,
    task_type: str | None,
    skill: str | None,
    since: int | None,
) -> Answer:
    """What analyses have measured."""
    async with reading(settings, screen) as knowledge:
        found = await patterns_of(
            knowledge.graph, session=session, task_type=task_type, skill=skill, since=since
        )
    told = [{"kind": one.KIND, **one.to_json()} for one in found]
    return Answer({"patterns": told}, patterns_list(found))
