"""The causes of JSONPaths that find nothing, as Step Functions words them field by field."""

from __future__ import annotations

from dcf.asl.errors import RUNTIME, EvaluationError
from dcf.asl.jsonpath.selector import Token
from dcf.asl.jsonpath.syntax import PathSyntax
from dcf.asl.payload import JSON, excerpt

SHOWN = 16_384
"""Most characters of the input that a cause repeats."""

_WHOLE_FIELDS = frozenset(
    {"InputPath", "OutputPath", "ItemsPath", "TimeoutSecondsPath", "HeartbeatSecondsPath"}
    | {"MaxConcurrencyPath", "ToleratedFailureCountPath", "ToleratedFailurePercentagePath"}
    | {"MaxItemsPath", "MaxItemsPerBatchPath", "MaxInputBytesPerBatchPath"}
)
_INSTANT_FIELDS = frozenset({"SecondsPath", "TimestampPath"})


def absent(
    syntax: PathSyntax, field: str, root: JSON, call: str | None = None, input: JSON = None
) -> EvaluationError:
    """The error of ``syntax`` in ``field``, or in the intrinsic ``call``, over ``root``.

    ``input`` is that of the state where ``root`` is the context object.
    """
    text = syntax.text
    if call is not None:
        why = _why_not_found(syntax, root, input if syntax.root == "$$" else root)
        cause = f"The function '{call}' had the following error: {why}"
    elif field in _WHOLE_FIELDS:
        cause = f"Invalid path '{text}' : {_why(syntax.tokens, root)}"
    elif field in _INSTANT_FIELDS:
        cause = f"The {field} parameter does not reference an input value: {text}"
    elif field == "Variable" or field.endswith(("EqualsPath", "ThanPath")):
        cause = (
            f"Invalid path '{text}': The choice state's condition path references an invalid value."
        )
    else:
        cause = (
            f"The JSONPath '{text}' specified for the field '{field}' could not be found"
            f" in the input '{excerpt(root, SHOWN)}'"
        )
    return EvaluationError(RUNTIME, cause)


def unassigned(name: str, field: str) -> EvaluationError:
    """The error of a variable that nothing assigned."""
    return EvaluationError(
        RUNTIME, f"The variable '${name}' specified for the field '{field}' has no value"
    )


def _why_not_found(syntax: PathSyntax, root: JSON, input: JSON) -> str:
    """What an intrinsic function says of its argument ``syntax``."""
    why = _why(syntax.tokens, root)
    if why.startswith("Filter:"):
        return why
    path = "$" + syntax.text.removeprefix("$$") if syntax.root == "$$" else syntax.text
    return (
        f"The JsonPath argument for the field '{path}' could not be found"
        f" in the input '{excerpt(input, SHOWN)}'"
    )


def _why(tokens: tuple[Token, ...], root: JSON) -> str:
    """Which of ``tokens`` finds nothing below ``root``."""
    value = root
    for position, token in enumerate(tokens):
        last = position == len(tokens) - 1
        so_far = _written(tokens[: position + 1])
        if isinstance(token, int):
            if not isinstance(value, list):
                shown = excerpt(value, SHOWN)
                return (
                    f"Filter: [{token}] can only be applied to arrays. Current context is: {shown}"
                )
            if not -len(value) <= token < len(value):
                if last:
                    return f"No results for path: {so_far}"
                return f"Index out of bounds when evaluating path {so_far}"
        elif not isinstance(value, dict):
            return (
                f"Expected to find an object with property {_bracket(token)} in path "
                f"{_written(tokens[:position])} but found {excerpt(value, SHOWN)}"
            )
        elif token not in value:
            return (
                f"No results for path: {so_far}" if last else f"Missing property in path {so_far}"
            )
        value = value[token]
    return f"No results for path: {_written(tokens)}"


def _written(tokens: tuple[Token, ...]) -> str:
    return "$" + "".join(_bracket(token) for token in tokens)


def _bracket(token: Token) -> str:
    return f"[{token}]" if isinstance(token, int) else f"['{token}']"
