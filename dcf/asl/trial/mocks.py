"""Mocked tasks: what each Task answers when a machine is interpreted without workers."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import translate

from dcf.asl.errors import AslError
from dcf.asl.payload import JSON
from dcf.asl.trial.execution import Answer, TaskCall
from dcf.asl.trial.mocked_answer import MockedAnswer

_EXCERPT = 200
LONGEST_PATTERN = 256
"""Most characters of a pattern: reading one takes the square of its length."""


class MockTrouble(AslError):
    """A Task was called and the mocks have no answer to it, or refuse its arguments."""

    def __init__(self, code: str, message: str, hint: str) -> None:
        self.code, self.message, self.hint = code, message, hint
        super().__init__(message)


@dataclass(slots=True)
class _Sequence:
    """The answers of one entry, and how many calls each had so far."""

    answers: tuple[MockedAnswer, ...]
    used: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.used = [0] * len(self.answers)

    def next(self, arguments: JSON) -> MockedAnswer | None:
        for number, answer in enumerate(self.answers):
            fits = not answer.when or has_part(arguments, answer.when[0])
            if fits and self.used[number] < answer.times:
                self.used[number] += 1
                return answer
        return None


class Mocks:
    """Call it with each try of a Task, as ``interpret`` does. Raises MockTrouble."""

    def __init__(
        self,
        states: Mapping[str, tuple[MockedAnswer, ...]],
        resources: Mapping[str, tuple[MockedAnswer, ...]],
    ) -> None:
        self._states = {name: _Sequence(answers) for name, answers in states.items()}
        self._resources = {name: _Sequence(answers) for name, answers in resources.items()}
        self._patterns = {
            name: re.compile(translate(name)) for name in resources if is_pattern(name)
        }

    def __call__(self, call: TaskCall) -> Answer:
        return self.choose(call).to(call.arguments)

    def choose(self, call: TaskCall) -> MockedAnswer:
        """The answer that is next for ``call``. Raises MockTrouble."""
        name, sequence = self._entry(call)
        if sequence is None:
            raise _missing(call)
        answer = sequence.next(call.arguments)
        if answer is None:
            raise _no_answer_left(call, name)
        if answer.expect and not has_part(call.arguments, answer.expect[0]):
            raise _unexpected(call, answer.expect[0])
        return answer

    def know(self, name: str, resource: str) -> bool:
        """Whether a Task called ``name`` may get an answer, wherever it stands."""
        if any(entry.rpartition("/")[2] == name for entry in self._states):
            return True
        if not resource:
            return False
        patterns = self._patterns.values()
        return resource in self._resources or any(one.match(resource) for one in patterns)

    def _entry(self, call: TaskCall) -> tuple[str, _Sequence | None]:
        """By path, by name of the state, by Resource, by the first pattern that fits."""
        resource = call.resource or ""
        for name in ("/".join(map(str, call.path)), str(call.path[-1])):
            if name in self._states:
                return f"states/{name}", self._states[name]
        if resource in self._resources:
            return f"resources/{resource}", self._resources[resource]
        for name, pattern in self._patterns.items():
            if resource and pattern.match(resource):
                return f"resources/{name}", self._resources[name]
        return "", None


def suits(answer: MockedAnswer, arguments: JSON) -> bool:
    """Whether ``answer`` is for a call with these ``arguments``, and expects them."""
    return all(has_part(arguments, part) for part in (*answer.when, *answer.expect))


def is_pattern(name: str) -> bool:
    """Whether ``name`` stands for other texts than itself."""
    return any(sign in name for sign in "*?[")


def has_part(value: JSON, part: JSON) -> bool:
    """Whether ``value`` is ``part``, where an object may have more members than asked for."""
    if isinstance(part, dict):
        return isinstance(value, dict) and all(
            name in value and has_part(value[name], wanted) for name, wanted in part.items()
        )
    if isinstance(part, list):
        return (
            isinstance(value, list)
            and len(value) == len(part)
            and all(has_part(one, wanted) for one, wanted in zip(value, part, strict=True))
        )
    return isinstance(value, bool) == isinstance(part, bool) and value == part


def snippet(call: TaskCall) -> str:
    """What to paste into a mocks file so that this call has an answer."""
    return json.dumps({"states": {str(call.path[-1]): {"return": {}}}}, ensure_ascii=False)


def _missing(call: TaskCall) -> MockTrouble:
    resource = f" (resource {call.resource})" if call.resource else ""
    message = f"nothing is mocked for the Task {_where(call)}{resource}; it was given "
    hint = f"put this into the mocks file, with what it should answer: {snippet(call)}"
    return MockTrouble("ASL_MOCK_MISSING", message + _excerpt(call.arguments), hint)


def _no_answer_left(call: TaskCall, name: str) -> MockTrouble:
    message = f"the mocks have no answer left for the Task {_where(call)}; it was given "
    hint = f'add an answer to `{name}`, or "times": "always" to its last one'
    return MockTrouble("ASL_MOCK_EXHAUSTED", message + _excerpt(call.arguments), hint)


def _unexpected(call: TaskCall, expected: JSON) -> MockTrouble:
    message = f"the Task {_where(call)} was given {_excerpt(call.arguments)}"
    hint = f"expected was {_excerpt(expected)}; mend the state or the `expect` of the mock"
    return MockTrouble("ASL_MOCK_UNEXPECTED", message, hint)


def _where(call: TaskCall) -> str:
    return f"`{'/'.join(map(str, call.path))}`"


def _excerpt(value: JSON) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _EXCERPT else f"{text[:_EXCERPT]}…"
