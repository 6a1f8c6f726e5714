"""The analysis: each finding against what can be counted by hand."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from advisor_samples import DAY_MS, NOW, outcome

from dcf.advisors import Analysis, Collector
from dcf.advisors.analysis import critical_path, pattern_of
from dcf.evidence import Counts
from dcf.knowledge import Outcome


def analysed(outcomes: Iterable[Outcome], since: int = 0) -> Analysis:
    collector = Collector(since)
    for one in sorted(outcomes, key=lambda one: one.ended_at):
        collector.add(one)
    return collector.analysis(NOW)


def version(number: str) -> dict[str, object]:
    return {"skills": (f"skill.shop.pay@{number}",)}


def test_outcomes_are_counted_by_period_task_and_version() -> None:
    found = analysed(
        [
            *(outcome(n, n % 4 != 0) for n in range(1, 9)),
            *(outcome(n, **version("2.0.0")) for n in range(200, 205)),
        ],
        since=NOW - 7 * DAY_MS,
    )
    assert (found.outcomes, found.earlier, found.workflows) == (8, 5, 8)
    (whole,) = found.task_types()
    assert (whole.counts, whole.before) == (Counts(6, 2), Counts(5, 0))
    first, second = found.versions()
    assert (first.skill, first.counts) == ("skill.shop.pay@1.0.0", Counts(6, 2))
    assert (second.skill, second.counts, second.steady) == (
        "skill.shop.pay@2.0.0",
        Counts(0, 0),
        Counts(5, 0),
    )


def test_an_outcome_of_two_skills_is_credited_to_each_and_counted_once() -> None:
    both = ("skill.shop.pay@1.0.0", "skill.shop.tell@1.0.0")
    found = analysed([outcome(n, skills=both) for n in range(4)])
    assert [track.counts.n for track in found.tracks] == [4, 4, 4]
    # They work together: neither can be preferred to the other.
    assert found.contests == ()


def test_versions_are_held_against_each_other() -> None:
    (contest,) = analysed(
        [
            *(outcome(n, n % 10 != 0, **version("2.0.0")) for n in range(40)),
            *(outcome(n, n % 2 == 0, **version("1.0.0")) for n in range(40)),
            *(outcome(n, n % 3 != 0, **version("1.5.0")) for n in range(6)),
        ]
    ).contests
    assert contest.recommended == "skill.shop.pay@2.0.0"
    assert (contest.skill, contest.task_type) == ("skill.shop.pay", "pay")
    rivals = {rival.skill: rival for rival in contest.rivals}
    assert rivals["skill.shop.pay@1.0.0"].comparison.first == Counts(36, 4)
    assert rivals["skill.shop.pay@1.0.0"].comparison.second == Counts(20, 20)
    assert rivals["skill.shop.pay@1.0.0"].is_worse
    assert rivals["skill.shop.pay@1.5.0"].comparison.verdict == "too_few"
    assert not rivals["skill.shop.pay@1.5.0"].is_worse


def test_skills_that_do_the_same_work_alone_are_rivals() -> None:
    (contest,) = analysed(
        [
            *(outcome(n) for n in range(5)),
            *(outcome(n, skills=("skill.bank.pay@1.0.0",)) for n in range(5)),
        ]
    ).contests
    assert contest.skill is None


def test_failures_of_a_kind_are_one_cluster() -> None:
    causes = ["order 17 is unknown", "order 4711 is unknown", "order 17 is unknown", "no money"]
    found = analysed(outcome(n, False, cause=cause) for n, cause in enumerate(causes))
    most, least = found.failures
    assert (most.error, most.pattern, most.n) == ("Bank.Refused", "order <n> is unknown", 3)
    assert (most.cause, most.workflows) == ("order 17 is unknown", 3)
    assert (least.pattern, least.n) == ("no money", 1)


@pytest.mark.parametrize(
    ("cause", "pattern"),
    [
        ("waited 3.5 s, then 12ms", "waited <n> s, then <n>ms"),
        ("run 0b5c1c52-4f0e-4b62-9d3a-0a4b4cf7e3a1 gone", "run <id> gone"),
        ("at 2026-05-01T10:00:00Z: HTTP 503", "at <time>: HTTP <n>"),
        ("GET https://api.example.com/v1/7?x=1 failed", "GET <url> failed"),
        ("order ORD-1003 of  CUST-77\nunknown", "order ORD-<n> of CUST-<n> unknown"),
        ("mail to ann@example.com bounced", "mail to <address> bounced"),
        ("blob 9f86d081884c7d65 is missing", "blob <id> is missing"),
        ("no such table", "no such table"),
    ],
)
def test_a_pattern_leaves_out_what_is_different_each_time(cause: str, pattern: str) -> None:
    assert pattern_of(cause) == pattern


def test_retries_are_judged_by_what_they_rescue() -> None:
    found = analysed(
        [
            *(outcome(n) for n in range(10)),
            *(outcome(n, n % 4 != 0, tries=3) for n in range(10, 22)),
        ]
    )
    (retries,) = found.retries
    assert (retries.outcomes, retries.retried, retries.rescued) == (22, 12, Counts(9, 3))
    assert retries.tries == 10 + 3 * 12


def test_the_critical_path_goes_back_from_the_end() -> None:
    # A, then B and C side by side, then D, which waited for C; a loop came back to A.
    visits = [(0, 10, "A"), (10, 15, "B"), (10, 40, "C"), (45, 50, "D"), (50, 53, "A")]
    spent, waited = critical_path(visits)
    assert dict(spent) == {"A": 13, "C": 30, "D": 5}
    assert waited == 5


def test_visits_without_duration_do_not_stop_the_path() -> None:
    spent, waited = critical_path([(5, 5, "A"), (5, 5, "B"), (5, 9, "C")])
    assert (sum(spent.values()), waited) == (4, 0)


def test_bottlenecks_are_shares_of_the_path() -> None:
    tasks = [
        one
        for n in range(1, 4)
        for one in (
            outcome(n, ended_at=NOW - n * DAY_MS),
            outcome(n, state="Tell", path="Tell", ended_at=NOW - n * DAY_MS + 3_000,
                    duration_ms=3_000),
        )
    ]  # fmt: skip
    longest, other = analysed(tasks).bottlenecks
    assert (longest.state, longest.share, longest.slowest_in) == ("Tell", 0.75, 3)
    assert (other.state, other.path_ms, other.runs_counted) == ("Pay", 3_000, 3)


def test_delegated_tasks_count_for_skills_and_are_no_bottlenecks() -> None:
    tasks = [
        outcome(n, workflow_name="task:pay", run=f"t-{n}/1", workflow_id=f"t-{n}")
        for n in range(1, 8)
    ]
    found = analysed([*tasks, outcome(9, run="w/1", workflow_id="w")])
    [bottleneck] = found.bottlenecks
    assert bottleneck.runs == ("w",)
    assert {track.counts.n for track in found.tracks} == {8}


def test_runs_that_had_the_same_id_one_after_the_other_are_several() -> None:
    nightly = [
        outcome(
            0, number != 2, run=f"nightly/{number}", workflow_id="nightly", ended_at=NOW - ago,
            duration_ms=60_000, tries=2, tier=1, fcs=10.0,
        )
        for number, ago in enumerate(range(5 * DAY_MS, 0, -DAY_MS))
    ]  # fmt: skip
    found = analysed(nightly, since=NOW - 30 * DAY_MS)
    assert found.workflows == 5
    assert {(track.workflows, track.workflows_within) for track in found.tracks} == {(5, 5)}
    [bottleneck] = found.bottlenecks
    assert (bottleneck.runs_counted, bottleneck.waiting_share) == (5, 0.0)
    assert bottleneck.path_ms == 5 * 60_000
    [retries] = found.retries
    assert retries.workflows == 5
    [recalibration] = found.recalibrations
    assert recalibration.workflows == 5
    [cluster] = found.failures
    assert cluster.workflows == 1
    for one in (*found.tracks, bottleneck, retries, recalibration, cluster):
        assert one.runs == ("nightly",)


def test_drift_is_the_period_against_the_time_before() -> None:
    since = NOW - 7 * DAY_MS
    found = analysed(
        [
            *(outcome(n, n % 2 == 0, duration_ms=2_000 + n) for n in range(1, 101)),
            *(outcome(n, n % 10 != 0, duration_ms=1_000 + n) for n in range(200, 300)),
        ],
        since,
    )
    whole = next(drift for drift in found.drifts if drift.record.skill is None)
    assert whole.rate_changed
    assert whole.rate.verdict == "lower"
    assert whole.rate.difference == pytest.approx(-0.4)
    assert whole.duration_changed
    # Medians of the even 2 .. 100 and of 200 .. 299 without the tens.
    assert whole.duration_ratio == pytest.approx(2_051 / 1_250, abs=0.01)


def test_nothing_different_is_no_drift() -> None:
    found = analysed((outcome(n, n % 5 != 0) for n in range(1, 300)), NOW - 7 * DAY_MS)
    assert not any(drift.rate_changed or drift.duration_changed for drift in found.drifts)


def test_many_escalations_ask_for_a_higher_score() -> None:
    (one,) = analysed(
        outcome(n, tier=0, fcs=9.0, escalated=n % 5 == 0) for n in range(50)
    ).recalibrations
    assert (one.tier, one.fcs, one.escalated) == (0, 9.0, Counts(10, 40))
    assert [signal.name for signal in one.signals] == ["escalation_rate"]
    assert (one.action, one.adjustment) == ("recalibrate", pytest.approx(3.1))


def test_success_at_a_lower_tier_asks_for_a_lower_score() -> None:
    (one,) = analysed(
        [
            *(outcome(n, tier=2, fcs=30.0) for n in range(40)),
            *(outcome(n, n != 0, tier=1, fcs=30.0) for n in range(20)),
        ]
    ).recalibrations
    assert [signal.name for signal in one.signals] == ["success_at_lower_tier"]
    assert (one.tier, one.lower_tiers, one.adjustment) == (2, Counts(19, 1), -5.0)


def test_a_skill_dearer_than_its_tier_is_a_signal() -> None:
    cheap = [outcome(n, tier=1, fcs=20.0, cost_usd=0.01) for n in range(40)]
    dear = [
        outcome(n, tier=1, fcs=20.0, cost_usd=0.02, skills=("skill.shop.write@1.0.0",))
        for n in range(15)
    ]
    one, other = analysed(cheap + dear).recalibrations
    assert one.signals == ()
    (signal,) = other.signals
    assert (signal.name, signal.measured) == ("cost_deviation", pytest.approx(1.0))


def test_the_share_of_the_highest_tier_is_watched() -> None:
    tiers = analysed(outcome(n, tier=3 if n % 5 == 0 else 1) for n in range(50)).tier_share
    assert (tiers.share, tiers.is_high) == (0.2, True)


def test_outcomes_without_a_prediction_say_nothing_of_it() -> None:
    found = analysed(outcome(n) for n in range(20))
    assert (found.recalibrations, found.tier_share.n) == ((), 0)
