"""Asking in words: a question becomes one of those that are declared, or is refused."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol, cast

from dcf.knowledge.asking.account import account_of
from dcf.knowledge.asking.alike import runs_like
from dcf.knowledge.asking.approving import (
    DeciderDimension,
    approvals_counted,
    approvals_listed,
)
from dcf.knowledge.asking.blame import why
from dcf.knowledge.asking.causes import causes
from dcf.knowledge.asking.changing import what_changed
from dcf.knowledge.asking.choosing import chosen_for
from dcf.knowledge.asking.comparing import compared, periods_compared
from dcf.knowledge.asking.crossing import Dimension, Narrowed, crossing
from dcf.knowledge.asking.delegations import DelegationDimension, Handed, delegations_counted
from dcf.knowledge.asking.groups import Chosen
from dcf.knowledge.asking.listing import Ended, runs_listed
from dcf.knowledge.asking.matching import Matched, match, read, refusal_of, said_in
from dcf.knowledge.asking.names import Names, names_in, runs_within, sessions_within
from dcf.knowledge.asking.overview import overview
from dcf.knowledge.asking.patterns import patterns
from dcf.knowledge.asking.questions import QUESTIONS, question_named
from dcf.knowledge.asking.ranking import ranking
from dcf.knowledge.asking.run_counting import RunDimension, runs_counted
from dcf.knowledge.asking.session_account import session_account
from dcf.knowledge.asking.sessions_listed import sessions_listed
from dcf.knowledge.asking.spreading import Measure, spreads
from dcf.knowledge.asking.tool_counting import ToolDimension, tools_counted
from dcf.knowledge.asking.trend import Of, trend
from dcf.knowledge.insight_fact import InsightFact
from dcf.knowledge.knowledge import Knowledge

if TYPE_CHECKING:
    from dcf.search import Embedder


class Chooser(Protocol):
    """A model that chooses among declared questions."""

    async def choose(self, question: str, offer: Sequence[Mapping[str, Any]]) -> Any:
        """``{"question": name or null, "arguments": {...}, "by": [...]}``; whatever it says is
        checked."""
        ...


@dataclass(frozen=True, slots=True)
class Asked:
    """What ``words`` were understood as, and what was found: ``result`` is what the question's own
    function gives, None where nothing was understood. ``near`` are names of the graph that come
    near to the words that were not used."""

    words: str
    matched: Matched
    result: Any = None
    problems: Sequence[str] = field(default=())
    near: Sequence[str] = field(default=())

    @property
    def understood(self) -> str | None:
        """The name of the question."""
        return self.matched.question.name if self.matched.question else None


class Asker:
    """Asks ``knowledge``. ``embedder`` is called for what compares texts; times in words count from
    ``now``, in its time zone."""

    def __init__(
        self,
        knowledge: Knowledge,
        embedder: Callable[[], Awaitable[Embedder]],
        *,
        chooser: Chooser | None = None,
        now: Callable[[], datetime] = lambda: datetime.now().astimezone(),
    ) -> None:
        self._knowledge = knowledge
        self._graph = knowledge.graph
        self._embedder = embedder
        self._chooser = chooser
        self._now = now

    async def ask(
        self, words: str, groups: Chosen | None = None, *, since: int | None = None
    ) -> Asked:
        """What ``words`` ask for. Raises GraphAway, GraphRefused, QuestionTooWide."""
        known = await names_in(self._graph)
        matched, problems = await self._matched(words, known)
        near = known.near(matched.unused)
        if matched.question is None:
            return Asked(words, matched, problems=problems, near=near)
        result = await self._found(matched, groups, since)
        return Asked(words, matched, result, problems, near)

    async def _matched(self, words: str, known: Names) -> tuple[Matched, tuple[str, ...]]:
        names = known.within(words)
        names["session"] = await sessions_within(self._graph, words)
        runs = await runs_within(self._graph, words)
        matched = match(words, names, runs, self._now())
        if self._chooser is None:
            return matched, ()
        offer = [
            {
                "question": one.name,
                "answers": one.answers,
                "needs": list(one.needs),
                "takes": list(one.takes),
                "by": list(one.by),
            }
            for one in QUESTIONS
        ]
        said = await self._chooser.choose(words, offer)
        given = {**names, "run": runs}
        chosen, problems = checked(said, given)
        if chosen is None:
            # What the model says wrongly leaves the rules' own answer as it is.
            return matched, problems
        return _read(chosen, words, given, self._now()), ()

    async def _found(self, matched: Matched, groups: Chosen | None, since: int | None) -> Any:
        assert matched.question is not None
        name, by, order = matched.question.name, matched.by, matched.order
        given = {argument: found[0] for argument, found in matched.arguments.items()}
        until = None
        if matched.period is not None:
            since, until = max(since or 0, matched.period.since), matched.period.until
        narrowed = Narrowed(
            task_type=given.get("task_type"),
            skill=given.get("skill"),
            agent=given.get("agent"),
            error=given.get("error"),
            workflow=given.get("workflow"),
            tool=given.get("tool"),
            since=since,
            until=until,
        )
        match name:
            case "skills":
                task, skill = given.get("task_type"), given.get("skill")
                # One name may be both; the task is what versions are ranked for.
                only = None if task is not None and skill is not None else skill
                return await ranking(self._graph, task_type=task, skill=only, since=since)
            case "changes":
                return await what_changed(self._graph, _one_of_both(narrowed))
            case "why":
                return await why(self._graph, given["run"])
            case "similar":
                return await runs_like(self._graph, given["run"], await self._embedder())
            case "run":
                return await account_of(self._graph, given["run"])
            case "session":
                return await session_account(self._graph, given["session"])
            case "delegations":
                handed = Handed(
                    replace(_one_of_both(narrowed), agent=None),
                    companion=given.get("agent"),
                    specialization=given.get("specialization"),
                    session=given.get("session"),
                )
                falling = [cast("DelegationDimension", one) for one in by] or ["specialization"]
                return await delegations_counted(self._graph, falling, handed, order=order)
            case "patterns":
                return await patterns(
                    self._graph,
                    session=given.get("session"),
                    task_type=narrowed.task_type,
                    skill=_one_of_both(narrowed).skill,
                    companion=given.get("agent"),
                    specialization=given.get("specialization"),
                    since=since,
                    until=until,
                )
            case "insights":
                found = await self._knowledge.insights()
                return [one for one in found if _concerns(one, given)]
            case "stats":
                return await overview(self._graph, groups or Chosen(everything=True))
            case "listing":
                status = cast("Ended", matched.choices.get("status", "any"))
                return await runs_listed(
                    self._graph, _one_of_both(narrowed), status=status, oldest=order == "first"
                )
            case "causes":
                return await causes(self._graph, _one_of_both(narrowed))
            case "trend":
                of = cast("Of", matched.choices.get("of", "success"))
                return await trend(self._graph, of, _one_of_both(narrowed))
            case "tools":
                return await tools_counted(
                    self._graph,
                    _one_of_both(narrowed),
                    run=given.get("run"),
                    by=[cast("ToolDimension", one) for one in by] or ["tool"],
                    order=order,
                )
            case "deciders":
                return await approvals_counted(
                    self._graph,
                    [cast("DeciderDimension", one) for one in by] or ["approver"],
                    narrowed,
                    run=given.get("run"),
                    approver=given.get("approver"),
                    decision=matched.choices["decision"],
                )
            case "approvals":
                return await approvals_listed(
                    self._graph,
                    narrowed,
                    run=given.get("run"),
                    approver=given.get("approver"),
                    decision=matched.choices.get("decision"),
                    order=order,
                )
            case "periods":
                assert matched.period is not None and matched.against is not None
                of = cast("Of", matched.choices.get("of", "success"))
                return await periods_compared(
                    self._graph, matched.period, matched.against, of, _one_of_both(narrowed)
                )
            case "comparison":
                return await self._compared(matched, narrowed)
            case "chosen":
                thing = _one_of_both(narrowed)
                return await chosen_for(
                    self._graph, run=given.get("run"), task_type=thing.task_type, skill=thing.skill
                )
            case "sessions":
                return await sessions_listed(self._graph, since=since, until=until)
            case "durations" | "retries":
                measure: Measure = "tries" if name == "retries" else "duration_ms"
                return await spreads(
                    self._graph,
                    measure,
                    [cast("Dimension", one) for one in by],
                    _one_of_both(narrowed),
                    smallest_first=order == "fast",
                )
            case "runs":
                one_by_one: list[RunDimension] = ["run"] if order else ["workflow"]
                over = [cast("RunDimension", one) for one in by] or one_by_one
                return await runs_counted(self._graph, over, narrowed, order=order)
            case "costs":
                dimensions = [cast("Dimension", one) for one in by] or ["workflow"]
                order = order or "dear"
            case _:
                dimensions = [cast("Dimension", one) for one in by] or ["task_type"]
        return await crossing(self._graph, dimensions, _one_of_both(narrowed), order=order)

    async def _compared(self, matched: Matched, narrowed: Narrowed) -> Any:
        """The two of a kind; a skill's own name is taken before that of its task."""
        pair = [one for one, found in matched.arguments.items() if len(found) == 2]
        kind = "skill" if "skill" in pair else pair[0]
        first, second = matched.arguments[kind]
        blank = dict.fromkeys(one for one in ("task_type", "skill") if one in pair)
        return await compared(self._graph, kind, (first, second), replace(narrowed, **blank))


