"""What a person is asked while something is planned, and what they answer."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from dcf.problem import Problem

LONGEST = 20_000
"""Characters of an answer."""
NEW = "new"
"""The answer to ``procedure`` that asks for a new one, whatever is stored."""
WISHES = {
    "inputs": "What is each run given?",
    "outputs": "What should come out?",
    "guardrails": "What must hold throughout, or never happen?",
}
"""What may be said beside the objective, and how it is asked. Nobody has to."""
COMMANDS = "commands"
"""The answer that makes tasks of the commands of a procedure, with the word ``WANTED``."""
WANTED = "yes"
ALLOW = "allow"
"""The answer that says which skills a model's draft may use beyond the words of the person."""
RESERVED = ("objective", "procedure", "change", "input", ALLOW, COMMANDS, *WISHES)
"""Names of answers that are no inputs of the workflow: an input of such a name is ``input.NAME``.
"""

BIND = "bind."
"""What answers begin with that say which value an argument takes: ``bind.3.shipping_address``."""
NOT_BOUND = "none"
"""The answer to such a question that binds nothing."""

_KINDS: dict[str, Any] = {
    "array": list,
    "object": dict,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
}
_EXAMPLES = {"array": '["a", "b"]', "object": '{"name": "value"}', "boolean": "true"}


@dataclass(frozen=True, slots=True)
class Question:
    """``type`` is a JSON type; ``choices`` are all answers there are, if not any will do. Without
    an answer to what is not ``required`` it goes on with ``default``, or without."""

    name: str
    text: str
    required: bool = True
    type: str = "string"
    default: Any = None
    example: Any = None
    choices: Sequence[Any] = ()


OBJECTIVE = Question("objective", "What is to be achieved?")


def wishes(answers: Mapping[str, Any]) -> list[Question]:
    """What can still be said about the procedure."""
    return [Question(name, text, False) for name, text in WISHES.items() if name not in answers]


def input_questions(
    schema: Any, answers: Mapping[str, Any], lines: Mapping[str, int]
) -> list[Question]:
    """What ``workflow_input_schema`` wants and ``answers`` do not have; ``lines`` are those of
    the source where inputs stand."""
    required = schema.get("required", []) if isinstance(schema, dict) else []
    return [
        Question(
            answer_name(name),
            f"{_at(lines.get(name))}{one.get('description') or name}",
            name in required,
            _type_of(one),
            one.get("default"),
            next(iter(one.get("examples") or []), None),
            tuple(one.get("enum") or ()),
        )
        for name, one in _properties(schema).items()
        if _answered(name, answers) is None
    ]


def _at(line: int | None) -> str:
    return f"line {line}: " if line else ""


def binding_questions(bindings: Iterable[Mapping[str, Any]]) -> list[Question]:
    """What is asked of ``bindings`` as a plan says them: the proposed value is the first choice."""
    return [
        Question(
            BIND + one["name"],
            f"Step {one['step']} takes `{one['argument']}` ({one['wanted']}), which nobody writes. "
            f"Which value is meant? "
            + "; ".join(f"{of['value']}: {of['shape']}, {of['origin']}" for of in one["offers"]),
            example=one["offers"][0]["value"],
            choices=(*(of["value"] for of in one["offers"]), NOT_BOUND),
        )
        for one in bindings
    ]


def draft_questions(asked: Iterable[Mapping[str, Any]]) -> list[Question]:
    """What the draft of a runbook asks, as its ``Question.to_json`` has it. Nobody has to answer:
    until then the plan goes by what is assumed."""
    return [
        Question(
            one["id"],
            f"line {one['line']}, {one['text']!r}: {one['asks']}",
            False,
            default=one["assumed"],
            choices=tuple(one["answers"]),
        )
        for one in asked
    ]


def not_offered(asked: Iterable[Question], answers: Mapping[str, Any]) -> list[Problem]:
    """Errors for answers to questions that are still ``asked``, since none of their choices was
    named."""
    return [
        Problem(
            "PLAN_ANSWER",
            f"{answers[one.name]!r} is none of the answers to question {one.name}",
            hint=f"one of {', '.join(map(str, one.choices))}",
            file=one.name,
        )
        for one in asked
        if one.name in answers
    ]


def texts_of(answers: Mapping[str, Any]) -> dict[str, str]:
    """The answers that are text, which those to the questions of a draft are."""
    return {name: one for name, one in answers.items() if isinstance(one, str)}


def bound_by(answers: Mapping[str, Any]) -> dict[str, str]:
    """The values that ``answers`` bind, by ``STEP.ARGUMENT``."""
    return {
        name.removeprefix(BIND): str(value)
        for name, value in answers.items()
        if name.startswith(BIND) and value != NOT_BOUND
    }


def input_of(schema: Any, answers: Mapping[str, Any]) -> tuple[dict[str, Any], list[Problem]]:
    """The input of the run that ``answers`` say: ``input`` as a whole, then single ones. A text is
    read as JSON where the schema wants something else."""
    problems: list[Problem] = []
    whole = answers.get("input", {})
    if isinstance(whole, str):
        whole = _json("input", whole, problems)
    if not isinstance(whole, dict):
        problems.append(Problem("PLAN_ANSWER", "`input` is no JSON object", file="input"))
        whole = {}
    value = dict(whole)
    for name, one in _properties(schema).items():
        given = _answered(name, {k: v for k, v in answers.items() if k != "input"})
        if given is None:
            continue
        kind = _type_of(one)
        if isinstance(given, str) and kind != "string":
            given = _json(answer_name(name), given, problems)
        value[name] = given
    return value, problems


