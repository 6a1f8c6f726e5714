"""The items of a Map: which there are, how they become inputs, how many may fail."""

from __future__ import annotations

from itertools import accumulate
from random import Random

from dcf.asl.context import iteration_context
from dcf.asl.effect import FanOut
from dcf.asl.errors import QUERY_EVALUATION_ERROR, RUNTIME, EvaluationError, PlainError
from dcf.asl.outcome import located
from dcf.asl.payload import JSON, excerpt
from dcf.asl.scope import Scope
from dcf.asl.state import MapState
from dcf.asl.visit import Visit


def item_input(
    state: MapState, visit: Visit, index: int, item: JSON, rng: Random | None = None
) -> JSON:
    """The input of iteration ``index`` (from 0) of a Map whose ``visit`` this is.

    ItemSelector sees the Map's effective input as ``$`` (``$states.input`` is its raw input) and
    the item as ``$$.Map.Item.Value``. ``item`` is one of ``FanOut.items``; batches are inputs
    already. Raises EvaluationError when it cannot be evaluated: the iteration has then failed
    with that error.
    """
    if state.item_selector is None or state.batcher is not None:
        return item
    try:
        return _selected(state, visit, index, item, rng)
    except EvaluationError as error:
        raise PlainError(error.error, located(state, visit, error)) from error
    except RecursionError as error:
        deep = EvaluationError(RUNTIME, "The data nests too deep.")
        raise PlainError(RUNTIME, located(state, visit, deep)) from error


def select_items(state: MapState, scope: Scope) -> list[JSON]:
    """The array that ItemsPath or Items gives, else the effective input, which ``scope`` shows."""
    items = scope.data if state.items is None else state.items(scope)
    if isinstance(items, list):
        return items
    if state.jsonata:
        cause = f"Map state input must be an array but was: {excerpt(items, 1000)}"
        raise EvaluationError(QUERY_EVALUATION_ERROR, cause)
    raise EvaluationError(RUNTIME, f'Reference path "{state.items_text}" must point to array.')


def fan_out(state: MapState, scope: Scope, visit: Visit, items: list[JSON]) -> FanOut:
    """Run an iteration for each of ``items``, or for each batch of them.

    ``scope`` shows the Map's effective input. Raises EvaluationError.
    """
    window = 0 if state.max_concurrency is None else int(state.max_concurrency(scope))
    scope.note("maxConcurrency", window)
    effective = scope.data
    tolerated = _tolerated(state, scope, len(items))
    if state.batcher is not None:
        items = state.batcher.batches(scope, _selected_items(state, visit, items, scope))
        scope.note("afterItemBatcher", items)
        tolerated = _tolerated_batches(tolerated, items)
    elif scope.stages is not None and state.item_selector is not None:
        scope.note("afterItemSelector", _selected_items(state, visit, items, scope))
    return FanOut(len(items), items, effective, window, tolerated)


def _selected_items(state: MapState, visit: Visit, items: list[JSON], scope: Scope) -> list[JSON]:
    if state.item_selector is None:
        return items
    rng = scope.random()
    return [_selected(state, visit, number, item, rng) for number, item in enumerate(items)]


def _selected(state: MapState, visit: Visit, index: int, item: JSON, rng: Random | None) -> JSON:
    assert state.item_selector is not None
    scope = Scope(visit.input, visit.context, visit.variables, rng, "item")
    # InputPath belongs to the Map itself: around it may stand an iteration of another Map.
    state.flow.effective_input(scope)
    scope.context = iteration_context(visit.context, index, item)
    scope.states = {"input": visit.input, "context": scope.context}
    return state.item_selector(scope)


def _tolerated(state: MapState, scope: Scope, count: int) -> int:
    """How many of ``count`` items may fail: neither number nor percentage may be exceeded."""
    limits: list[int] = []
    if state.tolerated_count is not None:
        number = int(state.tolerated_count(scope))
        scope.note("toleratedFailureCount", number)
        limits.append(number)
    if state.tolerated_percentage is not None:
        percentage = float(state.tolerated_percentage(scope))
        scope.note("toleratedFailurePercentage", percentage)
        limits.append(int(count * percentage / 100 + 1e-9))
    return min(limits, default=0) if state.is_distributed else 0


def _tolerated_batches(items: int, batches: list[JSON]) -> int:
    """How many batches, whichever they are, may fail when ``items`` items may."""
    sizes = sorted((len(batch["Items"]) for batch in batches), reverse=True)
    return sum(1 for failed in accumulate(sizes) if failed <= items)
