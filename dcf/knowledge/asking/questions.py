"""The questions that can be asked, each with its slots and the words that speak for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Timed = Literal["no", "since", "between", "pair"]
"""Whether a question can be asked of a time: of none, from then on, from then until then, or of two
that are held against each other."""
_PLACES = ("task_type", "skill", "workflow", "agent", "error")
_DIMENSIONS = ("skill", "agent", "task_type", "error", "workflow", "tier", "model", "day")


@dataclass(frozen=True, slots=True)
class Question:
    """``answers`` says what it answers, ``example`` shows one.

    ``words`` are concepts of the lexicon with how much each speaks for the question, names as
    ``@argument``; one that is not among them speaks against it. ``needs`` are arguments that it
    cannot do without, of ``one_of`` it needs one, and of ``pair`` two; ``takes`` narrow it, ``by``
    are the dimensions that it counts by, ``orders`` what can come first, ``choices`` its own slots.
    """

    name: str
    answers: str
    example: str
    words: Mapping[str, float]
    needs: tuple[str, ...] = ()
    one_of: tuple[str, ...] = ()
    pair: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    orders: tuple[str, ...] = ()
    choices: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    timed: Timed = "no"

    @property
    def arguments(self) -> tuple[str, ...]:
        return (*self.needs, *self.one_of, *self.pair, *self.takes)


def _words(said: str) -> dict[str, float]:
    """``why 2 fail run`` as weights; what has no number counts 0.3."""
    found: dict[str, float] = {}
    last = ""
    for part in said.split():
        try:
            found[last] = float(part)
        except ValueError:
            last = part
            found[part] = 0.3
    return found


_RATES = ("unreliable", "reliable", "failures", "slow", "fast", "dear", "cheap")

QUESTIONS: tuple[Question, ...] = (
    Question(
        "skills",
        "which version of a skill succeeded most at a kind of task, and how sure that is",
        "which skill version succeeded most for orders.charge_payment?",
        _words("version 1 skill 0.7 best 0.8 reliable 0.6 rate rank 1 succeed use 0 count 0 "
               "work 0.2"),
        takes=("task_type", "skill"),
        timed="since",
    ),
    Question(
        "changes",
        "since when failures are more frequent, and what changed before: versions, agents, tiers, "
        "models, definitions",
        "what changed before orders.charge_payment began to fail?",
        _words("change 1.5 since_when 1.5 begin 0.6 when 0.4 before after recently worse 0.8 "
               "fail run 0 "
               "more 0 error why 0 count 0"),
        takes=_PLACES,
        timed="between",
    ),
    Question(
        "why",
        "why a run failed: its cause, who else failed like that, and what helped afterwards",
        "why did order-7f3a fail?",
        _words("why 2 why_fail 2 help 2 fail error after 0 @run 0.2"),
        needs=("run",),
    ),
    Question(
        "causes",
        "why runs or tasks fail: the most frequent causes, with the runs",
        "why does orders.charge_payment fail?",
        _words("why 1 why_fail 1.3 it -1 fail run 0 task 0 error count 0 most 0 happen 0.2 "
               "@error 0.5"),
        takes=_PLACES,
        timed="between",
    ),
    Question(
        "similar",
        "runs like one, each with the reasons",
        "which runs are like order-7f3a?",
        _words("like 2 run happen 0 before 0 fail 0"),
        needs=("run",),
    ),
    Question(
        "run",
        "what happened in a run: its states, versions, agents, errors",
        "what happened in order-7f3a?",
        _words("@run 1 when 0 happen 1 who run 0 task skill version agent error duration succeed "
               "fail 0 "
               "use took_part cost much 0 model work 0 tier everything 0.3"),
        needs=("run",),
    ),
    Question(
        "listing",
        "which runs failed, succeeded or used something, the newest or the oldest first",
        "which runs failed at orders.charge_payment since monday?",
        _words("run 1 fail 0.9 succeed 0.7 last 0.8 first 0.8 use when happen 0 error 0.1 agent 0 "
               "why_fail 0.2 work 0.2 where 0.8 call 0.3 everything 0.6 @tool 0.4"),
        takes=(*_PLACES, "tool"),
        orders=("first", "last"),
        choices={"status": {"fail": "failed", "why_fail": "failed", "error": "failed",
                            "@error": "failed", "succeed": "succeeded", "@agent": "any",
                            "work": "succeeded", "": "any"}},
        timed="between",
    ),
    Question(
        "outcomes",
        "how many outcomes of tasks there were, and what share went well, by skill, agent, task, "
        "error, workflow, tier, model or day",
        "how often did each agent fail at orders.charge_payment, by error?",
        _words("count 0.8 rate 1 reliable 1 failure_rate 1 fail 0.2 succeed 0.4 each 0.6 error 0.8 "
               "worst 1 best 0.5 use 0.6 most 0.1 most_failures 1 happen 0.1 who 0.3 workflow 0.5 "
               "skill 0.4 version 0.4 agent 0.6 task 0.6 counted_task 0.6 outcome 0.8 tier 0.5 "
               "model 0.5 "
               "day 0.3 much 0 "
               "work 0 where 0.2 "
               "@error 0.5 @task_type 0.3 @workflow 0.4"),
        takes=_PLACES,
        by=_DIMENSIONS,
        orders=_RATES[:3],
        timed="between",
    ),
    Question(
        "runs",
        "how many runs there were, and what share succeeded, by workflow, error, day or one by one",
        "how many runs failed last week?",
        _words("count 0.8 rate 0.9 reliable 1 failure_rate 1 run 0.6 fail 0.1 succeed 0.1 each 0.5 "
               "worst 0.8 most 0 workflow 1.1 day 0.3 error 0.2 slow 1.4 fast 1.4 much 0.3 "
               "most_failures 0.8 best 0.3 dear 2.3 cheap 2.3 @workflow 0.75"),
        takes=("workflow", "error"),
        by=("workflow", "error", "day", "run"),
        orders=_RATES,
        timed="between",
    ),
    Question(
        "durations",
        "how long tasks or runs take: the median, the mean and the slowest tenth, by skill, agent, "
        "task, workflow, tier, model or day",
        "how long does orders.charge_payment take?",
        _words("duration 2 slow 1.4 fast 1.4 each run 0 skill agent task workflow tier model day "
               "version most 0 fail -1"),
        takes=_PLACES,
        by=_DIMENSIONS,
        orders=("slow", "fast"),
        timed="between",
    ),
    Question(
        "costs",
        "what was spent, as far as prices were known, by skill, agent, task, workflow, tier, model "
        "or day",
        "how much did each workflow cost since monday?",
        _words("cost 2 much dear 2 cheap 2 each skill agent task workflow tier model day run 0 "
               "version most 0 error 0"),
        takes=_PLACES,
        by=_DIMENSIONS,
        orders=("dear", "cheap"),
        timed="between",
    ),
    Question(
        "trend",
        "how the success rate, the duration or the cost developed from day to day",
        "is orders.charge_payment getting better or worse?",
        _words("trend 2 change 0 better 0.5 worse 0.5 rate reliable duration cost slower 0.5 "
               "faster 0.5 "
               "more 0 less 0 succeed 0.1 fail 0.1 run 0 dear cheap failure_rate much 0 day 0 "
               "recently 0"),
        takes=_PLACES,
        choices={"of": {"duration": "duration", "slower": "duration", "faster": "duration",
                        "cost": "cost", "dear": "cost", "cheap": "cost"}},
        timed="between",
    ),
    Question(
        "comparison",
        "which of two does better: versions, skills, tasks, agents, workflows, or two runs",
        "is order-processing more reliable than refund-flow?",
        _words("compare 2 better 1.5 change 1.5 more 0.7 than 0.5 reliable 0.7 fail 0.3 between "
               "0.5 succeed 0.3 count 0.2 rate run 0 like 0 worse 1.5 faster 1 slower 1 less 0.7 "
               "duration 0.2 cost 0.2"),
        pair=(*_PLACES, "run"),
        timed="between",
    ),
    Question(
        "periods",
        "how two periods differ: how many runs or tasks there were, what share succeeded, how long "
        "they took, what they cost",
        "did more runs fail this week than last week?",
        _words("beside 2 change 0 more 0 less 0 fail 0 succeed 0 error 0 run 0 task 0 cost 0 "
               "much 0 duration 0 slower 0 faster 0 better 0 worse 0 rate 0 failure_rate 0 "
               "reliable 0 count 0 dear 0 cheap 0 each -3 compare 0 trend 0"),
        takes=_PLACES,
        choices={"of": {"duration": "duration", "slower": "duration", "faster": "duration",
                        "cost": "cost", "dear": "cost", "cheap": "cost", "": "success"}},
        timed="pair",
    ),
    Question(
        "tools",
        "how often tools were called, and how many of the calls failed, by tool and agent",
        "which tool fails most?",
        _words("tool 1.6 call 0.3 use 0.2 count 0.2 most 0 fail 0.2 error 0.2 worst 0.2 best 0.2 "
               "rate 0.2 reliable 0.2 failure_rate 0.2 most_failures 0.2 each run 0 @tool 0.9 "
               "agent -0.2 who -0.2"),
        takes=(*_PLACES[:4], "tool", "run"),
        by=("tool", "agent"),
        orders=_RATES[:3],
        timed="between",
    ),
    Question(
        "approvals",
        "who approved or rejected what, when, and how long that was waited for",
        "who approved order-7f3a?",
        _words("approve 1.6 reject 1.6 who 0.2 person 0.2 when 0 run 0 task 0 workflow 0 last 0 "
               "first 0 slow 0 fast 0 use 0 everything 0 need -3"),
        takes=("run", "approver", "workflow", "task_type"),
        orders=("slow", "fast", "first", "last"),
        choices={"decision": {"reject": "reject"}},
        timed="between",
    ),
    Question(
        "deciders",
        "how often people approved and rejected, by person, workflow or day",
        "who approved most this month?",
        _words("approve 0.7 reject 0.7 count 0.9 most 0 each who person use 0 need -3 "
               "@approver -0.3"),
        takes=("run", "approver", "workflow", "task_type"),
        by=("approver", "workflow", "day"),
        choices={"decision": {"reject": "reject", "": "approve"}},
        timed="between",
    ),
    Question(
        "chosen",
        "why a skill and its version were chosen: what the plan recorded, and what is measured",
        "why was orders.charge_payment chosen?",
        _words("chosen 2 why 1 planner 1 use 0.4 version 0.4 skill 0.4 best 0.3 run 0 model 0"),
        one_of=("run", "skill", "task_type"),
    ),
    Question(
        "retries",
        "how many tries tasks take, by skill, agent, task, error, workflow, tier, model or day",
        "which task needs the most retries?",
        _words("retry 2 count most each skill agent task workflow tier model day version error"),
        takes=_PLACES,
        by=_DIMENSIONS,
        timed="between",
    ),
    Question(
        "session",
        "what happened in a session: its tasks, who did them, how they went, what was measured",
        "what happened in session helpdesk-1?",
        _words("@session 1 happen 1 who 0.5 companion 1.5 took_part 1 task 0 agent 0.5 fail 0 "
               "work 0 everything 0.3"),
        needs=("session",),
    ),
    Question(
        "sessions",
        "which sessions there were, with their companions and tasks",
        "which sessions are there?",
        _words("session 1.5 count last when companion 0 much 0"),
        timed="between",
    ),
    Question(
        "delegations",
        "how many delegated tasks there were, and how many went well, by companion, "
        "specialization, skill, task, error, session, tier, model or day",
        "how many delegations succeeded, by specialization and task?",
        _words("delegate 1.6 companion 1.5 specialization 1.5 count rate reliable failure_rate "
               "fail 0.1 succeed 0.1 each worst best most 0 most_failures cost 0.5 slow fast "
               "duration session task counted_task skill error tier model day dear cheap much 0 "
               "@specialization 0.8"),
        takes=("task_type", "skill", "agent", "specialization", "error", "session"),
        by=("companion", "specialization", "skill", "task_type", "error", "session", "tier",
            "model", "day"),
        orders=_RATES,
        timed="between",
    ),
    Question(
        "patterns",
        "what analyses of sessions have measured: of skills, companions, whole sessions",
        "what patterns are there about orders.charge_payment?",
        _words("pattern 2 measure 1 session analysis companion skill"),
        takes=("task_type", "skill", "agent", "specialization", "session"),
        timed="between",
    ),
    Question(
        "insights",
        "what analyses found: advice with its evidence",
        "what insights are there about orders.charge_payment?",
        _words("insight 2 analysis 0.5 run 0"),
        takes=("task_type", "skill"),
    ),
    Question(
        "stats",
        "what there is in the graph: how much, of what, since when",
        "what is in the graph?",
        _words("graph 1 everything 0 size 0.7 graph_size 1.5 much"),
    ),
)  # fmt: skip


def question_named(name: str) -> Question | None:
    """The question called ``name``."""
    return next((one for one in QUESTIONS if one.name == name), None)