def unused(schema: Any, answers: Mapping[str, Any], known: Iterable[str]) -> list[Problem]:
    """Warnings for ``answers`` that are neither inputs of ``schema``, nor wishes, nor ``known``."""
    inputs = _properties(schema)
    taken = {*RESERVED, *known, *inputs, *(f"input.{name}" for name in inputs)}
    whole = answers.get("input")
    given = [name for name in answers if name not in taken]
    if isinstance(whole, Mapping):
        given += [f"input.{name}" for name in whole if name not in inputs]
    return [_unused(name, inputs) for name in given]


def _unused(name: str, inputs: Iterable[str]) -> Problem:
    near = get_close_matches(name.removeprefix("input."), list(inputs), 1)
    hint = f"did you mean {near[0]!r}?" if near else f"the inputs are {', '.join(inputs) or 'none'}"
    message = f"`{name}` is no input of this workflow: the answer is not used"
    return Problem("PLAN_ANSWER", message, hint=hint, severity="warning", file=name)


def misread(question: Question, text: str) -> str | None:
    """What is wrong with ``text`` as an answer to ``question``, where that can be said at once."""
    if question.name in RESERVED:
        return None
    value: Any = text
    if question.type != "string":
        like = _EXAMPLES.get(question.type, "3")
        try:
            value = json.loads(text)
        except ValueError:
            return f"this is no JSON; write it as in {like}"
        if not isinstance(value, _KINDS.get(question.type, object)) or (
            isinstance(value, bool) and question.type != "boolean"
        ):
            return f"this is no {question.type}; write it as in {like}"
    if question.choices and value not in question.choices:
        return f"one of: {', '.join(map(str, question.choices))}"
    return None


def wants_commands(answers: Mapping[str, Any]) -> bool:
    """Whether ``answers`` have the commands of a procedure become tasks."""
    return answers.get(COMMANDS) == WANTED


def check_answers(answers: Mapping[str, Any]) -> list[Problem]:
    """What of ``answers`` is no answer to anything: too long, not text where text is wanted."""
    problems = []
    for name, given in answers.items():
        if not isinstance(name, str) or not name.strip() or len(name) > 200:
            problems.append(Problem("PLAN_ANSWER", "an answer has no name", hint="name=value"))
            continue
        try:
            text = given if isinstance(given, str) else _json_text(given)
        except (TypeError, ValueError, RecursionError) as wrong:
            problems.append(Problem("PLAN_ANSWER", f"is no JSON value: {wrong}", file=name))
            continue
        if wrong_text := not_text(name, name + text):
            problems.append(wrong_text)
            continue
        if len(text) > LONGEST:
            message = f"has {len(text):,} characters, more than {LONGEST:,}"
            problems.append(Problem("PLAN_ANSWER", message, hint="say it shorter", file=name))
        if name == COMMANDS and given not in (WANTED, "no"):
            hint = "yes: those that are plain argument lists become tasks, each asked for"
            problems.append(Problem("PLAN_ANSWER", "is neither yes nor no", hint=hint, file=name))
            continue
        is_words = name in RESERVED and name != "input"
        if is_words and not isinstance(given, str) and not _is_lines(given):
            problems.append(Problem("PLAN_ANSWER", "is no text", hint="answer in words", file=name))
    return problems


def not_text(name: str, text: str) -> Problem | None:
    """What is wrong with ``text``, which is called ``name``, if it cannot be written as UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        message = "has bytes that are no UTF-8, or half of a surrogate pair"
        file = name.encode(errors="backslashreplace").decode()
        return Problem("PLAN_ANSWER", message, hint="write it in UTF-8", file=file)
    return None


def _json_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def lines_of(answer: Any) -> list[str]:
    """The single wishes in an answer: its lines, or the parts between semicolons."""
    parts: Iterable[str] = (
        answer if _is_lines(answer) else str(answer).replace(";", "\n").split("\n")
    )
    return [part.strip(" -*\t") for part in parts if part.strip(" -*\t")]


def _is_lines(answer: Any) -> bool:
    return isinstance(answer, list | tuple) and all(isinstance(one, str) for one in answer)


def _properties(schema: Any) -> dict[str, Mapping[str, Any]]:
    found = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(found, dict):
        return {}
    return {name: one if isinstance(one, dict) else {} for name, one in found.items()}


def _type_of(schema: Mapping[str, Any]) -> str:
    kind = schema.get("type")
    return kind if isinstance(kind, str) else "string" if kind is None else "object"


def answer_name(name: str) -> str:
    """By what name the answer to the input ``name`` goes."""
    return f"input.{name}" if name in RESERVED else name


def _answered(name: str, answers: Mapping[str, Any]) -> Any:
    named = answers.get(answer_name(name))
    if named is not None:
        return named
    if f"input.{name}" in answers:
        return answers[f"input.{name}"]
    whole = answers.get("input")
    if isinstance(whole, str):
        try:
            whole = json.loads(whole)
        except ValueError:
            return None
    return whole.get(name) if isinstance(whole, dict) else None


def _json(name: str, text: str, problems: list[Problem]) -> Any:
    try:
        return json.loads(text)
    except ValueError as wrong:
        hint = "as in --answer 'items=[1, 2]'"
        problems.append(Problem("PLAN_ANSWER", f"is not JSON: {wrong}", hint=hint, file=name))
        return None
