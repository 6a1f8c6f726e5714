"""What an analysis shows of skill versions that do the same work."""

from __future__ import annotations

from collections.abc import Iterator

from dcf.advisors.analysis import Contest, Rival
from dcf.advisors.reflector.draft import Draft, above, evidence_of, share_of
from dcf.evidence import INFERIOR, Counts


def better_version(contest: Contest) -> Iterator[Draft]:
    """Which one to prefer; of those that are clearly worse, the worst is to be avoided."""
    tracks = {track.skill: track for track in contest.records}
    top = tracks[contest.recommended]
    low, high = top.steady.interval()
    runner_up = contest.rivals[0]
    against = runner_up.comparison
    outcomes = sum(track.steady.n for track in contest.records)
    worse = [rival for rival in contest.rivals if rival.is_worse]
    avoid = min(worse, key=lambda rival: rival.comparison.second.rate or 0.0, default=None)
    yield Draft(
        category="skill_effectiveness",
        topic="version" if contest.skill else "skill",
        condition=_condition(contest),
        prefer=contest.recommended,
        avoid=avoid.skill if avoid else None,
        reason=(
            f"{contest.recommended} succeeded in {share_of(top.steady)}, "
            f"{runner_up.skill} in {share_of(against.second)}"
            + _and_worst(avoid, runner_up)
        ),
        evidence=evidence_of(
            top, outcomes, rate=top.steady.rate, low=low, high=high,
            rival_rate=against.second.rate, difference=against.difference,
            difference_low=against.low, difference_high=against.high, p_value=against.p_value,
        ),
        confidence=contest.confidence,
    )  # fmt: skip


def _and_worst(avoid: Rival | None, runner_up: Rival) -> str:
    if avoid is None or avoid is runner_up:
        return ""
    return f", {avoid.skill} in {share_of(avoid.comparison.second)}"


def faster_version(contest: Contest) -> Iterator[Draft]:
    """Those that take less time and are shown to succeed about as often."""
    tracks = {track.skill: track for track in contest.records}
    top = tracks[contest.recommended].duration_ms
    for rival in contest.rivals:
        own = tracks[rival.skill].duration_ms
        if rival.faster is None or own is None or top is None:
            continue
        yield Draft(
            category="efficiency",
            topic="speed",
            condition=_condition(contest),
            prefer=rival.skill,
            avoid=None,
            reason=(
                f"{rival.skill} takes {own.p50:.0f} ms where {contest.recommended} takes "
                f"{top.p50:.0f} ms (medians), and succeeds at most {INFERIOR:.0%} less often"
            ),
            evidence=evidence_of(
                tracks[rival.skill], own.n, median_ms=own.p50, rival_median_ms=top.p50,
                difference_low=-rival.comparison.high, difference_high=-rival.comparison.low,
            ),
            confidence=above(Counts(rival.faster, rival.timed - rival.faster), 0.5),
        )  # fmt: skip


def _condition(contest: Contest) -> dict[str, str]:
    condition = {"task_type": contest.task_type}
    if contest.skill is not None:
        condition["skill"] = contest.skill
    return condition
