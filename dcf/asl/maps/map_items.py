"""The items of a Map: which there are, how they become inputs, how many may fail."""

from __future__ import annotations

from random import Random

from dcf.asl.context import iteration_context
from dcf.asl.data_limit import INPUT, check_size
from dcf.asl.effect import FanOut
from dcf.asl.errors import QUERY_EVALUATION_ERROR, RUNTIME, EvaluationError, PlainError
from dcf.asl.evaluation_budget import Budget, LimitReached
from dcf.asl.maps.item_format import Members
from dcf.asl.maps.item_reader import ItemReader
from dcf.asl.maps.tolerance import Tolerance
from dcf.asl.outcome import located
from dcf.asl.payload import JSON, excerpt
from dcf.asl.scope import Scope
from dcf.asl.state import MapState
from dcf.asl.visit import Visit

STATE_DATA = "STATE_DATA"
"""``$$.Map.Item.Source`` of items that no ItemReader has read."""

ITEMS_TIME_LIMIT_S = 10.0
"""Seconds of processor time that selecting all items of one Map at once may take."""


def item_input(
    state: MapState,
    visit: Visit,
    index: int,
    item: JSON,
    rng: Random | None = None,
    *,
    limit: int | None = None,
    keyed: bool = False,
) -> JSON:
    """The input of iteration ``index`` (from 0) of a Map whose ``visit`` this is.

    ItemSelector sees the Map's effective input as ``$`` (``$states.input`` is its raw input) and
    the item as ``$$.Map.Item.Value``. ``item`` is one of ``FanOut.items``, ``keyed`` as there;
    batches are inputs already. Raises EvaluationError when it cannot be evaluated, or ItemSelector
    makes more than ``limit`` bytes of JSON: the iteration has then failed with that error.
    """
    if not state.selects_each:
        return item
    try:
        selected = _selected(state, visit, index, item, rng, keyed)
        check_size(state.name, INPUT, selected, limit)
        return selected
    except EvaluationError as error:
        raise PlainError(error.error, located(state, visit, error)) from error
    except RecursionError as error:
        deep = EvaluationError(RUNTIME, "The data nests too deep.")
        raise PlainError(RUNTIME, located(state, visit, deep)) from error


def select_items(state: MapState, scope: Scope) -> list[JSON]:
    """The array that ItemsPath or Items gives, else the effective input, which ``scope`` shows.

    A distributed Map goes through the members of an object too. AWS was recorded to refuse one in
    an inline Map.
    """
    items = scope.data if state.items is None else state.items(scope)
    if isinstance(items, list):
        return items
    if isinstance(items, dict) and state.is_distributed:
        return Members.of(items)
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
    tolerance = _tolerance(state, scope)
    sizes = [1] * len(items)
    if state.batcher is not None:
        items = state.batcher.batches(scope, _selected_items(state, visit, items, scope))
        scope.note("afterItemBatcher", items)
        sizes = [len(batch["Items"]) for batch in items]
    elif scope.stages is not None and state.item_selector is not None:
        scope.note("afterItemSelector", _selected_items(state, visit, items, scope))
    tolerated = tolerance.iterations(sizes)
    keyed = isinstance(items, Members)
    # What is stored is a list and nothing more special.
    return FanOut(len(items), list(items) if keyed else items, effective, window, tolerated, keyed)


def _selected_items(state: MapState, visit: Visit, items: list[JSON], scope: Scope) -> list[JSON]:
    if state.item_selector is None:
        return items
    rng, budget = scope.random(), Budget(ITEMS_TIME_LIMIT_S)
    selected: list[JSON] = []
    for number, item in enumerate(items):
        try:
            budget.look_at_clock()
        except LimitReached as error:
            cause = f"The ItemSelector of {len(items)} items takes too long."
            raise EvaluationError(RUNTIME, cause) from error
        selected.append(_selected(state, visit, number, item, rng, isinstance(items, Members)))
    return selected


def _selected(
    state: MapState, visit: Visit, index: int, item: JSON, rng: Random | None, keyed: bool
) -> JSON:
    assert state.item_selector is not None
    scope = Scope(visit.input, visit.context, visit.variables, rng, "item", visit.identity)
    # InputPath belongs to the Map itself: around it may stand an iteration of another Map.
    state.flow.effective_input(scope)
    source = STATE_DATA if state.reader is None else _read_from(state.reader, scope)
    scope.context = iteration_context(visit.context, index, item, source, keyed=keyed)
    scope.states = {"input": visit.input, "context": scope.context}
    return state.item_selector(scope)


def _read_from(reader: ItemReader, scope: Scope) -> str | None:
    """The URI of the object, or of the listed bucket, that all items come from.

    None where they come from many objects: which of them an item was in is not kept.
    """
    asked = reader.request(scope)
    if asked.listing is not None:
        return None if reader.format is not None else f"S3://{asked.listing[0]}"
    found = asked.objects[0]
    return None if reader.manifest is not None else f"S3://{found.bucket}/{found.key}"


def _tolerance(state: MapState, scope: Scope) -> Tolerance:
    count = percentage = None
    if state.tolerated_count is not None:
        count = int(state.tolerated_count(scope))
        scope.note("toleratedFailureCount", count)
    if state.tolerated_percentage is not None:
        percentage = float(state.tolerated_percentage(scope))
        scope.note("toleratedFailurePercentage", percentage)
    return Tolerance(count, percentage)
