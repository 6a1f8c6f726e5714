"""The sections of a report on what was counted."""

from __future__ import annotations

from collections.abc import Iterator

from dcf.advisors.analysis import Analysis
from dcf.advisors.report.report import Bar, Chart, Section
from dcf.advisors.report.tables import few, last_runs, table_of
from dcf.advisors.report.wording import (
    duration,
    moment,
    money,
    p_text,
    percent,
    points,
    several,
    short,
    span,
    span_points,
    sureness,
)

_BARS = 20

_COMPARED = {
    "higher": "higher",
    "lower": "lower",
    "no_difference_found": "no difference found",
    "too_few": "too few",
}


def counted_sections(analysis: Analysis) -> Iterator[Section]:
    """Those that have something to say."""
    yield from _versions(analysis)
    yield from _comparisons(analysis)
    yield from _failures(analysis)
    yield from _retries(analysis)
    yield from _bottlenecks(analysis)
    yield from _drifts(analysis)
    yield from _tiers(analysis)


def _versions(analysis: Analysis) -> Iterator[Section]:
    tracks = [track for track in analysis.versions() if track.counts.n]
    if not tracks:
        return
    rows, bars = [], []
    for track in tracks:
        low, high = track.counts.interval()
        times, costs = track.duration_ms, track.cost_usd
        rows.append(
            (
                short(track.task_type),
                short(track.skill or ""),
                percent(track.counts.rate),
                span(low, high),
                str(track.counts.n),
                several(duration, (times.p50, times.p90, times.p99) if times else ()),
                several(money, (costs.p50, costs.p90) if costs else ()),
                str(track.retried),
                "" if track.record.changed_at is None else moment(track.record.changed_at),
            )
        )
        name = _both(short(track.task_type), short(track.skill or ""))
        bars.append(Bar(name, track.counts.rate or 0.0, low, high, f"n = {track.counts.n}"))
    columns = (
        "task type", "skill version", "success", "95 %", "n", "time p50 / p90 / p99",
        "cost p50 / p90", "retried", "rate changed",
    )  # fmt: skip
    yield Section(
        "Skill versions by type of task",
        (),
        table_of(columns, rows, (2, 3, 4, 7)),
        Chart("Success rate and its 95 % interval, by task type and version", tuple(bars[:_BARS])),
    )


def _comparisons(analysis: Analysis) -> Iterator[Section]:
    rows = [
        (
            short(contest.task_type),
            short(contest.recommended),
            short(rival.skill),
            points(rival.comparison.difference),
            span_points(rival.comparison.low, rival.comparison.high),
            p_text(rival.comparison.p_value),
            sureness(rival.comparison.probability),
            "clearly higher" if rival.is_worse else _COMPARED[rival.comparison.verdict],
        )
        for contest in analysis.contests
        for rival in contest.rivals
    ]
    if rows:
        columns = (
            "task type", "expected best", "against", "points", "95 %", "p", "P(better)", "verdict",
        )  # fmt: skip
        text = "By all outcomes since the last change that was detected, not only of this period."
        yield Section("Held against each other", (text,), table_of(columns, rows, (3, 4, 5, 6)))


def _failures(analysis: Analysis) -> Iterator[Section]:
    if not analysis.failures:
        return
    whole = sum(cluster.n for cluster in analysis.failures)
    rows = [
        (
            cluster.error,
            cluster.pattern or "(no cause)",
            str(cluster.n),
            str(cluster.workflows),
            few(cluster.states),
            few([short(skill) for skill in cluster.skills]),
            cluster.cause or "–",
            last_runs(cluster.runs),
        )
        for cluster in analysis.failures
    ]
    bars = [
        Bar(f"{one.error}: {one.pattern}"[:80], one.n / whole, note=str(one.n))
        for one in analysis.failures[:_BARS]
    ]
    columns = ("error", "kind of cause", "n", "in runs", "states", "skills", "for example", "runs")
    yield Section(
        "Failures by kind",
        (),
        table_of(columns, rows, (2, 3)),
        Chart(f"Share of {whole} failures", tuple(bars)),
    )


def _retries(analysis: Analysis) -> Iterator[Section]:
    rows = [
        (
            one.workflow_name,
            one.state,
            str(one.outcomes),
            str(one.retried),
            percent(one.rescued.rate),
            span(*one.rescued.interval()),
        )
        for one in analysis.retries
    ]
    if rows:
        columns = ("workflow", "state", "outcomes", "tried again", "rescued", "95 %")
        yield Section("Does trying again help", (), table_of(columns, rows, (2, 3, 4, 5)))


def _bottlenecks(analysis: Analysis) -> Iterator[Section]:
    if not analysis.bottlenecks:
        return
    rows = [
        (
            one.workflow_name,
            one.state,
            percent(one.share),
            duration(one.path_ms / one.runs_counted),
            f"{one.slowest_in} of {one.runs_counted}",
            percent(one.waiting_share),
        )
        for one in analysis.bottlenecks
    ]
    longest = sorted(analysis.bottlenecks, key=lambda one: -one.share)[:_BARS]
    bars = [Bar(f"{one.workflow_name}: {one.state}", one.share) for one in longest]
    columns = ("workflow", "state", "of the time", "per run", "slowest in", "between tasks")
    yield Section(
        "Where the time goes",
        ("States on the critical path: what decided when runs ended.",),
        table_of(columns, rows, (2, 3, 4, 5)),
        Chart("Share of the critical path", tuple(bars)),
    )


def _drifts(analysis: Analysis) -> Iterator[Section]:
    changed = [one for one in analysis.drifts if one.rate_changed or one.duration_changed]
    if not analysis.drifts:
        return
    if not changed:
        yield Section("Different from before", ("No change that could not be chance.",))
        return
    rows = [
        (
            short(one.record.task_type),
            short(one.record.skill or "(all)"),
            f"{percent(one.rate.second.rate)} → {percent(one.rate.first.rate)}",
            span_points(one.rate.low, one.rate.high),
            p_text(one.rate.p_value),
            "yes" if one.rate_changed else "no",
            "–" if one.duration_ratio is None else f"× {one.duration_ratio:.2f}",
            "yes" if one.duration_changed else "no",
        )
        for one in changed
    ]
    columns = (
        "task type", "skill", "success", "points, 95 %", "p", "changed", "median time", "changed",
    )  # fmt: skip
    yield Section("Different from before", (), table_of(columns, rows, (3, 4, 6)))


def _tiers(analysis: Analysis) -> Iterator[Section]:
    if not analysis.recalibrations:
        return
    rows = [
        (
            short(one.skill),
            str(one.n),
            str(one.tier),
            "–" if one.fcs is None else f"{one.fcs:.1f}",
            percent(one.escalated.rate),
            percent(one.lower_tiers.rate),
            ", ".join(signal.name.replace("_", " ") for signal in one.signals) or "none",
            one.action if one.adjustment is None else f"{one.action} ({one.adjustment:+.1f})",
        )
        for one in analysis.recalibrations
    ]
    columns = (
        "skill", "n", "tier", "FCS", "escalated", "success below", "signals", "action",
    )  # fmt: skip
    top = f"{percent(analysis.tier_share.share)} of the work was predicted to be of tier 3."
    yield Section(
        "Complexity, predicted and found", (top,), table_of(columns, rows, (1, 2, 3, 4, 5))
    )


def _both(task_type: str, skill: str) -> str:
    return skill if skill.startswith(f"{task_type}@") else f"{task_type}: {skill}"
