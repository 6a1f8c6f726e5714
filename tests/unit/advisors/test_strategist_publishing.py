"""From analyses to guidelines, and what becomes of advice."""

from __future__ import annotations

from dataclasses import replace

from strategist_samples import BAD, GOOD, NOW, RULES, ended, session, versions

from dcf.advisors.strategist import (
    Activity,
    Change,
    Remark,
    StrategistGuidelines,
    analyse,
    follow,
    patterns,
    publish,
    read_strategist_guidelines,
)
from dcf.knowledge import InsightFact
from dcf.knowledge.session_fact import SESSION_RECORDS

NEW = StrategistGuidelines.new(RULES)
DAY_MS = 86_400_000


def published(
    activity: Activity, guidelines: StrategistGuidelines = NEW, now: int | None = None
) -> tuple[StrategistGuidelines, tuple[Change, ...]]:
    analysis = analyse(activity, RULES, guidelines.bounds)
    return publish(analysis, guidelines, RULES, activity.now if now is None else now)


def what(changes: tuple[Change, ...]) -> list[str]:
    return [one.what for one in changes]


def later(first: int, good: int, bad: int) -> list:
    """Tasks from ``first`` on, all with the preferred version."""
    ends = [True] * good + [False] * bad
    return [ended(first + place, ok, skills=(GOOD,)) for place, ok in enumerate(ends)]


def test_what_shows_is_published_with_its_reason() -> None:
    guidelines, changes = published(session(*versions(20)))
    assert what(changes) == ["published", "published"]
    assert guidelines.skill_preferences == {"refund": GOOD}
    (remark,), (warning,) = guidelines.recommendations, guidelines.warnings
    assert remark.confidence is not None and remark.confidence > 0.99
    assert remark.evidence["observations"] == 20
    assert remark.expires_at == (remark.at or 0) + 30 * DAY_MS
    assert warning.text.startswith(f"{BAD} fails at refund")
    assert (guidelines.revision, guidelines.update_count) == (1, 1)
    assert read_strategist_guidelines(guidelines.text).text == guidelines.text


def test_the_same_analysis_changes_nothing() -> None:
    activity = session(*versions(20))
    guidelines, _ = published(activity)
    again, changes = published(activity, guidelines)
    assert (again, changes) == (guidelines, ())


def test_more_evidence_is_no_other_advice() -> None:
    guidelines, _ = published(session(*versions(20)))
    after, changes = published(session(*versions(24)), guidelines)
    assert changes == ()
    assert (after.revision, after.update_count) == (1, 2)
    (remark,) = after.recommendations
    assert remark.evidence["observations"] == 24
    assert remark.at == guidelines.recommendations[0].at


def test_somebodys_word_is_not_overwritten() -> None:
    mine = replace(NEW, skill_preferences={"refund": "skill.mine@1.0.0"})
    guidelines, changes = published(session(*versions(20)), mine)
    assert guidelines.skill_preferences == {"refund": "skill.mine@1.0.0"}
    assert what(changes) == ["kept", "published"]
    _, again = published(session(*versions(20)), guidelines)
    assert again == ()


def test_advice_without_new_evidence_expires() -> None:
    guidelines, _ = published(session(*versions(20)))
    quiet = Activity("session-2", NOW)
    kept, changes = published(quiet, guidelines, now=guidelines.updated_at or 0)
    assert (kept, changes) == (guidelines, ())
    gone, changes = published(quiet, guidelines, now=(guidelines.updated_at or 0) + 31 * DAY_MS)
    assert what(changes) == ["expired", "expired"]
    assert (gone.skill_preferences, gone.remarks) == ({}, ())
    assert gone.revision == 2


def test_advice_that_as_many_outcomes_do_not_bear_out_goes() -> None:
    guidelines, _ = published(session(*versions(20)))
    alike = [ended(number, skills=((BAD, GOOD)[number % 2],)) for number in range(60)]
    after, changes = published(session(*alike, session_id="session-2"), guidelines)
    assert what(changes) == ["expired", "expired"]
    assert after.remarks == ()


