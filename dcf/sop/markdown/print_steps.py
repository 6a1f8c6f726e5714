"""Steps as numbered list items that read back as equal steps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dcf.sop.direction import CONTINUE
from dcf.sop.kind import kind_of
from dcf.sop.language.approval_text import demand_no_approval, print_person
from dcf.sop.language.budget_text import print_budget
from dcf.sop.language.choices_text import print_choices
from dcf.sop.language.clause import Clause
from dcf.sop.language.condition_print import print_condition
from dcf.sop.language.direction_text import print_direction, print_error
from dcf.sop.language.duration import print_duration
from dcf.sop.language.join_text import print_join
from dcf.sop.language.labels import steers
from dcf.sop.language.loop_text import print_loop
from dcf.sop.language.phrase import Unreadable
from dcf.sop.language.retry_text import print_retry
from dcf.sop.language.run_text import print_run
from dcf.sop.language.sentences import read_sentence, split_sentences
from dcf.sop.language.transfer_text import print_transfer
from dcf.sop.language.wait_text import print_wait
from dcf.sop.markdown.blocks import is_fence
from dcf.sop.markdown.items import starts_item
from dcf.sop.markdown.outline import is_structure
from dcf.sop.markdown.said import seems_conditional
from dcf.sop.markdown.title import split_title
from dcf.sop.numbers import full_number
from dcf.sop.prose import blocks
from dcf.sop.step import Branch, Handler, Step


def literal(text: str, taken: bool) -> str:
    """``text``; with a backslash before it when it would be taken for more than text."""
    return f"\\{text}" if taken else text


def starts_badly(text: str) -> bool:
    """Whether ``text`` cannot stand at the beginning of a line, or behind a marker, as it is."""
    return is_structure(text) or starts_item(text) or text.startswith(("|", ">"))


def print_steps(steps: Sequence[Step], margin: str = "", parent: str = "") -> Iterator[str]:
    """The lines of one list, ``margin`` before each, inside the step or lane ``parent``."""
    for index, step in enumerate(steps):
        if index and not margin:
            yield ""
        yield from _step(step, margin, parent)


def _step(step: Step, margin: str, parent: str) -> Iterator[str]:
    inner = f"{margin}   "
    title, in_title = _title(step)
    left = _Left(in_title)
    lines = [line for clause, line in _clauses(step) if not left.takes(clause)]
    clauses = [clause for clause, _ in _clauses(step)]
    inferred = kind_of(step.title, in_title, clauses, step.text)
    if inferred == "task" and any(lane.title or len(lane.steps) != 1 for lane in step.lanes):
        inferred = "parallel"
    if inferred != step.kind:
        lines.insert(0, f"Kind: {step.kind}")
    yield f"{margin}{_short(step.number, parent)}. {title}"
    yield from _step_text(step, inner)
    for line in lines:
        yield f"{inner}- {line}"
    yield from _lanes(step, inner)
    yield from print_steps(step.steps, inner, step.number)


def _short(number: str, parent: str) -> str:
    """Without the number of ``parent``, where that is understood."""
    last = number.removeprefix(f"{parent}.") if parent else number
    return last if last.isdigit() and full_number(parent, last) == number else number


def _title(step: Step) -> tuple[str, list[Clause]]:
    """The title as it is written, and the clauses that it says then."""
    whole = (literal(step.title, True), list[Clause]())
    if starts_badly(step.title) or split_title(step.title) != (step.title, len(step.title)):
        return whole
    try:
        found = read_sentence(step.title)
        if step.approval is None:
            demand_no_approval(step.title)
    except Unreadable:
        return whole
    left = _Left([clause for clause, _ in _clauses(step)])
    if all(left.takes(clause) for clause in found) and _in_order(found, step):
        return step.title, found
    return whole


def _in_order(found: Sequence[Clause], step: Step) -> bool:
    """Whether what the title says of several are the first of them."""
    branches = [clause.value for clause in found if clause.member == "branch"]
    joins = [one for clause in found if clause.member == "join" for one in clause.value]
    return (
        list(step.branches[: len(branches)]) == branches and list(step.joins[: len(joins)]) == joins
    )


class _Left:
    """Clauses that are still to be said, each once."""

    def __init__(self, clauses: Iterable[Clause]) -> None:
        self._clauses = list(clauses)

    def takes(self, clause: Clause) -> bool:
        if clause in self._clauses:
            self._clauses.remove(clause)
            return True
        return False


def _clauses(step: Step) -> Iterator[tuple[Clause, str]]:
    """What is said of ``step`` beside title and text, each with its line."""
    if step.loop is not None:
        yield Clause("loop", step.loop), print_loop(step.loop)
    if step.kind == "parallel":
        yield Clause("parallel", True), "At the same time"
    for join in step.joins:
        yield Clause("join", (join,)), f"Keep {print_join(join)}"
    if step.wait is not None:
        yield Clause("wait", step.wait), f"Wait: {print_wait(step.wait)}"
    if step.approval is not None:
        by = ", ".join(map(print_person, step.approval.by)) or "anybody"
        yield Clause("approval", step.approval), f"Approval: {by}"
    if step.role is not None:
        yield Clause("role", step.role), f"Role: {print_person(step.role)}"
    if step.skills:
        yield Clause("skills", step.skills), f"Skill: {', '.join(step.skills)}"
    if step.runs is not None:
        yield Clause("runs", step.runs), f"Runs: {print_run(step.runs)}"
    if step.reads:
        yield Clause("reads", step.reads), f"Reads: {', '.join(map(print_transfer, step.reads))}"
    if step.writes:
        yield (
            Clause("writes", step.writes),
            f"Writes: {', '.join(map(print_transfer, step.writes))}",
        )
    if step.choices:
        yield Clause("choices", step.choices), f"Choices: {print_choices(step.choices)}"
    for retry in step.retries:
        yield Clause("retry", retry), f"Retry {print_retry(retry)}"
    if step.deadline is not None:
        yield Clause("deadline", step.deadline), f"Within {print_duration(step.deadline)}"
    if step.tier is not None:
        yield Clause("tier", step.tier), f"Tier: {step.tier}"
    if step.budget is not None:
        yield Clause("budget", step.budget), f"Budget: {print_budget(step.budget)}"
    for handler in step.handlers:
        yield Clause("handler", handler), _handler(handler)
    for branch in step.branches:
        yield Clause("branch", branch), _branch(branch)
    if step.then != CONTINUE:
        word = "Otherwise" if step.branches else "Then"
        yield Clause("then", step.then), f"{word} {print_direction(step.then)}"


def _branch(branch: Branch) -> str:
    return f"If {print_condition(branch.condition)}, {print_direction(branch.then)}"


def _handler(handler: Handler) -> str:
    if not handler.errors:
        return f"If this fails, {print_direction(handler.then)}"
    errors = ", ".join(map(print_error, handler.errors))
    return f"If this fails with {errors}, {print_direction(handler.then)}"


def _step_text(step: Step, margin: str) -> Iterator[str]:
    before: str | None = None
    for block in blocks(step.text):
        bullet = block.startswith("- ")
        if before is None or not (bullet and before.startswith("- ")):
            yield ""
        before = block
        marker, said = ("- ", block[2:]) if bullet else ("", block)
        if is_fence(block):
            yield from (f"{margin}{line}" if line else "" for line in block.split("\n"))
        else:
            taken = steers(said) or starts_badly(said) or _decides(step, said)
            yield f"{margin}{marker}{literal(said, taken)}"
    if before is not None:
        yield ""


def _decides(step: Step, text: str) -> bool:
    """Whether ``text`` would be taken for a case of a step that only decides."""
    return step.kind == "decision" and any(map(seems_conditional, split_sentences(text)))


def _lanes(step: Step, margin: str) -> Iterator[str]:
    if all(len(lane.steps) == 1 and not lane.title for lane in step.lanes):
        for lane in step.lanes:
            yield from print_steps(lane.steps, margin, step.number)
        return
    for index, lane in enumerate(step.lanes, start=1):
        yield f"{margin}- Branch:{f' {lane.title}' if lane.title else ''}"
        yield from print_steps(lane.steps, f"{margin}   ", f"{step.number}.{index}")
