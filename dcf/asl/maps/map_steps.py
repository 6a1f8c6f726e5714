"""Steps of a Map: run its iterations, put their results together."""

from __future__ import annotations

from dcf.asl.effect import Effect, ReadItems
from dcf.asl.errors import (
    EXCEED_TOLERATED_FAILURE,
    ITEM_READER_FAILED,
    RESULT_WRITER_FAILED,
    PlainError,
)
from dcf.asl.maps.map_items import fan_out, select_items
from dcf.asl.maps.map_run import map_run
from dcf.asl.maps.result_writer import ResultWriter
from dcf.asl.outcome import recover
from dcf.asl.payload import JSON
from dcf.asl.scope import Scope
from dcf.asl.state import MapState
from dcf.asl.visit import (
    ChildFailed,
    Entered,
    ItemsRead,
    ItemsUnreadable,
    Joined,
    ResultsUnwritable,
    ResultsWritten,
    Visit,
)
from dcf.asl.work_steps import take_result

THRESHOLD_EXCEEDED = "The specified tolerated failure threshold was exceeded"


def enter_map(state: MapState, scope: Scope, visit: Visit, _: Entered) -> Effect:
    state.flow.effective_input(scope)
    if state.reader is not None:
        return state.reader.request(scope)
    items = select_items(state, scope)
    scope.note("afterItemsPath", items)
    return fan_out(state, scope, visit, items)


def take_items(state: MapState, scope: Scope, visit: Visit, event: ItemsRead) -> Effect:
    assert state.reader is not None
    state.flow.effective_input(scope)
    found = state.reader.items(scope, event)
    return found if isinstance(found, ReadItems) else fan_out(state, scope, visit, found)


def items_unreadable(_: MapState, __: Scope, ___: Visit, event: ItemsUnreadable) -> Effect:
    raise PlainError(ITEM_READER_FAILED, event.cause)


def join_map(state: MapState, scope: Scope, visit: Visit, event: Joined) -> Effect:
    if state.writer is None and not event.failures:
        return take_result(state, scope, visit, event.results)
    if not state.is_distributed:
        return take_result(state, scope, visit, _with_failures(event))
    writer, run = state.writer or ResultWriter(), map_run(state, visit)
    if writer.arguments is None:
        return take_result(state, scope, visit, writer.transform(run, event))
    state.flow.effective_input(scope)
    return writer.write(scope, run, event)


def _with_failures(event: Joined) -> list[JSON]:
    """The results of an inline Map; that of a failed iteration is its Error and Cause."""
    results = list(event.results)
    for number, (error, cause) in event.failures.items():
        results[number] = {"Error": error or "", "Cause": cause or ""}
    return results


def end_writing(state: MapState, scope: Scope, visit: Visit, event: ResultsWritten) -> Effect:
    return take_result(state, scope, visit, event.request.output)


def results_unwritable(_: MapState, __: Scope, ___: Visit, event: ResultsUnwritable) -> Effect:
    raise PlainError(RESULT_WRITER_FAILED, event.cause)


def fail_map(state: MapState, scope: Scope, visit: Visit, event: ChildFailed) -> Effect:
    """A Map that counts failures reports no single one: the records say which iterations failed."""
    if state.is_distributed or state.is_tolerant:
        return recover(state, visit, scope, EXCEED_TOLERATED_FAILURE, THRESHOLD_EXCEEDED)
    return recover(state, visit, scope, event.error, event.cause)
