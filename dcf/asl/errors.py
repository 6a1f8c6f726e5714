"""What can go wrong: a bad definition, a bad expression, a failed evaluation."""

from __future__ import annotations

from collections.abc import Iterable

from dcf.problem import Problem

ALL = "States.ALL"
DATA_LIMIT_EXCEEDED = "States.DataLimitExceeded"
EXCEED_TOLERATED_FAILURE = "States.ExceedToleratedFailureThreshold"
HEARTBEAT_TIMEOUT = "States.HeartbeatTimeout"
INTRINSIC_FAILURE = "States.IntrinsicFailure"
ITEM_READER_FAILED = "States.ItemReaderFailed"
QUERY_EVALUATION_ERROR = "States.QueryEvaluationError"
RESULT_PATH_MATCH_FAILURE = "States.ResultPathMatchFailure"
RESULT_WRITER_FAILED = "States.ResultWriterFailed"
RUNTIME = "States.Runtime"
TASK_FAILED = "States.TaskFailed"
TIMEOUT = "States.Timeout"


class AslError(Exception):
    """Something in the Amazon States Language room failed."""


class DefinitionError(AslError):
    """The definition has errors; ``problems`` lists all of them."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        lines = "\n".join(str(problem) for problem in self.problems)
        super().__init__(f"the definition has {len(self.problems)} problem(s)\n{lines}")


class ExpressionError(AslError):
    """A path, template or expression cannot be compiled: ``code``, ``message``, ``hint``; ``aws``
    is what Step Functions says of it, where that depends on the text."""

    def __init__(self, code: str, message: str, hint: str = "", aws: str = "") -> None:
        self.code = code
        self.message = message
        self.hint = hint
        self.aws = aws
        super().__init__(message)


class EvaluationError(AslError):
    """Evaluating a state failed with an error name (``States.…``) and a cause."""

    def __init__(self, error: str, cause: str) -> None:
        self.error = error
        self.cause = cause
        super().__init__(f"{error}: {cause}")


class PlainError(EvaluationError):
    """A failure whose cause stands alone: no state's name is put before it."""


class UnknownState(AslError):
    """No state stands at this path of the machine."""

    def __init__(self, path: Iterable[str | int], at: str | int, known: Iterable[str]) -> None:
        self.path = tuple(path)
        self.at = at
        self.known = tuple(known)
        super().__init__(f"no state at {list(self.path)!r}: {at!r} is not one of {self.known!r}")
