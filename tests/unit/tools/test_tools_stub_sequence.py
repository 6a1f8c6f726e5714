"""Cases that answer one call after another differently."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from dcf.tools.stub.answer import Answer, Call
from dcf.tools.stub.catalog import Catalog
from dcf.tools.stub.config import build_config
from dcf.tools.stub.desk import Desk

STEPS = [
    {"response": {"state": "pending"}},
    {"errorMode": "throw", "errorCode": "Busy"},
    {"response": {"state": "done", "job": "{{ args.job }}"}, "latencyMsOverride": 40},
]
DONE = {"state": "done", "job": "J1"}


class Bench:
    """A desk with one tool that has one case, a sequence."""

    def __init__(self, folder: Path, then: str | None = None) -> None:
        sequence = {"steps": STEPS} | ({"then": then} if then else {})
        case = {"caseId": "job", "match": {"strategy": "always"}, "sequence": sequence}
        file = folder / "stub.json"
        file.write_text(json.dumps({"servers": {"s": {"tools": {"t": {"cases": [case]}}}}}))
        self.slept: list[float] = []
        self.desk = Desk(
            Catalog(file), seed=1, clock=lambda: 0.0, monotonic=lambda: 0.0, sleep=self._sleep
        )

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    def call(self, job: str = "J1", key: str | None = None) -> Answer:
        tool = self.desk.catalog.current().servers["s"]["t"]
        return asyncio.run(self.desk.answer(tool, Call({"job": job}, key)))

    def outcomes(self, count: int, job: str = "J1") -> list[Any]:
        answers = [self.call(job) for _ in range(count)]
        return [answer.error or answer.data["state"] for answer in answers]


def test_each_call_gets_the_next_step_and_the_last_one_stays(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    assert bench.outcomes(5) == ["pending", "Busy", "done", "done", "done"]
    assert bench.slept == [0.04, 0.04, 0.04]


def test_a_cycle_begins_again(tmp_path: Path) -> None:
    assert Bench(tmp_path, "cycle").outcomes(5) == ["pending", "Busy", "done", "pending", "Busy"]


def test_different_arguments_have_sequences_of_their_own(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    assert bench.outcomes(2, "J1") == ["pending", "Busy"]
    assert bench.outcomes(1, "J2") == ["pending"]
    assert bench.outcomes(1, "J1") == ["done"]


def test_a_repeated_key_gets_its_answer_again_and_moves_nothing(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    first = bench.call(key="a")
    assert bench.call(key="a") == first
    assert bench.call(key="b").error == "Busy"
    assert bench.call(key="a") == first
    assert bench.call(key="c").data == DONE


def test_a_reset_lets_sequences_begin_again_and_keeps_effects(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.call(key="a")
    bench.call()
    bench.desk.reset()
    assert bench.outcomes(1) == ["pending"]
    bench.desk.rewind()
    assert bench.call(key="b").data == {"state": "pending"}
    assert bench.call(key="a").data == {"state": "pending"}
    assert bench.outcomes(1) == ["Busy"]


@pytest.mark.parametrize("sequence", [{"steps": []}, {}, {"steps": [{}], "then": "stop"}])
def test_a_sequence_needs_steps_and_a_known_end(sequence: dict[str, Any]) -> None:
    case = {"caseId": "a", "match": {"strategy": "always"}, "sequence": sequence}
    _, problems = build_config({"servers": {"s": {"tools": {"t": {"cases": [case]}}}}})
    assert [problem.code for problem in problems] == ["TOOL_STUB_SHAPE"]


def test_a_failing_answer_may_say_more(tmp_path: Path) -> None:
    case = {
        "caseId": "a",
        "match": {"strategy": "always"},
        "errorMode": "throw",
        "errorCode": "Declined",
        "response": {"message": "not {{ args.job }}", "reason": 51, "code": "ignored"},
    }
    file = tmp_path / "stub.json"
    file.write_text(json.dumps({"servers": {"s": {"tools": {"t": {"cases": [case]}}}}}))
    desk = Desk(Catalog(file), seed=1, clock=lambda: 0.0, monotonic=lambda: 0.0, sleep=_no_sleep)
    tool = desk.catalog.current().servers["s"]["t"]
    answer = asyncio.run(desk.answer(tool, Call({"job": "J1"})))
    assert answer.error == "Declined"
    assert answer.data == {"code": "Declined", "message": "not J1", "reason": 51}


async def _no_sleep(_seconds: float) -> None:
    return


def test_a_run_goes_through_it_from_its_beginning(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    first = [bench.call(key=f"run-1/Poll/1/1/{n}") for n in range(3)]
    second = [bench.call(key=f"run-2/Poll/1/1/{n}") for n in range(3)]

    told = [answer.error or answer.data["state"] for answer in first]
    assert told == ["pending", "Busy", "done"]
    assert [answer.error or answer.data["state"] for answer in second] == told
