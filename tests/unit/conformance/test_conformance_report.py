"""Counts by op and tag, and where two engines differ."""

from __future__ import annotations

from conformance_builders import case

from dcf.conformance import Result, differences, report

ONE = {"status": "SUCCEEDED", "output": 1}


def test_scores_count_each_level_by_op_and_tag() -> None:
    cases = [
        case(name="good", expected=ONE, tags=["pass", "map"]),
        case(name="other", expected=ONE, tags=["pass"]),
        case("create", name="refused", expected={"status": "INVALID", "cause": "no"}),
        case(name="stopped", expected={"status": "ABORTED"}),
        case(name="missing", expected=ONE),
    ]
    results = [
        Result("good", "SUCCEEDED", 1, seconds=0.2),
        Result("other", "SUCCEEDED", 2, mismatches=("other arguments",), seconds=0.4),
        Result("refused", "INVALID", cause="yes", seconds=0.3),
        Result("stopped", "SKIP", cause="from outside"),
    ]

    told = report(cases, {result.name: result for result in results})

    assert told.ops["all"].to_json() == {
        "cases": 3,
        "status": 3,
        "value": 2,
        "exact": 1,
        "details": 2,
    }
    assert told.ops["execute"].cases == 2
    assert told.tags["map"].to_json()["exact"] == 1
    assert [one.case.name for one in told.failing("value")] == ["other"]
    assert [result.name for result in told.skipped] == ["stopped", "missing"]
    assert told.seconds == {"mean": 0.3, "median": 0.3}
    assert "good" not in str(told.to_json())


def test_engines_differ_in_status_output_and_error() -> None:
    cases = [case(name=name, expected=ONE) for name in ("same", "status", "output", "error")]
    here = {
        "same": Result("same", "FAILED", None, "Busy", "this"),
        "status": Result("status", "FAILED"),
        "output": Result("output", "SUCCEEDED", [1, 2]),
        "error": Result("error", "FAILED", error="Busy"),
    }
    there = {
        "same": Result("same", "FAILED", None, "Busy", "that"),
        "status": Result("status", "TIMED_OUT"),
        "output": Result("output", "SUCCEEDED", [2, 1]),
        "error": Result("error", "FAILED", error="Idle"),
    }

    found = differences(cases, here, there)

    assert [(one.name, one.field) for one in found] == [
        ("status", "status"),
        ("output", "output"),
        ("error", "error"),
    ]
    assert (found[1].here, found[1].there) == ([1, 2], [2, 1])


def test_what_a_recording_leaves_open_is_no_difference() -> None:
    expected = {"status": "SUCCEEDED", "output": {"id": "<id>", "n": 1}}
    cases = [case(name="c", expected=expected, placeholders=["<id>"])]

    def results(**output: object) -> dict[str, Result]:
        return {"c": Result("c", "SUCCEEDED", output)}

    assert differences(cases, results(id="x", n=1), results(id="y", n=1)) == []
    assert len(differences(cases, results(id="x", n=1), results(id="x", n=2))) == 1
    assert differences(cases, results(id="x", n=1), {}) == []


def test_details_are_the_last_thing_that_can_be_required() -> None:
    cases = [case(name=name, expected=ONE) for name in ("good", "arguments", "output")]
    results = [
        Result("good", "SUCCEEDED", 1),
        Result("arguments", "SUCCEEDED", 1, mismatches=("other arguments",)),
        Result("output", "SUCCEEDED", 2),
    ]
    told = report(cases, {result.name: result for result in results})
    assert [one.case.name for one in told.failing("exact")] == ["output"]
    assert [one.case.name for one in told.failing("details")] == ["arguments", "output"]
