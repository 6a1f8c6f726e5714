"""What the options of ``dcf asl test-state`` give, read together so that all problems are told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dcf.asl.trial import MockedError, MockedResult
from dcf.cli.input_source import read_input
from dcf.problem import Problem


@dataclass(frozen=True, slots=True)
class GivenValues:
    """The values of the options; None for those not given, and for those with ``problems``."""

    input: Any
    context: Any
    variables: Any
    items: Any
    mock: MockedResult | MockedError | None
    problems: tuple[Problem, ...]


def read_options(
    *,
    input: str | None,
    context: str | None,
    variables: str | None,
    items: str | None,
    result: str | None,
    error: str | None,
    cause: str | None,
) -> GivenValues:
    """Each option as given on the command line: a file, JSON, or ``-``; ``error`` is a name."""
    reader = _OptionReader()
    if result is not None and error is not None:
        reader.wrong("--result and --error exclude each other", "mock one of them", "--result")
    mock: MockedResult | MockedError | None = None
    value = reader.value("--result", result)
    if error is not None:
        mock = MockedError(error, cause)
    elif result is not None:
        mock = MockedResult(value)
    return GivenValues(
        reader.value("--input", input or "{}"),
        reader.value("--context", context, dict),
        reader.value("--variables", variables, dict),
        reader.value("--items", items, list),
        mock,
        tuple(reader.problems),
    )


class _OptionReader:
    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def value(self, option: str, given: str | None, kind: type | None = None) -> Any:
        """The JSON that ``option`` gives; None without, or with a problem."""
        if given is None:
            return None
        read = read_input(given, option)
        self.problems += read.problems
        if kind is not None and not read.problems and not isinstance(read.value, kind):
            wanted = "an array" if kind is list else "an object"
            self.wrong(f"{option} must be {wanted}", "give JSON, or a file with it", option)
            return None
        return read.value

    def wrong(self, message: str, hint: str, option: str) -> None:
        self.problems.append(Problem("CLI_STATE_TEST", message, hint=hint, file=option))
