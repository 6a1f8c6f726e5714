"""Steps of the states that wait for others: Task, Parallel, Map."""

from __future__ import annotations

from random import Random

from dcf.asl.context import iteration_context
from dcf.asl.effect import Effect, FanOut, RunTask
from dcf.asl.errors import RUNTIME, EvaluationError
from dcf.asl.outcome import proceed, recover
from dcf.asl.payload import JSON, kind
from dcf.asl.scope import Scope
from dcf.asl.state import MapState, ParallelState, State, TaskState
from dcf.asl.visit import ChildFailed, Entered, Joined, TaskFailed, TaskSucceeded, Visit


def enter_task(state: TaskState, scope: Scope, _: Visit, __: Entered) -> Effect:
    return RunTask(state.flow.arguments(scope), state.timeout_s, state.heartbeat_s)


def end_task(state: TaskState, scope: Scope, visit: Visit, event: TaskSucceeded) -> Effect:
    return proceed(state, state.flow.output(scope, visit.input, event.result))


def enter_parallel(state: ParallelState, scope: Scope, _: Visit, __: Entered) -> Effect:
    return FanOut(len(state.branches), None, state.flow.arguments(scope), 0)


def enter_map(state: MapState, scope: Scope, _: Visit, __: Entered) -> Effect:
    effective = state.flow.effective_input(scope)
    items = effective if state.items_path is None else state.items_path(scope)
    if not isinstance(items, list):
        raise EvaluationError(RUNTIME, f"ItemsPath must select an array, found {kind(items)}")
    return FanOut(len(items), items, effective, state.max_concurrency)


def join(state: State, scope: Scope, visit: Visit, event: Joined) -> Effect:
    return proceed(state, state.flow.output(scope, visit.input, event.results))


def fail(state: State, scope: Scope, visit: Visit, event: TaskFailed | ChildFailed) -> Effect:
    return recover(state, visit, scope, event.error, event.cause)


def item_input(
    state: MapState, visit: Visit, index: int, item: JSON, rng: Random | None = None
) -> JSON:
    """The input of iteration ``index`` (from 0) of a Map whose ``visit`` this is.

    ItemSelector sees the Map's effective input as ``$`` and the item as
    ``$$.Map.Item.Value``. Raises EvaluationError when it cannot be evaluated: the iteration
    has then failed with that error.
    """
    if state.item_selector is None:
        return item
    scope = Scope(visit.input, visit.context, visit.variables, rng, "item")
    try:
        # InputPath belongs to the Map itself: around it may stand an iteration of another Map.
        state.flow.effective_input(scope)
        scope.context = iteration_context(visit.context, index, item)
        return state.item_selector(scope)
    except RecursionError as error:
        raise EvaluationError(RUNTIME, "ItemSelector: data nests too deep") from error
