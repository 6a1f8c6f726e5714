"""A run as a tree, why it failed, and what changed before, in words."""

from __future__ import annotations

from typing import Any

from rich.text import Text
from rich.tree import Tree

from dcf.cli.graph.wording import few, moment, share
from dcf.cli.wording import counted
from dcf.knowledge import Outcome
from dcf.knowledge.asking import ORDERS, Account, Asked, Changes, Failure, Helped, Suspect, Why

_HOW = {"retry": "more tries", "again": "a later visit", "version": "another version"}


def understood_lines(asked: Asked) -> list[str]:
    """What a question in words was taken for."""
    matched = asked.matched
    assert matched.question is not None
    parts = [f"{name} {' and '.join(found)}" for name, found in matched.arguments.items()]
    parts += [f"by {', '.join(matched.by)}"] if matched.by else []
    parts += [ORDERS[matched.order]] if matched.order else []
    parts += [f"{slot}: {value}" for slot, value in matched.choices.items()]
    for period in (matched.period, matched.against):
        if period is not None:
            until = moment(period.until) or "now"
            since = moment(period.since or None) or "the beginning"
            parts.append(f"{period.said}: {since} to {until}")
    return [
        f"Understood as: {matched.question.answers}" + (f" ({'; '.join(parts)})" if parts else "")
    ]


def run_tree(account: Account) -> list[Any]:
    """The run, its Tasks in the order in which they ended, what each ran with and came to."""
    end = account.end
    title = Text(account.workflow_id, "bold")
    if end is not None:
        version = f" {end.version}" if end.version else ""
        title.append(f"  {end.workflow_name}{version}: ", "")
        title.append(end.status, _style(end.status == "succeeded"))
        title.append(f"  {moment(end.ended_at)}, {end.duration_ms / 1000:.1f} s", "dim")
    tree = Tree(title)
    for redrive in account.ends[:-1]:
        tree.add(Text(f"ended before: {redrive.status} {moment(redrive.ended_at)}", "dim"))
    for outcome in account.outcomes:
        branch = tree.add(_state(outcome))
        for part in _parts(outcome):
            branch.add(part)
    if end is not None and end.error:
        tree.add(Text(f"{end.error}: {end.cause or ''}".rstrip(": "), "red"))
    return [tree]


def why_lines(found: Why) -> list[Any]:
    """Each failure with its cluster and what helped."""
    lines: list[Any] = []
    end = found.account.end
    if end is not None:
        said = f": {end.error} {end.cause or ''}".rstrip() if end.error else ""
        lines.append(Text(f"{found.account.workflow_id} {end.status}{said}", "bold"))
    for failure in found.failures:
        lines += _failure(failure)
    if not found.failures:
        lines.append("No Task of it failed for good; `dcf explain` and `dcf history` say more.")
    return lines


def changes_lines(found: Changes) -> list[Any]:
    """The fall, and what appeared before it."""
    looked = counted(found.looked_at, "outcome", "outcomes")
    fall = found.fall
    if fall is None:
        return [f"In {looked} the success rate never fell by more than chance explains."]
    lines: list[Any] = [
        Text(f"Since {moment(fall.at)} fewer succeed.", "bold"),
        f"  before: {share(fall.before)}",
        f"  after:  {share(fall.after)}",
    ]
    if fall.errors:
        errors = ", ".join(f"{name} ({n})" for name, n in fall.errors[:5])
        lines.append(f"  errors: {errors}; first in {few(fall.runs)}")
    lines.append("What first appeared in the week before, or since:")
    lines += [Text(f"  {_suspect(one)}") for one in fall.suspects[:10]]
    if not fall.suspects:
        lines.append("  nothing that outcomes tell of")
    return lines


def _suspect(one: Suspect) -> str:
    with_it, without = one.comparison.first, one.comparison.second
    sure = "significant" if one.significant else "may be chance"
    return (
        f"{one.kind} {one.value}, {moment(one.first_at)}: {with_it.failures} of {with_it.n} failed "
        f"with it, {without.failures} of {without.n} without (p {one.p_value:.2g}, {sure})"
    )


def _failure(failure: Failure) -> list[Any]:
    one = failure.outcome
    lines: list[Any] = [
        Text(f"{one.path} ({one.task_type}): {one.error}", "red"),
        Text(f"  {one.cause or 'no cause was given'}"),
        Text(
            f"  like this: {failure.cluster} of {failure.failed} failures of this task, in "
            f"{counted(failure.looked_at, 'outcome', 'outcomes')}"
            + (f"; also {few(failure.runs)}" if failure.runs else "")
        ),
    ]
    for task, n, runs in failure.elsewhere:
        lines.append(Text(f"  the same error in {task}: {n} times, as in {few(list(runs))}"))
    lines += [Text(f"  {_help(one)}") for one in failure.helped]
    if not failure.helped:
        lines.append(Text("  nothing else was tried yet", "dim"))
    return lines


def _help(one: Helped) -> str:
    what = f" {one.what}" if one.how == "version" else ""
    verdict = f", {one.against.verdict.replace('_', ' ')}" if one.against else ""
    as_in = f"; as in {few(one.runs)}" if one.runs else ""
    return f"{_HOW[one.how]}{what}: {share(one.counts)} went well{verdict}{as_in}"


def _state(outcome: Outcome) -> Text:
    visit = f"#{outcome.visit}" if outcome.visit > 1 else ""
    return Text.assemble(
        (f"{outcome.path}{visit} ", "bold"),
        (outcome.status, _style(outcome.ok)),
        (f"  {outcome.task_type}, {outcome.duration_ms / 1000:.1f} s", "dim"),
    )


def _parts(outcome: Outcome) -> list[Text]:
    parts = [Text(f"with {skill}") for skill in outcome.skills]
    if outcome.agent:
        model = f" ({outcome.model})" if outcome.model else ""
        parts.append(Text(f"by {outcome.agent}{model}"))
    if outcome.tries > 1:
        parts.append(Text(f"after {outcome.tries} tries"))
    if outcome.error:
        parts.append(Text(f"{outcome.error}: {outcome.cause or ''}".rstrip(": "), "red"))
    return parts


def _style(ok: bool) -> str:
    return "green" if ok else "red"
