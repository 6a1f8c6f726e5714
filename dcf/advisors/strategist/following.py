"""What became of advice: whether tasks that followed it went better than those before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from statistics import median

from dcf.advisors.strategist.activity import Activity, Task
from dcf.advisors.strategist.finding import FAMILIES
from dcf.advisors.strategist.guidelines import StrategistGuidelines
from dcf.advisors.strategist.remark import Advice, Followed, Remark, Verdict
from dcf.advisors.strategist.rules import StrategistRules
from dcf.evidence import Counts, difference_interval


def follow(
    guidelines: StrategistGuidelines, activity: Activity, rules: StrategistRules
) -> StrategistGuidelines:
    """``guidelines``, each measured recommendation with what became of it (``Followed``).

    Tasks that began after it was given and did as it says are held against those that ended before,
    of the session in which it was given; those that did not follow count as offered only. Called
    for the same activity again it says the same, and counts of several sessions are added up. The
    comparison is one over time, no experiment: something else may have changed too.
    """
    return replace(
        guidelines,
        recommendations=tuple(
            _followed(remark, activity, rules) for remark in guidelines.recommendations
        ),
    )


def _followed(remark: Remark, activity: Activity, rules: StrategistRules) -> Remark:
    advice, given = remark.advice, remark.at
    if advice is None or given is None:
        return remark
    meant = [task for task in activity.outcomes if _is_meant(advice, task)]
    earlier = [task for task in meant if (task.finished_at or 0) <= given]
    after = [
        task
        for task in meant
        if (task.started_at or 0) >= given and (task.finished_at or 0) > given
    ]
    known = remark.followed
    if known is None:
        border = _border(advice, earlier)
        before = _counted(earlier, _is_good(advice, border))
        past = Counts()
    else:
        border, before = known.border_ms, known.before
        past = known.past if known.session == activity.session_id else known.past + known.now
    if known is None and not after:
        return remark
    taken = [task for task in after if _is_taken(advice, task, activity)]
    now = _counted(taken, _is_good(advice, border))
    return replace(
        remark,
        followed=_judged(
            Followed(
                session=activity.session_id,
                before=before,
                past=past,
                now=now,
                offered=len(after),
                border_ms=border,
                difference=None,
                low=None,
                high=None,
                verdict="not_taken",
            ),
            rules,
        ),
    )


def _judged(followed: Followed, rules: StrategistRules) -> Followed:
    taken, before = followed.past + followed.now, followed.before
    if not taken.n:
        return followed
    if not before.n or taken.rate is None or before.rate is None:
        return replace(followed, verdict="unclear")
    # It is looked at often, so the interval is wider than that of one look.
    level = 1 - rules.false_alarms / len(FAMILIES)
    low, high = difference_interval((taken.successes, taken.n), (before.successes, before.n), level)
    enough = min(taken.n, before.n) >= rules.min_observations
    verdict: Verdict = "unclear"
    if enough and low > 0:
        verdict = "helped"
    elif enough and high < 0:
        verdict = "hurt"
    return replace(
        followed, difference=taken.rate - before.rate, low=low, high=high, verdict=verdict
    )


def _is_meant(advice: Advice, task: Task) -> bool:
    """Whether ``advice`` had something to say of ``task``."""
    match advice.kind:
        case "prefer_skill" | "prefer_specialization" | "specialize_companion":
            return task.task_type == advice.subject.get("task_type")
        case "tier_too_low" | "tier_too_high":
            return advice.subject.get("skill") in task.skills
        case "scale_up":
            return True
    return False


def _is_taken(advice: Advice, task: Task, activity: Activity) -> bool:
    """Whether ``task`` did as ``advice`` says."""
    match advice.kind:
        case "prefer_skill":
            return advice.value in task.skills
        case "prefer_specialization":
            return task.specialization == advice.value
        case "specialize_companion":
            return task.companion_id == advice.subject.get("companion_id")
        case "tier_too_low" | "tier_too_high":
            return task.tier == advice.value
    there = sum(one.created_at <= (task.started_at or 0) for one in activity.companions)
    return isinstance(advice.value, int) and there >= advice.value


def _is_good(advice: Advice, border_ms: float | None) -> Callable[[Task], bool]:
    """What going well means: to succeed; for speed, to be quicker than was usual; for scaling, to
    wait less than was usual; for tiers, to succeed without a higher one."""
    if advice.kind == "scale_up":
        return lambda task: border_ms is not None and (task.wait_ms or 0) < border_ms
    if "goal" in advice.subject:
        return lambda task: border_ms is not None and task.ok and task.work_ms < border_ms
    if advice.kind in ("tier_too_low", "tier_too_high"):
        return lambda task: task.ok and not task.escalated
    return lambda task: task.ok


def _border(advice: Advice, before: list[Task]) -> float | None:
    """The usual time before: of work, or of waiting."""
    if advice.kind == "scale_up":
        times = [task.wait_ms or 0 for task in before]
    elif "goal" in advice.subject:
        times = [task.work_ms for task in before if task.ok]
    else:
        return None
    return float(median(times)) if times else None


def _counted(tasks: list[Task], is_good: Callable[[Task], bool]) -> Counts:
    good = sum(is_good(task) for task in tasks)
    return Counts(good, len(tasks) - good)
