"""Functions of the library that walk or build without an end of their own, each with a budget.

What an expression builds may hold the same list many times over: sixty lists, each twice in the
next one, are 2**60 when walked. Importing this module puts the functions into the library.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dcf.asl.evaluation_budget import Budget
from dcf.asl.jsonata.library import Functions, JException, Jsonata, Utils
from dcf.asl.jsonata.native import NativeFunction, current_budget
from dcf.asl.jsonata.value import defined

CONTAINER = 240
"""Bytes of an array or object of Python beside its elements."""

_LARGE = 1000  # elements or characters from which a function of the library takes a while


def leaves(value: Any, budget: Budget) -> Iterator[Any]:
    """What is in ``value`` and the arrays in it that is no array; each step is counted."""
    open_arrays = [iter([value])]
    while open_arrays:
        for item in open_arrays[-1]:
            budget.tick()
            if isinstance(item, list):
                open_arrays.append(iter(item))
                break
            yield item
        else:
            open_arrays.pop()


def truth(value: Any) -> bool | None:
    """``$boolean``: an array is true when anything in it is; undefined stays undefined."""
    if isinstance(value, list):
        return any(_is_true(leaf) for leaf in leaves(value, current_budget()))
    return None if value is None else _is_true(value)


def _is_true(value: Any) -> bool:
    if isinstance(value, (str, dict)):
        return len(value) > 0
    return isinstance(value, (bool, int, float)) and value != 0


def _not(value: Any) -> bool | None:
    return None if value is None else not truth(value)


def lookup(value: Any, name: Any) -> Any:
    """The field ``name`` of an object, or those of all objects in an array."""
    if isinstance(value, dict):
        return defined(value[name]) if name in value else None
    if not isinstance(value, list):
        return None
    budget = current_budget()
    found = Utils.create_sequence()
    for leaf in leaves(value, budget):
        field = leaf.get(name, Utils.NONE) if isinstance(leaf, dict) else Utils.NONE
        if field is Utils.NONE:
            continue
        field = defined(field)
        if isinstance(field, list):
            budget.spend(len(field))
            found.extend(field)
        else:
            budget.total += 8
            found.append(field)
    budget.spend(len(found))
    return found


def keys(value: Any) -> Any:
    """The names of the fields of an object, or of all objects in an array, each once."""
    budget = current_budget()
    names: dict[str, None] = {}
    for leaf in leaves(value, budget):
        if isinstance(leaf, dict):
            budget.tick(len(leaf))
            names.update(dict.fromkeys(leaf))
    return Utils.create_sequence_from_iter(names)


def _merge(objects: Any) -> Any:
    if objects is None:
        return None
    budget = current_budget()
    merged: dict[str, Any] = {}
    for item in objects:
        if not isinstance(item, dict):
            raise JException("T0412", -1, 1, "merge", "object")
        budget.tick(1 + len(item))
        merged.update(item)
    return merged


def _zip(*arrays: Any) -> Any:
    if any(array is None for array in arrays):
        return []
    budget = current_budget()
    rows = min(map(len, arrays))
    budget.total += rows * CONTAINER
    budget.spend(rows * len(arrays))
    return [list(row) for row in zip(*arrays, strict=False)]


def call_function(function: Any, arguments: Any) -> Any:
    """How the library calls what it was given, such as ``$map`` its function."""
    evaluation = Jsonata.CURRENT.jsonata
    if Functions.is_lambda(function):
        return evaluation.apply(function, arguments, None, evaluation.environment)
    result = function.call(None, arguments)
    charge(arguments, result, evaluation.budget)
    return result


def charge(arguments: Any, result: Any, budget: Budget) -> None:
    """A function that is not of the expression's own made ``result`` of ``arguments``."""
    if any(isinstance(item, (list, str, dict)) and len(item) > _LARGE for item in arguments or ()):
        budget.look_at_clock()
    if isinstance(result, str):
        budget.grow(len(result))
    elif isinstance(result, list):
        budget.spend(len(result))
    else:
        budget.tick()


WALKING_FUNCTIONS = (
    NativeFunction("boolean", "<x-:b>", truth),
    NativeFunction("not", "<x-:b>", _not),
    NativeFunction("lookup", "<x-s:x>", lookup),
    NativeFunction("keys", "<x-:a<s>>", keys),
    NativeFunction("merge", "<a<o>:o>", _merge),
)

# The library writes the values of an error into a text that nobody reads: see ``reason``.
JException.msg = staticmethod(lambda error, *_, **__: str(error))
Functions.to_boolean = staticmethod(truth)
Functions.lookup = staticmethod(lookup)
Functions.keys = staticmethod(keys)
Functions.func_apply = staticmethod(call_function)
Jsonata.static_frame.bindings["zip"].method = _zip
