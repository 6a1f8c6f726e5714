"""Corpora of recorded executions come out as recorded, on the interpreter and on the engine.

Our own small corpus always runs. ``DCF_CORPUS`` names another one (else the one beside this
repository, where there is one): its cases are recorded on AWS.
"""

from __future__ import annotations

import json
import os
from importlib.resources import files
from pathlib import Path

import pytest
from campaigns import campaign

from dcf.conformance import Case, EngineName, Result, differences, read_corpus, report, run_corpus

OWN = Path(__file__).with_name("corpus.jsonl")
_BESIDE = Path(__file__).parents[4] / "shared" / "conformance" / "asl" / "corpus.jsonl"
RECORDED = Path(os.environ.get("DCF_CORPUS") or _BESIDE)
# By name, each with its reason; the reference page shows them.
_EXCEPTIONS = files("dcf.cli.reference_pages") / "conformance_exceptions.json"


def results_of(cases: list[Case], engine: EngineName = "pure") -> dict[str, Result]:
    return {result.name: result for result in run_corpus(cases, engine=engine)}


def test_our_own_corpus_holds_in_value_and_in_details() -> None:
    cases = read_corpus(OWN)
    told = report(cases, results_of(cases))
    assert [(one.case.name, one.result) for one in told.failing("value")] == []
    assert [
        (one.case.name, one.result.mismatches) for one in told.judged if one.result.mismatches
    ] == []
    assert told.skipped == ()


@pytest.mark.parametrize("engine", ["twin", "redis"])
def test_the_engine_answers_our_own_corpus_as_the_interpreter_does(engine: EngineName) -> None:
    cases = [case for case in read_corpus(OWN) if case.op == "execute"]
    assert differences(cases, results_of(cases, engine), results_of(cases)) == []


@pytest.mark.skipif(not RECORDED.is_file(), reason="there is no recorded corpus here")
def test_what_aws_answered_is_what_the_interpreter_answers() -> None:
    cases = read_corpus(RECORDED)
    told = report(cases, results_of(cases))
    exceptions = json.loads(_EXCEPTIONS.read_text(encoding="utf-8"))
    assert len(exceptions) <= 5
    assert told.crashed == []
    missed = {one.case.name for one in told.failing("value")}
    assert missed | {skipped.name for skipped in told.skipped} <= exceptions.keys()
    for op, score in told.ops.items():
        assert score.levels["exact"] >= 0.97 * score.cases, op
        assert score.details == score.cases, op


@pytest.mark.timeout(600)
@pytest.mark.skipif(not RECORDED.is_file(), reason="there is no recorded corpus here")
@campaign(shares=4)
@pytest.mark.parametrize("engine", ["twin", "redis"])
def test_the_engine_answers_what_was_recorded_as_the_interpreter_does(
    engine: EngineName, share: int
) -> None:
    cases = [case for case in read_corpus(RECORDED) if case.op == "execute"][share::4]
    assert differences(cases, results_of(cases, engine), results_of(cases)) == []
