"""Resources that AWS cannot know: warned of, and refused for AWS."""

from __future__ import annotations

from typing import Any

import pytest
from asl_builders import machine_of

from dcf.asl import parse, validate
from dcf.problem import Problem

STATES = "arn:aws:states:::"


def task(resource: str) -> dict[str, Any]:
    return machine_of(A={"Type": "Task", "Resource": resource, "End": True})


def only(resource: str, *, only_aws: bool = False) -> Problem:
    [problem] = validate(task(resource), only_aws=only_aws)
    assert problem.path == "/States/A/Resource"
    return problem


@pytest.mark.parametrize(
    ("resource", "meant"),
    [
        (f"{STATES}lambda:invoke.waitForTaskTokn", "`.waitForTaskToken`"),
        (f"{STATES}lambda:invoke.waitForTaskToken2", "`.waitForTaskToken`"),
        (f"{STATES}aws-sdk:s3:putObject.WaitForTaskToken", "`.waitForTaskToken`"),
        (f"{STATES}states:startExecution.synch", "`.sync`"),
        (f"{STATES}states:startExecution.sync:3", "`.sync:2`"),
        ("arn:${AWS::Partition}:states:::sqs:sendMessage.waitForTasktoken", "`.waitForTaskToken`"),
        ("arn:aws:states:::sqs:${Call}.waitFortaskToken", "`.waitForTaskToken`"),
    ],
)
def test_an_unknown_ending_of_a_call(resource: str, meant: str) -> None:
    warned, refused = only(resource), only(resource, only_aws=True)

    assert (warned.code, warned.severity) == ("ASL_UNKNOWN_RESOURCE", "warning")
    assert (refused.code, refused.severity) == ("ASL_NOT_ON_AWS", "error")
    assert warned.hint == refused.hint == f"did you mean {meant}?"
    assert parse(task(resource))


@pytest.mark.parametrize("resource", ["approve.waitForTaskTokn", "${Approve}.waitfortasktoken"])
def test_a_misspelt_callback_of_a_handler(resource: str) -> None:
    assert only(resource).code == "ASL_UNKNOWN_RESOURCE"
    assert "waitForTaskToken" in only(resource).hint


@pytest.mark.parametrize(
    "resource",
    [
        "arn:aws:foo",
        "arn:aws:sqs:eu-west-1:123456789012:orders",
        "arn:aws:lambda:eu-west-1:123456789012:layer:x",
        "arn:aws:states:eu-west-1:123456789012:stateMachine:Orders",
        f"{STATES}lambda",
    ],
)
def test_an_arn_of_nothing_that_a_task_can_call(resource: str) -> None:
    assert only(resource).code == "ASL_UNKNOWN_RESOURCE"
    assert only(resource, only_aws=True).code == "ASL_NOT_ON_AWS"


@pytest.mark.parametrize(
    ("resource", "meant"),
    [
        (f"{STATES}lamda:invoke", "lambda"),
        (f"{STATES}lambda:invok", "invoke"),
        (f"{STATES}sqs:sendMesage.waitForTaskToken", "sendMessage"),
        (f"{STATES}aws-skd:s3:getObject", "aws-sdk"),
    ],
)
def test_a_slip_in_the_name_of_a_service_or_call_is_a_warning(resource: str, meant: str) -> None:
    for only_aws in (False, True):
        problem = only(resource, only_aws=only_aws)

        assert (problem.code, problem.severity) == ("ASL_UNKNOWN_RESOURCE", "warning")
        assert problem.hint == f"did you mean `{meant}`?"


@pytest.mark.parametrize(
    "resource",
    [
        "arn:aws:lambda:eu-west-1:123456789012:function:pay:live",
        "arn:aws-cn:lambda:cn-north-1:123456789012:function:pay",
        "arn:aws:states:eu-west-1:123456789012:activity:count.waitForSomething",
        f"{STATES}states:startExecution.sync:2",
        f"{STATES}sqs:sendMessage.waitForTaskToken",
        f"{STATES}aws-sdk:nosuchservice:doThings",
        f"{STATES}newservice:doThings",
        "arn:aws:states:us-east-1:123456789012:aws-sdk:s3:getObject",
        "arn:${AWS::Partition}:states:${AWS::Region}:${AWS::AccountId}:aws-sdk:s3:getObject",
        "arn:aws:states:::lambda:invoke${Suffix}",
        "arn:aws:states:::${Call}",
        "arn:${Rest}",
        "${FunctionArn}",
        "${FunctionArn}.waitForTaskToken",
    ],
)
def test_what_aws_may_know_is_accepted(resource: str) -> None:
    assert validate(task(resource), only_aws=True) == []
    assert validate(task(resource)) == []


@pytest.mark.parametrize("resource", ["send-mail", "mail.send", "pay.waitForTaskToken", "a.b.c"])
def test_names_of_handlers_are_free(resource: str) -> None:
    assert validate(task(resource)) == []
    assert only(resource, only_aws=True).code == "ASL_NOT_ON_AWS"


LAMBDA = "arn:aws:lambda:eu-west-1:123456789012:function"


@pytest.mark.parametrize("name", ["pay:", "pay:$*#$7485", "pay.now", "pay:1:2", ":1"])
def test_a_function_has_a_name_and_maybe_a_version_or_an_alias(name: str) -> None:
    assert "names no function" in only(f"{LAMBDA}:{name}", only_aws=True).message


@pytest.mark.parametrize(
    "name", ["pay", "pay_2-b:1", "pay:$LATEST", "pay:live", "${Pay}", "p:${V}"]
)
def test_names_of_functions(name: str) -> None:
    assert validate(task(f"{LAMBDA}:{name}"), only_aws=True) == []