def checked(
    said: Any, known: Mapping[str, Sequence[str]]
) -> tuple[Matched | None, tuple[str, ...]]:
    """What a model chose, if it is one of the declared questions with arguments that stand in the
    words themselves (``known``: argument -> names); else all that is wrong with it."""
    if not isinstance(said, Mapping):
        return None, ("the model gave no object",)
    question = question_named(str(said.get("question")))
    if question is None:
        return None, (f"the model chose {said.get('question')!r}, which is no question",)
    arguments = said.get("arguments") or {}
    problems = []
    if not isinstance(arguments, Mapping):
        return None, ("the model's arguments are no object",)
    wanted = question.arguments
    for name, value in arguments.items():
        if name not in wanted:
            problems.append(f"{question.name} takes no argument {name!r}")
        elif value not in known.get(str(name), ()):
            problems.append(f"{value!r} is no {name} that the question names")
    problems += [
        f"{question.name} needs {need}" for need in question.needs if need not in arguments
    ]
    by = said.get("by") or []
    if not isinstance(by, list) or any(one not in question.by for one in by):
        problems.append(f"{by!r} is not among {', '.join(question.by) or 'nothing'}")
    if problems:
        return None, tuple(problems)
    found = {str(name): [str(value)] for name, value in arguments.items()}
    return Matched(question, found, tuple(by), {question.name: 1.0}, by_model=True), ()


