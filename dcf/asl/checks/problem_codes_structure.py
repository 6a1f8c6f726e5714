"""Codes about the form of a definition: JSON, fields, names, transitions, kinds of machines."""

from __future__ import annotations

from typing import Any

from dcf.asl.checks.problem_code import ProblemCode, alone, machine

_DONE: dict[str, Any] = {"Type": "Succeed"}
_LAMBDA = "arn:aws:states:::lambda:invoke"
_INNER = machine(B={"Type": "Pass", "End": True})
_CHILD = {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, **_INNER}
_OTHER = {**_CHILD, **machine(C={"Type": "Pass", "End": True})}


def _deep() -> str:
    return '{"Comment": ' + "[" * 101 + "]" * 101 + "}"


def _long() -> str:
    return '{"Comment": "' + "x" * 1_048_576 + '"}'


def _digits() -> str:
    return '{"TimeoutSeconds": ' + "9" * 5000 + "}"


STRUCTURE: dict[str, ProblemCode] = {
    "ASL_JSON_SYNTAX": ProblemCode(
        "The text is JSON.", "Check the comma, quote or bracket just before.", '{"StartAt": "A",}'
    ),
    "ASL_JSON_DUPLICATE_KEY": ProblemCode(
        "A key stands once in an object.",
        "Rename or remove one: only the last would count.",
        '{"StartAt": "A", "StartAt": "B", "States": {"B": {"Type": "Succeed"}}}',
    ),
    "ASL_JSON_NOT_FINITE": ProblemCode(
        "Numbers are finite.", "Write a number that JSON knows.", '{"TimeoutSeconds": NaN}'
    ),
    "ASL_JSON_NOT_UNICODE": ProblemCode(
        "Texts and keys hold no half of a surrogate pair, which UTF-8 cannot write.",
        "Write the whole pair, or leave it out.",
        r'{"Comment": "\ud800"}',
    ),
    "ASL_JSON_NUMBER": ProblemCode(
        "Numbers have at most 4300 digits.", "Write it as a text in quotes.", _digits
    ),
    "ASL_NOT_JSON": ProblemCode(
        "A definition built in Python holds JSON values only.",
        "Use dicts, lists, strings, finite numbers, booleans and None.",
        {"Comment": float("nan"), **machine(A=_DONE)},
    ),
    "ASL_TOO_DEEP": ProblemCode(
        "Arrays and objects nest at most 100 deep, machines at most 16.",
        "Nest less; move an inner machine to a workflow of its own.",
        _deep,
    ),
    "ASL_TOO_LARGE": ProblemCode(
        "AWS takes definitions of at most 1,048,576 characters (files given to `dcf asl`).",
        "Move a part to a state machine of its own.",
        _long,
    ),
    "ASL_WRONG_TYPE": ProblemCode(
        "A field has the JSON type that its definition says.",
        "Write strings in quotes, numbers and booleans without.",
        alone("Wait", Seconds="5"),
    ),
    "ASL_OUT_OF_RANGE": ProblemCode(
        "A number lies in its range, a word is one of those allowed, nothing required is empty.",
        "The message says the range or the words.",
        alone("Wait", Seconds=-1),
    ),
    "ASL_MISSING_FIELD": ProblemCode(
        "Required fields are there.", "Add the field.", machine(A={"Type": "Task", "End": True})
    ),
    "ASL_UNKNOWN_FIELD": ProblemCode(
        "Only fields of the language stand in a definition, in the case that it writes them.",
        "Check the spelling; notes belong into `Comment`.",
        alone("Pass", comment="x"),
    ),
    "ASL_FIELD_CLASH": ProblemCode(
        "Fields that exclude each other do not stand together.",
        "Keep one of them.",
        alone("Task", Resource=_LAMBDA, TimeoutSeconds=5, TimeoutSecondsPath="$.limit"),
    ),
    "ASL_UNKNOWN_TYPE": ProblemCode(
        "`Type` is one of the eight types of states.", "Check the spelling.", alone("Taks")
    ),
    "ASL_BAD_STATE_NAME": ProblemCode(
        "The name of a state has 1 to 80 characters.",
        "Give it a shorter name.",
        machine(**{"x" * 81: _DONE}),
    ),
    "ASL_DUPLICATE_STATE_NAME": ProblemCode(
        "Names of states are unique in the whole definition, inner machines included.",
        "Rename one of them.",
        alone("Parallel", Branches=[machine(A=_DONE)]),
    ),
    "ASL_NEXT_AND_END": ProblemCode(
        "A state goes on or ends, not both.",
        "Keep `Next` or `End`.",
        machine(A={"Type": "Pass", "Next": "B", "End": True}, B=_DONE),
    ),
    "ASL_NO_TRANSITION": ProblemCode(
        "A state that is not Choice, Succeed or Fail has `Next` or `End: true`.",
        "Name the next state, or end the machine here.",
        machine(A={"Type": "Pass"}),
    ),
    "ASL_UNKNOWN_STATE": ProblemCode(
        "`StartAt`, `Next` and `Default` name states of the same machine.",
        "Check the spelling; a branch cannot lead out of itself.",
        machine(A={"Type": "Pass", "Next": "Nowhere"}),
    ),
    "ASL_UNREACHABLE_STATE": ProblemCode(
        "Every state can be reached from `StartAt`: AWS refuses a definition with one that cannot"
        " (`MISSING_TRANSITION_TARGET`, an error).",
        "Let a state that is reached name it, or remove it.",
        machine(A=_DONE, B=_DONE),
    ),
    "ASL_NO_TERMINAL_STATE": ProblemCode(
        "Some state of the outermost machine ends it.",
        "Give a state `End: true`, or add a Succeed or Fail state.",
        machine(A={"Type": "Pass", "Next": "A"}),
    ),
    "ASL_CYCLE_WITHOUT_EXIT": ProblemCode(
        "A loop can be left.",
        "Add a Choice, or a transition, that leads out.",
        machine(
            A={
                "Type": "Choice",
                "Choices": [{"Variable": "$.go", "BooleanEquals": True, "Next": "B"}],
                "Default": "C",
            },
            B={"Type": "Pass", "Next": "B"},
            C=_DONE,
        ),
        is_warning=True,
    ),
    "ASL_EXPRESS_UNSUPPORTED": ProblemCode(
        "An EXPRESS machine has no callbacks, `.sync` calls, activities and distributed Maps.",
        "Use a STANDARD machine, or a resource that answers at once.",
        alone("Task", Resource="arn:aws:states:::sqs:sendMessage.waitForTaskToken"),
        type="EXPRESS",
    ),
    "ASL_UNKNOWN_RESOURCE": ProblemCode(
        "A `Resource` that is an ARN names a function, an activity or a call of a service, which"
        " ends in `.sync`, `.sync:2`, `.waitForTaskToken` or none of them.",
        "Check the spelling.",
        alone("Task", Resource=f"{_LAMBDA}.waitForTaskTokn"),
        is_warning=True,
    ),
    "ASL_NOT_ON_AWS": ProblemCode(
        "With `--aws`, nothing stands in a definition that only DCF has.",
        "Name a `Resource` by its ARN.",
        alone("Task", Resource="send-mail"),
        only_aws=True,
    ),
    "ASL_NOT_DISTRIBUTED": ProblemCode(
        "`ItemReader`, `ItemBatcher`, `ResultWriter` and `Label` belong to a distributed Map.",
        "Set `ProcessorConfig`, or leave the field out.",
        alone("Map", Label="orders", ItemProcessor=_INNER),
    ),
    "ASL_BAD_LABEL": ProblemCode(
        "A label has 1 to 40 characters, no spaces, brackets, wildcards and special characters.",
        "Write letters, digits, `-` and `_`.",
        alone("Map", Label="my orders", ItemProcessor=_CHILD),
    ),
    "ASL_DUPLICATE_LABEL": ProblemCode(
        "Each distributed Map has a label of its own.",
        "Rename one of them.",
        machine(
            A={"Type": "Map", "Label": "x", "ItemProcessor": _CHILD, "Next": "D"},
            D={"Type": "Map", "Label": "x", "ItemProcessor": _OTHER, "End": True},
        ),
    ),
    "ASL_PARQUET_UNREAD": ProblemCode(
        "Parquet is valid on AWS; DCF does not read it.",
        "Use CSV or JSON Lines.",
        alone(
            "Map",
            ItemProcessor=_CHILD,
            ItemReader={
                "Resource": "arn:aws:states:::s3:getObject",
                "ReaderConfig": {"InputType": "PARQUET"},
                "Parameters": {"Bucket": "b", "Key": "k"},
            },
        ),
        is_warning=True,
    ),
    "ASL_NO_SKILLS": ProblemCode(
        "An agent that is bound to a Task has something to call.",
        "Name its skills, or leave `skills` out.",
        alone("Task", AgentBinding={"skills": []}),
        is_warning=True,
    ),
    "ASL_NO_MEMORY": ProblemCode(
        "What a Task's `memory` says has an effect: inside a Map or Parallel with the memory scope"
        " `none` nothing is kept and nothing gathered.",
        "Give the Map or Parallel another scope, or leave the member out.",
        alone(
            "Map",
            memory={"scope": "none"},
            ItemProcessor=machine(
                B={"Type": "Task", "AgentBinding": {"memory": {"note": "$.text"}}, "End": True}
            ),
        ),
        is_warning=True,
    ),
}
"""By code; see ``dcf.asl.checks.problem_codes``."""
