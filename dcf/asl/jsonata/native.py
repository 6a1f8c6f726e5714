"""Functions of JSONata written here, and the evaluation that they serve."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, TypeAlias

from dcf.asl.evaluation_budget import Budget
from dcf.asl.jsonata.library import JException, Jsonata, Signature, Utils
from dcf.asl.jsonata.value import LARGEST_EXACT, NULL
from dcf.asl.scope import Scope

Apply: TypeAlias = Callable[..., Any]


_SYMBOLS = {str: "s", int: "n", float: "n", bool: "b", dict: "o", list: "a", Utils.JList: "a"}
_SYMBOLS |= {type(None): "m", type(NULL): "l"}


class ExactSignature(Signature):  # type: ignore[misc]
    """A signature to which null is no undefined value.

    It keeps its function's name: the library renames it, for everybody, where a variable is bound
    to the function.
    """

    def set_function_name(self, name: str) -> None:
        return

    def get_symbol(self, value: Any) -> str:
        symbol = _SYMBOLS.get(type(value))
        return symbol if symbol is not None else str(super().get_symbol(value))


class NativeFunction(Jsonata.JFunction):  # type: ignore[misc]
    """A function written here: its arguments checked against ``signature``, then ``apply``.

    Arguments that the caller left out are undefined (None).
    """

    def __init__(self, name: str, signature: str, apply: Apply) -> None:
        super().__init__(None, None)
        self.signature = ExactSignature(signature, name)
        self.function_name = name
        self._apply = apply
        self._kinds = [letter for letter in signature.split(":")[0] if letter in "asnxo("]
        self._count = self.signature.get_number_of_args()

    def validate(self, args: Any, context: Any) -> Any:
        # The library makes an array of a null that stands where an array must.
        for index, (argument, kind) in enumerate(zip(args, self._kinds, strict=False), 1):
            if argument is NULL and kind == "a":
                raise JException("T0412", -1, index, self.function_name, "any")
        return super().validate(args, context)

    def call(self, input: Any, args: Any) -> Any:
        given = list(args)[: self._count]
        return self._apply(*given, *[None] * (self._count - len(given)))

    def get_number_of_args(self) -> int:
        return int(self._count)


def current_budget() -> Budget:
    """What the evaluation under way in this thread may use."""
    budget: Budget = Jsonata.CURRENT.jsonata.budget
    return budget


def current_rng() -> Random:
    """The generator of the evaluation under way in this thread."""
    scope: Scope = Jsonata.CURRENT.jsonata.scope
    return scope.random()


def whole_number(number: float) -> int:
    """A number cut towards zero, as a 64 bit integer at most."""
    return max(-LARGEST_EXACT, min(int(number), LARGEST_EXACT - 1))
