"""The stub's answers, without a network: a clock that stands still, sleeps that are only noted."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from dcf.tools.stub.answer import Answer, Call
from dcf.tools.stub.catalog import Catalog
from dcf.tools.stub.desk import Desk

NOW = 1_000.0


class Bench:
    """A desk with one tool ``s:t``."""

    def __init__(self, path: Path, tool: dict[str, Any], *, seed: int | None = None) -> None:
        self.slept: list[float] = []
        file = path / "stub.json"
        file.write_text(json.dumps({"seed": 5, "servers": {"s": {"tools": {"t": tool}}}}))
        self.desk = Desk(
            Catalog(file), seed=seed, clock=lambda: NOW, monotonic=lambda: 0.0, sleep=self._sleep
        )

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    def call(
        self, arguments: dict[str, Any] | None = None, key: str | None = None, fence: int = 1
    ) -> Answer:
        tool = self.desk.catalog.current().servers["s"]["t"]
        return asyncio.run(self.desk.answer(tool, Call(arguments or {}, key, fence)))


def case(case_id: str, **members: Any) -> dict[str, Any]:
    return {"caseId": case_id, "match": {"strategy": "always"}, "response": case_id, **members}


def test_the_heaviest_matching_case_answers_and_equals_are_tried_in_order(tmp_path: Path) -> None:
    cases = [
        case("light"),
        case("zero", weight=0),
        case("heavy", weight=2, match={"strategy": "exact", "expr": "$.q", "value": 1}),
        case("middle", weight=1),
    ]
    bench = Bench(tmp_path, {"cases": cases})
    assert bench.call({"q": 1}).data == "heavy"
    assert bench.call({"q": True}).data == "middle"
    assert Bench(tmp_path, {"cases": cases[:2]}).call().data == "light"


def test_the_default_answers_when_no_case_matches(tmp_path: Path) -> None:
    cases = [case("a", match={"strategy": "exact", "expr": "$.q", "value": 1})]
    bench = Bench(tmp_path, {"cases": cases, "defaultResponse": {"you": "{{args.who}}"}})
    answer = bench.call({"who": "Ann"})
    assert (answer.data, answer.case_id) == ({"you": "Ann"}, "default")


def test_a_response_template_is_json_where_it_is_json(tmp_path: Path) -> None:
    bench = Bench(
        tmp_path, {"cases": [case("a", response=None, responseTemplate='{"n": "{{n}}"}')]}
    )
    assert bench.call({"n": 2}).data == {"n": 2}
    bench = Bench(tmp_path, {"cases": [case("a", response=None, responseTemplate="hello {{n}}")]})
    assert bench.call({"n": 2}).data == "hello 2"
    digits = "9" * 5_000  # more than Python reads as a number
    bench = Bench(tmp_path, {"cases": [case("a", response=None, responseTemplate=digits)]})
    assert bench.call({}).data == digits


@pytest.mark.parametrize(
    ("members", "code"),
    [
        ({"errorMode": "throw"}, "StubThrown"),
        ({"errorMode": "throw", "errorCode": "NotFound"}, "NotFound"),
        ({"errorMode": "http_500"}, "Http500"),
        ({"errorMode": "flaky", "flakyRate": 1}, "StubFlaky"),
        ({"errorMode": "timeout"}, "StubTimeout"),
    ],
)
def test_an_error_mode_fails_with_a_code(
    tmp_path: Path, members: dict[str, Any], code: str
) -> None:
    answer = Bench(tmp_path, {"cases": [case("a", **members)]}).call()
    assert (answer.error, answer.data["code"], answer.case_id) == (code, code, "a")
    assert "s:t" in answer.data["message"]


def test_a_timeout_holds_the_call_for_an_hour_and_then_fails(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"cases": [case("a", errorMode="timeout")]})
    assert bench.call(key="k").error == "StubTimeout"
    assert bench.call(key="k").error == "StubTimeout"
    assert bench.slept == [3600, 3600]


def test_a_flaky_case_fails_as_often_as_its_rate_says_and_the_same_calls_every_time(
    tmp_path: Path,
) -> None:
    tool = {"cases": [case("a", errorMode="flaky", flakyRate=0.3)]}
    outcomes = [
        [bench.call(key=f"k{n}").error is not None for n in range(1000)]
        for bench in (Bench(tmp_path, tool), Bench(tmp_path, tool), Bench(tmp_path, tool, seed=6))
    ]
    assert outcomes[0] == outcomes[1] != outcomes[2]
    # The standard deviation of the count is 14.5.
    assert abs(sum(outcomes[0]) - 300) < 5 * 14.5


def test_without_a_key_a_flaky_case_goes_by_the_number_of_the_call(tmp_path: Path) -> None:
    tool = {"cases": [case("a", errorMode="flaky", flakyRate=0.5)]}
    bench = Bench(tmp_path, tool)
    first = [bench.call().error for _ in range(30)]
    bench.desk.reset()
    assert [bench.call().error for _ in range(30)] == first
    assert len(set(first)) == 2


def test_a_case_may_have_a_seed_of_its_own(tmp_path: Path) -> None:
    tool = {"cases": [case("a", response="{{uuid}}", seed=1)]}
    assert (
        Bench(tmp_path, tool).call(key="k").data == Bench(tmp_path, tool, seed=9).call(key="k").data
    )


def test_arguments_are_checked_and_every_fault_is_told(tmp_path: Path) -> None:
    schema = {"properties": {"q": {"type": "string"}, "n": {"minimum": 1}}, "required": ["z"]}
    bench = Bench(tmp_path, {"paramsSchema": schema, "cases": [case("a")]})
    answer = bench.call({"q": 1, "n": 0}, key="k")
    assert answer.error == "InvalidArguments"
    assert sorted(fault["path"] for fault in answer.data["problems"]) == ["", "/n", "/q"]
    assert bench.call({"q": "x", "n": 1, "z": 0}, key="k").data == "a"


def test_an_answer_that_breaks_the_result_schema_is_an_error_that_names_the_case(
    tmp_path: Path,
) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    bench = Bench(tmp_path, {"resultSchema": schema, "cases": [case("a", response={"n": "x"})]})
    answer = bench.call()
    assert answer.error == "InvalidResponse"
    assert "case a of s:t" in answer.data["message"]
    assert "/n" in answer.data["message"]


def test_a_schema_that_points_elsewhere_is_not_fetched(tmp_path: Path) -> None:
    schema = {"properties": {"q": {"$ref": "http://127.0.0.1:9/schema.json"}}}
    answer = Bench(tmp_path, {"paramsSchema": schema}).call({"q": 1})
    assert answer.error == "BrokenSchema"


def test_a_repeated_key_gets_the_first_answer_and_is_counted_as_replayed(tmp_path: Path) -> None:
    bench = Bench(
        tmp_path, {"latencyMs": {"default": 50}, "cases": [case("a", response="{{uuid}}")]}
    )
    first, again, other = bench.call(key="k"), bench.call(key="k", fence=2), bench.call(key="l")
    assert first == again != other
    assert bench.slept == [0.05, 0.05]
    assert bench.desk.metrics.to_dict() == {
        "tool_calls": {"s:t": 3},
        "case_hits": {"s:t:a": 2},
        "errors": {},
        "replayed": {"s:t": 1},
        "totals": {"tool_calls": 3, "case_hits": 2, "errors": 0, "replayed": 1},
    }
    log = bench.desk.calls.to_list()
    assert [(c["idempotency_key"], c["fence"], c["replayed"]) for c in log] == [
        ("k", 1, False),
        ("k", 2, True),
        ("l", 1, False),
    ]
    assert log[0] == {
        "server": "s",
        "tool": "t",
        "arguments": {},
        "idempotency_key": "k",
        "fence": 1,
        "case": "a",
        "error": None,
        "replayed": False,
        "at": NOW,
    }


def test_a_failure_is_recorded_under_its_key_like_any_answer(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"cases": [case("a", errorMode="throw")]})
    assert bench.call(key="k") == bench.call(key="k")
    assert bench.desk.metrics.to_dict()["errors"] == {"s:t": 1}


def test_a_key_with_other_arguments_is_refused(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"cases": [case("a")]})
    bench.call({"q": 1}, key="k")
    assert bench.call({"q": 2}, key="k").error == "IdempotencyKeyReused"


def test_an_effect_outlives_a_reset_of_the_counters(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"cases": [case("a", response="{{uuid}}")]})
    first = bench.call(key="k")
    bench.desk.reset()
    assert bench.desk.calls.to_list() == []
    assert bench.call(key="k") == first


async def test_a_call_cut_off_during_its_latency_has_had_its_effect(tmp_path: Path) -> None:
    file = tmp_path / "stub.json"
    tool = {"cases": [case("a", response="{{uuid}}", latencyMsOverride=60_000)]}
    file.write_text(json.dumps({"servers": {"s": {"tools": {"t": tool}}}}))
    desk = Desk(
        Catalog(file), seed=1, clock=lambda: NOW, monotonic=lambda: 0.0, sleep=asyncio.sleep
    )
    served = desk.catalog.current().servers["s"]["t"]
    cut = asyncio.create_task(desk.answer(served, Call({}, "k")))
    await asyncio.sleep(0)
    cut.cancel()
    again = await desk.answer(served, Call({}, "k"))
    assert again.case_id == "a"
    assert [line["replayed"] for line in desk.calls.to_list()] == [False, True]


def test_the_log_keeps_the_last_thousand_calls(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"cases": [case("a")]})
    for number in range(1_001):
        bench.call({"n": number})
    log = bench.desk.calls.to_list()
    assert (len(log), log[0]["arguments"], log[-1]["arguments"]) == (1000, {"n": 1}, {"n": 1000})


def test_a_rate_limit_spaces_the_calls_of_a_tool(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"rateLimit": {"rps": 4}, "cases": [case("a")]})
    for _ in range(4):
        bench.call()
    assert bench.slept == [0.25, 0.5, 0.75]


def test_a_search_without_end_is_an_error_not_a_hang(tmp_path: Path) -> None:
    slow = case("a", match={"strategy": "regex", "expr": "$.q", "value": "(a|aa)+$"})
    answer = Bench(tmp_path, {"cases": [slow]}).call({"q": "a" * 60 + "b"})
    assert answer.error == "RegexTooSlow"
