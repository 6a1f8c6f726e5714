"""Sessions, delegations and patterns, as people read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.text import Text
from rich.tree import Tree

from dcf.cli.graph.tables import crossing_table
from dcf.cli.graph.wording import few, moment, share, sureness
from dcf.cli.wording import counted
from dcf.knowledge import DelegationFact, PatternFact
from dcf.knowledge.asking import Crossed, SessionAccount

_STYLES = {"succeeded": "green", "partial": "yellow", "cancelled": "dim"}


def session_tree(account: SessionAccount) -> list[Any]:
    """The session, its tasks in the order in which they ended, and what was measured."""
    told = account.session
    title = Text(account.session_id, "bold")
    if told is not None:
        until = f" to {moment(told.ended_at)}" if told.ended_at else ""
        title.append(f"  {told.state}", "")
        title.append(f"  {moment(told.created_at)}{until}, by {told.conductor_id}", "dim")
    tree = Tree(title)
    if told is not None and told.objective:
        tree.add(Text(told.objective))
    if told is not None and told.workflows:
        tree.add(Text(f"workflows delegated: {few(told.workflows)}", "dim"))
    for one in account.delegations:
        branch = tree.add(_task(one))
        for part in _parts(one):
            branch.add(part)
    lines: list[Any] = [tree]
    if account.counts.n:
        lines.append(f"tasks: {share(account.counts)} succeeded")
    if account.patterns:
        lines += ["Measured:", *patterns_list(account.patterns)]
    return lines


def delegations_table(found: Sequence[Crossed]) -> list[Any]:
    """Delegated tasks by dimensions, with what is known of their cost."""
    if not found:
        return ["No delegated task is like that."]
    lines = crossing_table(found)
    if "skill" in found[0].values:
        return [*lines, "A task with several skills counts for each of them."]
    n, priced = sum(one.counts.n for one in found), sum(one.priced for one in found)
    spent = sum(one.cost_usd for one in found)
    return [
        *lines,
        f"{counted(n, 'task', 'tasks')}; {priced:,} with a price: {spent:.4f} USD",
    ]


def patterns_list(found: Sequence[PatternFact]) -> list[Any]:
    """What was measured, with its evidence."""
    if not found:
        return ["Nothing like that was measured: analyses of sessions write what they measure."]
    lines: list[Any] = []
    for one in found:
        values = ", ".join(f"{name} {value:g}" for name, value in sorted(one.values.items()))
        bounds = f" ({one.interval[0]:g}-{one.interval[1]:g})" if one.interval else ""
        evidence = f"; tasks {few(one.evidence)}" if one.evidence else ""
        lines += [
            Text(one.statement or one.subject or one.id, "bold"),
            Text(
                f"  {one.KIND.replace('_', ' ')}, {_about(one)}: {values}{bounds}, of "
                f"{counted(one.observations, 'task', 'tasks')}, {sureness(one.confidence)} sure, "
                f"{moment(one.at)}{evidence}",
                "dim",
            ),
        ]
    return lines


def _about(one: PatternFact) -> str:
    about = (one.task_type, one.skill, one.companion_id, one.specialization)
    return ", ".join([*filter(None, about), f"in {one.session_id}"])


def _task(one: DelegationFact) -> Text:
    took = "" if one.started_at is None else f", {(one.finished_at - one.started_at) / 1000:.1f} s"
    return Text.assemble(
        (f"{one.task_id} ", "bold"),
        (one.status, _STYLES.get(one.status, "red")),
        (f"  {one.task_type}{took}", "dim"),
    )


def _parts(one: DelegationFact) -> list[Text]:
    parts = [Text(f"with {skill}") for skill in one.skills]
    if one.companion_id:
        special = f" ({one.specialization})" if one.specialization else ""
        parts.append(Text(f"by {one.companion_name or one.companion_id}{special}"))
    if one.attempts > 1:
        parts.append(Text(f"assigned {one.attempts} times"))
    if one.kind == "workflow":
        parts.append(Text(f"as a workflow: dcf graph run {one.run}"))
    if one.error_code:
        parts.append(Text(one.error_code, "red"))
    return parts
