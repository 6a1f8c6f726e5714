"""What an analysis shows, as drafts of insights. Every confidence is a posterior probability."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from dcf.advisors.analysis import Analysis, Drift, Retries, TrackRecord
from dcf.advisors.reflector.draft import Draft, above, evidence_of, share_of
from dcf.advisors.reflector.finding_tiers import crowded_top_tier, wrong_tier
from dcf.advisors.reflector.finding_versions import better_version, faster_version
from dcf.evidence import MIN_SAMPLES, Counts
from dcf.guidelines import Evidence

FAILING = 0.25
"""Of a type of task: more failures are a warning."""
RETRIES_HELP = 0.50
RETRIES_LOST = 0.10
"""Of what was tried again: so few rescued say that trying again is a waste."""
MOST_OF_THE_TIME = 0.50
"""Of the critical path."""
SLOWER = 1.25
"""Times the median duration before."""

_NAME = re.compile(r"[\w.]{1,80}")


def findings(analysis: Analysis) -> Iterator[Draft]:
    """All that ``analysis`` shows, sure or not."""
    for contest in analysis.contests:
        yield from better_version(contest)
        yield from faster_version(contest)
    for track in analysis.task_types():
        yield from _failing(analysis, track)
    for drift in analysis.drifts:
        yield from _drift(drift)
    for retries in analysis.retries:
        yield from _retrying(retries)
    yield from _slow_states(analysis)
    for recalibration in analysis.recalibrations:
        yield from wrong_tier(recalibration)
    yield from crowded_top_tier(analysis)


def _failing(analysis: Analysis, track: TrackRecord) -> Iterator[Draft]:
    failed = Counts(track.counts.failures, track.counts.successes)
    if failed.n < MIN_SAMPLES or failed.rate is None or failed.rate <= FAILING:
        return
    low, high = failed.interval()
    usual = next(
        (one for one in analysis.failures if one.task_types[:1] == (track.task_type,)), None
    )
    # The cause itself stays in the report: who writes causes must not write to planners.
    cause = f"; most often with {usual.error}" if usual and _NAME.fullmatch(usual.error) else ""
    yield Draft(
        category="warning",
        topic="failures",
        condition={"task_type": track.task_type},
        prefer=None,
        avoid=None,
        reason=f"{share_of(failed)} of {track.task_type} failed{cause}",
        evidence=replace(
            evidence_of(track, failed.n, rate=failed.rate, low=low, high=high),
            workflows=track.workflows_within,
        ),
        confidence=above(failed, FAILING),
        severity="high" if failed.rate > 2 * FAILING else "medium",
    )


def _drift(drift: Drift) -> Iterator[Draft]:
    track, rate = drift.record, drift.rate
    what = track.task_type if track.skill is None else f"{track.skill} at {track.task_type}"
    condition = {"task_type": track.task_type}
    if track.skill is not None:
        condition["skill"] = track.skill
    if drift.rate_changed and rate.verdict == "lower":
        yield Draft(
            category="warning",
            topic="drift",
            condition=condition,
            prefer=None,
            avoid=None,
            reason=f"{what} succeeded in {share_of(rate.first)}, before in {share_of(rate.second)}",
            evidence=evidence_of(
                track, rate.first.n + rate.second.n, rate=rate.first.rate,
                before_rate=rate.second.rate, difference=rate.difference,
                difference_low=rate.low, difference_high=rate.high, p_value=rate.p_value,
            ),
            confidence=1 - rate.probability,
            severity="high",
        )  # fmt: skip
    now, before = track.duration_ms, track.duration_before_ms
    if drift.duration_changed and now and before and (drift.duration_ratio or 0) > SLOWER:
        slower = sum(value > before.p50 for value in track.durations_ms)
        yield Draft(
            category="warning",
            topic="slower",
            condition=condition,
            prefer=None,
            avoid=None,
            reason=f"{what} takes {now.p50:.0f} ms, before {before.p50:.0f} ms (medians)",
            evidence=evidence_of(
                track, now.n + before.n, median_ms=now.p50, before_median_ms=before.p50
            ),
            confidence=above(Counts(slower, now.n - slower), 0.5),
            severity="low",
        )


def _retrying(retries: Retries) -> Iterator[Draft]:
    rescued = retries.rescued
    if rescued.n < MIN_SAMPLES or rescued.rate is None:
        return
    helps = rescued.rate > RETRIES_HELP
    if not helps and rescued.rate >= RETRIES_LOST:
        return
    low, high = rescued.interval()
    where = f"{retries.workflow_name}/{retries.state}"
    yield Draft(
        category="workflow_pattern" if helps else "warning",
        topic="retry",
        condition={"workflow": retries.workflow_name, "state": retries.state},
        prefer=None if helps else "fail at once, or catch the error and go another way",
        avoid=None,
        reason=(
            f"trying again {'helps' if helps else 'does not help'} in {where}: "
            f"it rescued {share_of(rescued)}"
        ),
        evidence=evidence_of(retries, rescued.n, rate=rescued.rate, low=low, high=high),
        confidence=(above(rescued, RETRIES_HELP) if helps else 1 - above(rescued, RETRIES_LOST)),
        severity=None if helps else "low",
    )


def _slow_states(analysis: Analysis) -> Iterator[Draft]:
    for one in analysis.bottlenecks:
        if one.share <= MOST_OF_THE_TIME:
            continue
        slowest = Counts(one.slowest_in, one.runs_counted - one.slowest_in)
        yield Draft(
            category="workflow_pattern",
            topic="bottleneck",
            condition={"workflow": one.workflow_name, "state": one.state},
            prefer=None,
            avoid=None,
            reason=(
                f"{one.state} takes {one.share:.0%} of the time of {one.workflow_name} "
                f"({one.runs_counted} runs, in {one.slowest_in} of them the most)"
            ),
            evidence=Evidence(
                outcomes=one.runs_counted,
                workflows=one.runs_counted,
                since=one.first_at,
                until=one.last_at,
                runs=one.runs,
                measures={"share": one.share, "waiting_share": one.waiting_share},
            ),
            confidence=above(slowest, 0.5),
        )
