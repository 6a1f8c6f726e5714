"""What is said of an answer: at once at the prompt, or when the workflow is known."""

from __future__ import annotations

import pytest

from dcf.planner import Question, misread
from dcf.planner.conversation.question import unused

SCHEMA = {"properties": {"shops": {"type": "array"}, "level": {"enum": ["low", "high"]}}}


@pytest.mark.parametrize(
    ("kind", "right", "wrong"),
    [
        ("array", '["S1", "S2"]', ["S1 and S2", '{"a": 1}', "3"]),
        ("object", '{"name": 1}', ["[1]", "name"]),
        ("integer", "-3", ["3.5", "three", '"3"', "true"]),
        ("number", "3.5", ["much", "false"]),
        ("boolean", "true", ["yes", "1"]),
    ],
)
def test_an_answer_of_another_kind_is_asked_for_again(
    kind: str, right: str, wrong: list[str]
) -> None:
    question = Question("shops", "Which?", type=kind)
    assert misread(question, right) is None
    for text in wrong:
        assert "write it as in" in str(misread(question, text)), text


def test_an_answer_outside_of_the_choices_is_asked_for_again() -> None:
    question = Question("level", "How bad?", choices=("low", "high"))
    assert misread(question, "low") is None
    assert misread(question, "medium") == "one of: low, high"
    numbers = Question("floor", "Which?", type="integer", choices=(1, 2))
    assert (misread(numbers, "2"), misread(numbers, "3")) == (None, "one of: 1, 2")


def test_wishes_are_any_words() -> None:
    assert misread(Question("allow", "?", choices=("yes", "no")), "tier-3") is None


def test_answers_that_nothing_uses_are_said_with_the_nearest() -> None:
    answers = {"shopps": 1, "level": "low", "input.shops": [], "clarify_1": "x", "outputs": "y"}
    [warning] = unused(SCHEMA, answers, known=["clarify_1"])
    assert (warning.file, warning.severity) == ("shopps", "warning")
    assert warning.hint == "did you mean 'shops'?"
    [whole] = unused(SCHEMA, {"input": {"shops": [], "colour": 1}}, known=())
    assert (whole.file, whole.hint) == ("input.colour", "the inputs are shops, level")
