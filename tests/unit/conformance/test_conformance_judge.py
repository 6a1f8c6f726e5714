"""At which level a result is what was recorded."""

from __future__ import annotations

from conformance_builders import case

from dcf.conformance import Judgement, Result, judge

NO = Judgement(False, False, False)
STATUS = Judgement(True, False, False)
VALUE = Judgement(True, True, False)
EXACT = Judgement(True, True, True)


def test_another_status_is_nothing() -> None:
    wanted = case(expected={"status": "SUCCEEDED", "output": 1})
    assert judge(wanted, Result("a case", "FAILED", 1)) == NO


def test_output_and_error_name_are_the_value() -> None:
    succeeded = case(expected={"status": "SUCCEEDED", "output": {"a": 1}})
    assert judge(succeeded, Result("a case", "SUCCEEDED", {"a": 2})) == STATUS
    assert judge(succeeded, Result("a case", "SUCCEEDED", {"a": 1.0})) == EXACT

    failed = case(expected={"status": "FAILED", "error": "Busy", "cause": "later"})
    assert judge(failed, Result("a case", "FAILED", error="Idle", cause="later")) == STATUS
    assert judge(failed, Result("a case", "FAILED", error="Busy", cause="now")) == VALUE
    assert judge(failed, Result("a case", "FAILED", error="Busy", cause="later")) == EXACT


def test_what_was_not_recorded_must_not_be_there() -> None:
    bare = case(expected={"status": "FAILED"})
    assert judge(bare, Result("a case", "FAILED", error="Busy")) == STATUS
    assert judge(bare, Result("a case", "FAILED", cause="later")) == VALUE
    assert judge(bare, Result("a case", "FAILED")) == EXACT


def test_a_refusal_is_exact_with_the_words_of_aws() -> None:
    refused = case("create", expected={"status": "INVALID", "cause": "MISSING: 'Next' at /S"})
    assert judge(refused, Result("a case", "VALID")) == NO
    assert judge(refused, Result("a case", "INVALID", cause="something else")) == VALUE
    assert judge(refused, Result("a case", "INVALID", cause="MISSING: 'Next' at /S")) == EXACT


def test_the_words_of_the_client_that_recorded_do_not_count() -> None:
    prefix = "An error occurred (Invalid) when calling the Create operation: "
    refused = case("create", expected={"status": "INVALID", "cause": f"{prefix}MISSING"})
    assert judge(refused, Result("a case", "INVALID", cause="MISSING")) == EXACT


def test_ours_may_say_more_than_aws_did() -> None:
    refused = case("create", expected={"status": "INVALID", "cause": "MISSING: 'Next'"})
    ours = "MISSING: 'Next', MISSING: 'End'"
    assert judge(refused, Result("a case", "INVALID", cause=ours)) == EXACT


def test_an_emulator_that_stood_in_for_aws_wrapped_its_message() -> None:
    wrapped = """Error=ValueError Args=["A tab: '\\t'"] in definition '{"StartAt": "S"}'."""
    refused = case("create", expected={"status": "INVALID", "cause": wrapped})
    assert judge(refused, Result("a case", "INVALID", cause="LABEL: A tab: '\t' at /S")) == EXACT
    assert judge(refused, Result("a case", "INVALID", cause="LABEL: at /S")) == VALUE


def test_one_of_the_diagnostics_is_enough() -> None:
    messages = [{"message": "first"}, {"message": "second"}]
    refused = case("validate", expected={"status": "INVALID", "diagnostics": messages})
    assert judge(refused, Result("a case", "INVALID", cause="second")) == EXACT
    assert judge(refused, Result("a case", "INVALID", cause="third")) == VALUE


def test_variable_references_are_compared_whole() -> None:
    wanted = case(
        "variable_references", expected={"status": "VALID", "variableReferences": {"P": ["x"]}}
    )
    assert judge(wanted, Result("a case", "VALID", {"P": ["x"]})) == EXACT
    assert judge(wanted, Result("a case", "VALID", {"P": []})) == STATUS


def test_placeholders_stand_for_anything() -> None:
    wanted = case(
        expected={"status": "FAILED", "error": "Busy", "cause": "request <id> failed"},
        placeholders=["<id>"],
    )
    assert (
        judge(wanted, Result("a case", "FAILED", error="Busy", cause="request 7 failed")) == EXACT
    )
