"""Intrinsic functions: the catalogue, and calls compiled into functions of the scope."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dcf.asl.errors import INTRINSIC_FAILURE, EvaluationError, ExpressionError
from dcf.asl.intrinsics import arrays, numbers, text
from dcf.asl.intrinsics.arguments import IntrinsicProblem
from dcf.asl.intrinsics.syntax import BAD_INTRINSIC, Argument, Call, Literal, parse_call
from dcf.asl.jsonpath.path import compile_path
from dcf.asl.payload import JSON
from dcf.asl.reading.fields import nearest
from dcf.asl.scope import Expression, Scope, constant


@dataclass(frozen=True, slots=True)
class Intrinsic:
    """A function, how many arguments it takes, and whether it draws random numbers."""

    apply: Callable[..., Any]
    fewest: int
    most: int | None
    random: bool = False


INTRINSICS: dict[str, Intrinsic] = {
    "Array": Intrinsic(arrays.array, 0, None),
    "ArrayContains": Intrinsic(arrays.array_contains, 2, 2),
    "ArrayGetItem": Intrinsic(arrays.array_get_item, 2, 2),
    "ArrayLength": Intrinsic(arrays.array_length, 1, 1),
    "ArrayPartition": Intrinsic(arrays.array_partition, 2, 2),
    "ArrayRange": Intrinsic(arrays.array_range, 3, 3),
    "ArrayUnique": Intrinsic(arrays.array_unique, 1, 1),
    "Base64Decode": Intrinsic(text.base64_decode, 1, 1),
    "Base64Encode": Intrinsic(text.base64_encode, 1, 1),
    "Format": Intrinsic(text.format_text, 1, None),
    "Hash": Intrinsic(text.hash_text, 2, 2),
    "JsonMerge": Intrinsic(text.json_merge, 3, 3),
    "JsonToString": Intrinsic(text.json_to_string, 1, 1),
    "MathAdd": Intrinsic(numbers.math_add, 2, 2),
    "MathRandom": Intrinsic(numbers.math_random, 2, 3, random=True),
    "StringSplit": Intrinsic(text.string_split, 2, 2),
    "StringToJson": Intrinsic(text.string_to_json, 1, 1),
    "UUID": Intrinsic(numbers.random_uuid, 0, 0, random=True),
}


def compile_intrinsic(call_text: str, field: str) -> Expression:
    """``call_text`` as a function of the scope. Raises ExpressionError.

    At run time a call that cannot work fails with ``States.IntrinsicFailure``, one whose path
    finds nothing with ``States.Runtime``.
    """
    evaluate = _compile_call(parse_call(call_text), field, call_text)

    def read(scope: Scope) -> JSON:
        try:
            return evaluate(scope)
        except IntrinsicProblem as problem:
            cause = f"The function '{call_text}' had the following error: {problem}"
            raise EvaluationError(INTRINSIC_FAILURE, cause) from problem

    return read


def _compile_call(call: Call, field: str, whole: str) -> Expression:
    intrinsic = _lookup(call)
    if call.name == "Format" and isinstance(call.arguments[0], Literal):
        return _compile_format(call.arguments[0], call.arguments[1:], field, whole)
    arguments = tuple(_compile_argument(argument, field, whole) for argument in call.arguments)
    apply = intrinsic.apply
    if intrinsic.random:
        return lambda scope: apply(scope.random(), *[read(scope) for read in arguments])
    return lambda scope: apply(*[read(scope) for read in arguments])


def _compile_format(
    template: Literal, arguments: tuple[Argument, ...], field: str, whole: str
) -> Expression:
    if not isinstance(template.value, str):
        raise ExpressionError(BAD_INTRINSIC, "the first argument of States.Format is a string")
    readers = tuple(_compile_argument(argument, field, whole) for argument in arguments)
    try:
        pieces = text.format_template(template.raw)
    except IntrinsicProblem as error:
        raise ExpressionError(BAD_INTRINSIC, str(error)) from error
    if len(pieces) - 1 != len(readers):
        raise ExpressionError(
            BAD_INTRINSIC,
            f"States.Format has {len(pieces) - 1} `{{}}` but {len(readers)} values",
            "give one value for each `{}`",
        )
    return lambda scope: text.fill_template(pieces, tuple(read(scope) for read in readers))


def _compile_argument(argument: Argument, field: str, whole: str) -> Expression:
    if isinstance(argument, Literal):
        return constant(argument.value)
    if isinstance(argument, Call):
        return _compile_call(argument, field, whole)
    return compile_path(argument.text, field, whole)


def _lookup(call: Call) -> Intrinsic:
    intrinsic = INTRINSICS.get(call.name)
    if intrinsic is None:
        closest = nearest(call.name, INTRINSICS)
        hint = f"did you mean `States.{closest}`?" if closest else "see the intrinsic functions"
        raise ExpressionError(BAD_INTRINSIC, f"there is no function `States.{call.name}`", hint)
    count = len(call.arguments)
    if count < intrinsic.fewest or (intrinsic.most is not None and count > intrinsic.most):
        raise ExpressionError(
            BAD_INTRINSIC,
            f"States.{call.name} takes {_arity(intrinsic)}, not {count}",
        )
    return intrinsic


def _arity(intrinsic: Intrinsic) -> str:
    if intrinsic.most is None:
        return f"at least {intrinsic.fewest} arguments"
    if intrinsic.fewest == intrinsic.most:
        return f"{intrinsic.fewest} argument(s)"
    return f"{intrinsic.fewest} to {intrinsic.most} arguments"