def test_what_somebody_said_does_not_expire() -> None:
    said = replace(NEW, recommendations=(Remark("take care", at=NOW),))
    after, changes = published(Activity("session-2", NOW), said, now=NOW + 99 * DAY_MS)
    assert (after, changes) == (said, ())


def test_advice_that_helped_is_known_to() -> None:
    before = versions(20)
    guidelines, _ = published(replace(session(*before), now=before[-1].finished_at))
    assert follow(guidelines, session(*before), RULES) == guidelines
    activity = session(*before, *later(60, good=30, bad=0))
    after = follow(guidelines, activity, RULES)
    (remark,) = after.recommendations
    assert remark.followed is not None
    assert (remark.followed.verdict, remark.followed.offered) == ("helped", 30)
    assert (remark.followed.before.n, remark.followed.now.n) == (40, 30)
    assert remark.followed.difference == 1 - 25 / 40
    assert follow(after, activity, RULES) == after
    assert read_strategist_guidelines(after.text).text == after.text


def test_advice_that_did_harm_is_withdrawn_and_not_given_again() -> None:
    before = versions(20)
    guidelines, _ = published(replace(session(*before), now=before[-1].finished_at))
    activity = session(*before, *later(60, good=3, bad=27))
    followed = follow(guidelines, activity, RULES)
    assert followed.recommendations[0].followed is not None
    assert followed.recommendations[0].followed.verdict == "hurt"
    # An analysis of the same outcomes as before would say the same once more.
    after, changes = published(session(*before), followed)
    assert what(changes) == ["withdrawn"]
    assert after.skill_preferences == {}
    assert [one.id for one in after.withdrawn] == [guidelines.recommendations[0].id]
    assert published(session(*before), after)[1] == ()


def test_counts_of_several_sessions_are_added_up() -> None:
    before = versions(20)
    guidelines, _ = published(replace(session(*before), now=before[-1].finished_at))
    first = follow(guidelines, session(*before, *later(60, good=10, bad=0)), RULES)
    second = session(*later(200, good=9, bad=1), session_id="session-2")
    (remark,) = follow(first, second, RULES).recommendations
    assert remark.followed is not None
    assert (remark.followed.past.n, remark.followed.now.n, remark.followed.before.n) == (10, 10, 40)


def test_advice_nobody_took_is_told() -> None:
    before = versions(20)
    guidelines, _ = published(replace(session(*before), now=before[-1].finished_at))
    others = [ended(60 + number, skills=(BAD,)) for number in range(10)]
    (remark,) = follow(guidelines, session(*before, *others), RULES).recommendations
    assert remark.followed is not None
    assert (remark.followed.verdict, remark.followed.offered) == ("not_taken", 10)


def test_patterns_are_records_that_the_graph_takes() -> None:
    analysis = analyse(session(*versions(20), conductor_id="conductor-1"), RULES, NEW.bounds)
    found = patterns(analysis, RULES)
    assert {one.kind for one in found} == {
        "session_pattern",
        "skill_metric",
        "companion_pattern",
        "insight",
    }
    for one in found:
        kind = InsightFact if one.kind == "insight" else SESSION_RECORDS[one.kind]
        assert kind.from_json(one.data).id == one.data["id"]
    ids = [one.data["id"] for one in found]
    assert len(set(ids)) == len(ids)
    (metric,) = (one.data for one in found if one.data.get("subject") == f"{GOOD} at refund")
    assert metric["values"]["success_count"] == metric["observations"] == 20


def test_a_pattern_keeps_its_id_while_the_session_goes_on() -> None:
    def ids(count: int, name: str = "session-1") -> set[str]:
        analysis = analyse(session(*versions(count), session_id=name), RULES, NEW.bounds)
        return {one.data["id"] for one in patterns(analysis, RULES)}

    assert ids(20) == ids(24)
    assert not ids(20) & ids(20, "session-2")


def test_of_fewer_than_five_observations_nothing_is_kept() -> None:
    few = analyse(session(*(ended(number) for number in range(4))), RULES, NEW.bounds)
    assert patterns(few, RULES) == ()