def _read(
    chosen: Matched, words: str, given: Mapping[str, Sequence[str]], now: datetime
) -> Matched:
    """What a model chose, with the time, the order and the choices that ``words`` say by the same
    rules; no question where they say what it cannot be asked of."""
    question = chosen.question
    assert question is not None
    said = said_in(words, given, now)
    if why_not := refusal_of(question, said):
        return replace(chosen, question=None, why_not=why_not)
    slots = read(question, said, chosen.scores)
    return replace(
        chosen,
        period=slots.period,
        against=slots.against,
        order=slots.order,
        choices=slots.choices,
    )


def _one_of_both(narrowed: Narrowed) -> Narrowed:
    """A name that is a task type and a skill narrows by the task alone."""
    both = narrowed.task_type is not None and narrowed.skill is not None
    same = both and str(narrowed.task_type).removeprefix("skill.") == str(
        narrowed.skill
    ).removeprefix("skill.")
    return replace(narrowed, skill=None) if same else narrowed


def _concerns(insight: InsightFact, given: Mapping[str, str]) -> bool:
    task, skill = given.get("task_type"), given.get("skill")
    if task is None and skill is None:
        return True
    by_task = task is not None and task in insight.task_types
    by_skill = skill is not None and any(
        one == skill or one.startswith(f"{skill}@") for one in insight.skills
    )
    return by_task or by_skill
