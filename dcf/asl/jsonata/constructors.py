"""What an expression builds: arrays, objects, groups and tuples, paid for before they are made.

The library copies what it has so far for every part that it appends.
"""

from __future__ import annotations

from typing import Any

from dcf.asl.evaluation_budget import Budget
from dcf.asl.jsonata.library import JException, Utils
from dcf.asl.jsonata.walking import CONTAINER


def array_of(evaluation: Any, expr: Any, input: Any, frame: Any) -> Any:
    """``[a, b, …]``: the values side by side, those of arrays in their place."""
    budget = evaluation.budget
    made = Utils.JList()
    for item in expr.expressions:
        value = evaluation.eval(item, input, frame)
        if value is None:
            continue
        # An array that is written in an array stays one.
        if isinstance(value, list) and str(item.value) != "[":
            _extend(made, value, budget)
        else:
            made.append(value)
    _pay(len(made), budget)
    made.cons = bool(expr.consarray)
    return made


def grouped(evaluation: Any, expr: Any, input: Any, frame: Any) -> dict[str, Any]:
    """``{key: value, …}``: for every key its value, computed over the items that have the key."""
    is_tuples = isinstance(input, Utils.JList) and input.tuple_stream
    items = input if isinstance(input, list) else [input]
    groups: dict[str, tuple[int, list[Any]]] = {}
    # Without an item there is still a literal object to make.
    for item in items or [None]:
        inner = evaluation.create_frame_from_tuple(frame, item) if is_tuples else frame
        for position, pair in enumerate(expr.lhs_object):
            key = evaluation.eval(pair[0], item["@"] if is_tuples else item, inner)
            if key is None:
                continue
            if not isinstance(key, str):
                raise JException("T1003", expr.position, key)
            at, members = groups.setdefault(key, (position, []))
            if at != position:
                raise JException("D1009", expr.position, key)
            members.append(item)
    _pay(len(groups), evaluation.budget)
    made = {}
    for key, (position, members) in groups.items():
        context, inner = appended(members, evaluation.budget), frame
        if is_tuples:
            bound = evaluation.reduce_tuple_stream(context)
            context = bound.pop("@", None)
            inner = evaluation.create_frame_from_tuple(frame, bound)
        value = evaluation.eval(expr.lhs_object[position][1], context, inner)
        if value is not None:
            made[key] = value
    return made


def tuples_of(evaluation: Any, expr: Any, input: Any, bindings: Any, frame: Any) -> Any:
    """A step of a path with ``@``, ``#`` or ``%``: what is bound for every value so far."""
    budget = evaluation.budget
    made = Utils.create_sequence()
    made.tuple_stream = True
    for outer in bindings if bindings is not None else ({"@": item} for item in input):
        inner = evaluation.create_frame_from_tuple(frame, outer)
        found = evaluation.eval(expr, outer["@"], inner)
        if found is None:
            continue
        is_tuples = isinstance(found, Utils.JList) and found.tuple_stream
        for position, item in enumerate(found if isinstance(found, list) else [found]):
            budget.total += CONTAINER
            budget.grow(0)
            bound = dict(outer)
            if is_tuples:
                bound.update(item)
            else:
                bound[expr.focus if expr.focus is not None else "@"] = item
                if expr.index is not None:
                    bound[expr.index] = position
                if expr.ancestor is not None:
                    bound[expr.ancestor.label] = outer["@"]
            made.append(bound)
    if expr.stages is not None:
        return evaluation.evaluate_stages(expr.stages, made, frame)
    return made


def appended(members: list[Any], budget: Budget) -> Any:
    """What ``$append`` makes of ``members``, one after the other."""
    if len(members) == 1:
        return members[0]
    flat = Utils.JList()
    for value in members:
        if isinstance(value, list):
            _extend(flat, value, budget)
        else:
            flat.append(value)
    return flat


def _extend(made: list[Any], more: list[Any], budget: Budget) -> None:
    budget.work(8 * (len(made) + len(more)))
    made.extend(more)


def _pay(parts: int, budget: Budget) -> None:
    """An array or object of so many parts is made."""
    budget.total += CONTAINER
    budget.spend(parts)
