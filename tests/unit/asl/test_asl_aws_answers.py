"""Answers that ValidateStateMachineDefinition gave on AWS.

Most were measured by the authors of floci (github.com/floci-io/floci, their tests of this call);
the rest stands in the reference of the API, which also has the codes, severities and limits.
"""

from __future__ import annotations

from typing import Any

import pytest
from asl_builders import machine_of

from dcf.asl import validate, validation_answer

PASS = {"Type": "Pass", "End": True}
SCHEMA, TARGET = "SCHEMA_VALIDATION_FAILED", "MISSING_TRANSITION_TARGET"
NO_END = ("MISSING_END_STATE", "Workflow has no terminal state", None)
WORDS = "Value should be one of the following: [JSONPath, JSONata]"
REVERTED = "'QueryLanguage' can not be 'JSONPath' if set to 'JSONata' for whole state machine"


def only(field: str, language: str, spoken: str) -> str:
    return (
        f"The QueryLanguage is set to '{spoken}', but field '{field}' is only supported for the"
        f" '{language}' QueryLanguage"
    )


def map_of(inner: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return machine_of(M={"Type": "Map", **fields, "ItemProcessor": inner, "End": True})


def jsonata(definition: dict[str, Any]) -> dict[str, Any]:
    return {"QueryLanguage": "JSONata", **definition}


def output(expression: str) -> dict[str, Any]:
    return jsonata(machine_of(E={**PASS, "Output": {"v": "{% " + expression + " %}"}}))


def answers(definition: dict[str, Any], **how: Any) -> list[tuple[str, str, str | None]]:
    found = validation_answer(definition, **how)["diagnostics"]
    return [(one["code"], one["message"], one.get("location")) for one in found]


@pytest.mark.parametrize(
    ("definition", "answer"),
    [
        (machine_of(A={"Type": "Pass", "Next": "B"}, B={"Type": "Pass", "Next": "A"}), [NO_END]),
        (
            machine_of(A={"Type": "Pass", "Next": "NOPE"}),
            [(TARGET, "Missing 'Next' target: NOPE", "/States/A/Next"), NO_END],
        ),
        (
            machine_of(
                A={"Type": "Pass", "Next": "B"}, B={"Type": "Pass", "Next": "A"}, Unused=PASS
            ),
            [(TARGET, 'State "Unused" is not reachable.', "/States/Unused")],
        ),
        (
            {"StartAt": "Nope", "States": {"A": PASS}},
            [
                (TARGET, "Missing 'Next' target: Nope", "/StartAt"),
                (TARGET, 'State "A" is not reachable.', "/States/A"),
            ],
        ),
        (
            map_of({"StartAt": "Nope", "States": {"A": PASS}}),
            [
                (TARGET, "Missing 'Next' target: Nope", "/States/M/ItemProcessor/StartAt"),
                (TARGET, 'State "A" is not reachable.', "/States/M/ItemProcessor/States/A"),
            ],
        ),
        (
            map_of(machine_of(A={"Type": "Pass", "Next": "A"})),
            [],
        ),
        (
            machine_of(**{"Start": PASS, "a/b": PASS}),
            [(TARGET, 'State "a/b" is not reachable.', "/States/a/b")],
        ),
        (
            map_of(machine_of(W=PASS), TimeoutSeconds=5),
            [(SCHEMA, "Field 'TimeoutSeconds' is not supported", "/States/M")],
        ),
        (
            jsonata(machine_of(X={**PASS, "Catch": []})),
            [(SCHEMA, "Field 'Catch' is not supported", "/States/X")],
        ),
        (
            map_of({"QueryLanguage": "JSONata", **machine_of(P=PASS)}),
            [(SCHEMA, "Field 'QueryLanguage' is not supported", "/States/M/ItemProcessor")],
        ),
        (
            jsonata(machine_of(X={**PASS, "InputPath": "$.a", "OutputPath": "$.b"})),
            [
                (SCHEMA, only("InputPath", "JSONPath", "JSONata"), "/States/X"),
                (SCHEMA, only("OutputPath", "JSONPath", "JSONata"), "/States/X"),
            ],
        ),
        (
            map_of(machine_of(P={**PASS, "Output": {}}), QueryLanguage="JSONata"),
            [
                (
                    SCHEMA,
                    only("Output", "JSONata", "JSONPath"),
                    "/States/M/ItemProcessor/States/P",
                )
            ],
        ),
        (
            jsonata(machine_of(X={**PASS, "QueryLanguage": "JSONPath", "Output": {"v": 1}})),
            [(SCHEMA, REVERTED, "/States/X")],
        ),
        (
            jsonata(map_of(machine_of(P=PASS), QueryLanguage="JSONPath", MaxConcurrency=-1)),
            [
                (SCHEMA, REVERTED, "/States/M"),
                (SCHEMA, "Minimum value is 0", "/States/M/MaxConcurrency"),
            ],
        ),
        (
            machine_of(X={**PASS, "QueryLanguage": "jsonata", "Output": {}, "InputPath": "$.a"}),
            [
                (SCHEMA, only("InputPath", "JSONPath", "JSONata"), "/States/X"),
                (SCHEMA, WORDS, "/States/X/QueryLanguage"),
            ],
        ),
        (
            jsonata(machine_of(X={**PASS, "QueryLanguage": "jsonpath"})),
            [(SCHEMA, WORDS, "/States/X/QueryLanguage")],
        ),
        (
            {"QueryLanguage": "jsonpath", **machine_of(X={**PASS, "InputPath": "$.a"})},
            [
                (SCHEMA, WORDS, "/QueryLanguage"),
                (SCHEMA, only("InputPath", "JSONPath", "JSONata"), "/States/X"),
            ],
        ),
        (
            {"QueryLanguage": 5, **machine_of(X=PASS)},
            [(SCHEMA, "Expected value of type [STRING]", "/QueryLanguage")],
        ),
        (
            output("aaa + bbb"),
            [
                (
                    "UNSUPPORTED_JSONATA_EXPRESSION",
                    f"Reference to '{name}' at the top level is not supported.",
                    "/States/E/Output/v",
                )
                for name in ("aaa", "bbb")
            ],
        ),
        *(
            (output(text), [("UNSUPPORTED_JSONATA_EXPRESSION", message, "/States/E/Output/v")])
            for text, message in {
                "$.phone": "Reference to '$' at the top level is not supported.",
                "$$": "Reference to '$$' is not supported.",
                "$states.errorOutput": "Field '$states.errorOutput' does not exist.",
            }.items()
        ),
        *(
            (output(text), [("INVALID_JSONATA_EXPRESSION", message, "/States/E/Output/v")])
            for text, message in {
                "": "Unexpected end of expression",
                "1 +": "Unexpected end of expression",
                "a[1,2)": 'Expected "]", got ","',
                '"unterminated': "String literal must be terminated by a matching quote",
                '{"a":}': 'The symbol "}" cannot be used as a unary operator',
                '$match("a", /abc': "No terminating / in regular expression",
            }.items()
        ),
    ],
)
def test_the_answer_is_that_of_aws(
    definition: dict[str, Any], answer: list[tuple[str, str, str | None]]
) -> None:
    assert answers(definition) == answer


def test_a_target_that_misses_is_told_to_people_without_what_follows_from_it() -> None:
    assert [p.code for p in validate(machine_of(A={"Type": "Pass", "Next": "NOPE"}))] == [
        "ASL_UNKNOWN_STATE"
    ]
    assert [p.code for p in validate({"StartAt": "Nope", "States": {"A": PASS}})] == [
        "ASL_UNKNOWN_STATE"
    ]


def test_warnings_are_answered_where_they_are_asked_for() -> None:
    definition = machine_of(F={"Type": "Fail", "Error": "$.error", "Cause": "costs $.10"})

    assert validation_answer(definition) == {"result": "OK", "diagnostics": [], "truncated": False}
    message = "Field value looks like a path, but field name does not end with 'Path'"
    assert answers(definition, severity="WARNING") == [("NO_PATH", message, "/States/F/Error")]


def test_an_answer_has_as_many_diagnostics_as_are_asked_for() -> None:
    definition = jsonata(machine_of(X={**PASS, "InputPath": "$", "OutputPath": "$"}))
    many = machine_of(**{f"S{n}": {"Type": "Pass", "Next": f"No{n}"} for n in range(101)})

    def cut(definition: dict[str, Any], most: int) -> tuple[int, bool]:
        answer = validation_answer(definition, max_results=most)
        return len(answer["diagnostics"]), answer["truncated"]

    assert cut(definition, 1) == (1, True)
    assert cut(definition, 2) == (2, False)
    assert cut(definition, 0) == (2, False)
    assert cut(many, 0) == (100, True)


@pytest.mark.parametrize("most", [-1, 101])
def test_more_results_than_there_are_cannot_be_asked_for(most: int) -> None:
    with pytest.raises(ValueError, match="0 to 100"):
        validation_answer({}, max_results=most)


@pytest.mark.parametrize(
    "definition",
    [
        machine_of(A=PASS, Unused=PASS),
        machine_of(A={"Type": "Pass", "Next": "Nope"}, Unused=PASS),
        map_of(machine_of(A=PASS, Unused=PASS)),
    ],
    ids=["alone", "behind a broken way", "inside of a Map"],
)
def test_a_state_that_cannot_be_reached_is_an_error(definition: dict[str, Any]) -> None:
    """AWS refuses to create such a machine; it is none of its three kinds of warnings (reference
    of the API, ValidateStateMachineDefinitionDiagnostic)."""
    answer = validation_answer(definition)
    [told] = [one for one in answer["diagnostics"] if "is not reachable" in one["message"]]
    assert answer["result"] == "FAIL"
    assert (told["severity"], told["code"]) == ("ERROR", TARGET)
