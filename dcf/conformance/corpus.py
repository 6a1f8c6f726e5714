"""Reading a corpus: a JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dcf.conformance.case import OPS, Case
from dcf.problem import Problem
from dcf_agents.shipped import docs_page

_TEXTS = ("family", "definition_text")
_OBJECTS = ("tasks", "s3", "context", "variables", "mock", "stateConfiguration")
_LISTS_OF_TEXTS = ("tags", "placeholders")


class BadCorpus(Exception):
    """A file of cases or results has lines that cannot be used; ``problems`` lists all of them."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in problems))


def read_corpus(file: Path) -> list[Case]:
    """The cases in ``file``, in its order. Raises BadCorpus, and OSError when it is unreadable."""
    cases: list[Case] = []
    problems: list[Problem] = []
    first_line: dict[str, int] = {}
    for number, value in read_objects(file, problems):
        wrong = _what_is_wrong(value)
        if not wrong and value["name"] in first_line:
            wrong = [f"the name is taken by line {first_line[value['name']]}"]
        if wrong:
            problems += [_problem(file, number, text) for text in wrong]
            continue
        first_line[value["name"]] = number
        cases.append(_case(value))
    if problems:
        raise BadCorpus(problems)
    return cases


def read_objects(file: Path, problems: list[Problem]) -> Iterator[tuple[int, dict[str, Any]]]:
    """The number (from 1) and value of each line that is not empty and holds a JSON object; what
    is no object is added to ``problems``."""
    with file.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                value = json.loads(line.decode("utf-8-sig"))
            except (ValueError, RecursionError) as error:
                problems.append(_problem(file, number, _why_unread(error)))
                continue
            if not isinstance(value, dict):
                problems.append(_problem(file, number, "the line is no JSON object"))
                continue
            yield number, value


def _why_unread(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return f"the line is no text in UTF-8 (byte {error.start} of it)"
    if isinstance(error, RecursionError):
        return "the line is no JSON that can be read: it nests too deep"
    if isinstance(error, json.JSONDecodeError):
        return f"the line is no JSON: {error}"
    return "the line has a number with too many digits"


def _what_is_wrong(value: dict[str, Any]) -> list[str]:
    wrong = []
    if not isinstance(value.get("name"), str) or not value.get("name"):
        wrong.append("`name` must be a text that is not empty")
    if value.get("op") not in OPS:
        wrong.append(f"`op` must be one of {', '.join(OPS)}; found {value.get('op')!r}")
    expected = value.get("expected")
    if not isinstance(expected, dict) or not isinstance(expected.get("status"), str):
        wrong.append("`expected` must be an object with a `status`")
    if "definition" not in value and "definition_text" not in value:
        wrong.append("`definition` or `definition_text` is missing")
    for name in _TEXTS:
        if not isinstance(value.get(name, ""), str):
            wrong.append(f"`{name}` must be a text")
    for name in _OBJECTS:
        if not isinstance(value.get(name, {}), dict):
            wrong.append(f"`{name}` must be an object")
    for name in _LISTS_OF_TEXTS:
        texts = value.get(name, [])
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            wrong.append(f"`{name}` must be an array of texts")
    tasks = value.get("tasks", {})
    for name, task in tasks.items() if isinstance(tasks, dict) else ():
        wrong += _wrong_calls(f"tasks/{name}", task)
    return wrong


def _wrong_calls(place: str, task: object) -> Iterator[str]:
    """What is wrong with the recorded answers of one Task."""
    calls = task.get("calls", {}) if isinstance(task, dict) else None
    if not isinstance(calls, dict) or not all(isinstance(one, list) for one in calls.values()):
        yield f"`{place}` must be an object whose `calls` are arrays by the names of states"
        return
    for state, recorded in calls.items():
        for number, call in enumerate(recorded):
            thrown = call.get("Throw", {}) if isinstance(call, dict) else None
            fields = ("error", "cause")
            if not isinstance(thrown, dict) or not all(
                isinstance(thrown.get(one), str | None) for one in fields
            ):
                yield (
                    f"`{place}/calls/{state}/{number}` must be an object; its `Throw` has an"
                    " `error` and a `cause`, each a text or null"
                )


def _problem(file: Path, line: int, message: str) -> Problem:
    hint = f"see {docs_page('how-to/conformance.md')} for the format"
    return Problem("CLI_CORPUS", message, hint=hint, file=str(file), line=line)


def _case(value: dict[str, Any]) -> Case:
    return Case(
        name=value["name"],
        op=value["op"],
        expected=value["expected"],
        request=value,
        family=value.get("family", value["name"]),
        tags=tuple(value.get("tags", ())),
        placeholders=tuple(value.get("placeholders", ())),
        definition=value.get("definition"),
        definition_text=value.get("definition_text"),
        input=value.get("input"),
        tasks=value.get("tasks", {}),
        objects=value.get("s3", {}),
    )
