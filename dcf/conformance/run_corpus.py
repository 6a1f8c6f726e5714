"""All cases of a corpus, on one processor or several."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial

from dcf.conformance.case import Case
from dcf.conformance.definitions import create, validate, variable_references
from dcf.conformance.execute import execute
from dcf.conformance.executor import EngineName, Executor
from dcf.conformance.pure import PureExecutor
from dcf.conformance.result import CRASHED, Result
from dcf.conformance.test_state import test_state
from dcf.stopping import end_with_starter


def run_corpus(
    cases: Sequence[Case], *, engine: EngineName = "pure", jobs: int = 1
) -> Iterator[Result]:
    """The result of each of ``cases``, in their order, from ``jobs`` processes.

    Each process opens the engine once, for its share.
    """
    jobs = min(jobs, len(cases))
    if jobs <= 1:
        yield from _run_share(cases, engine)
        return
    shares = [cases[first::jobs] for first in range(jobs)]
    # Not fork: an engine must not inherit what happens to be in this process.
    context = multiprocessing.get_context("spawn")
    others = set(multiprocessing.active_children())
    with ProcessPoolExecutor(jobs, context, initializer=_begin_in_pool) as pool:
        try:
            results = list(pool.map(partial(_run_all, engine=engine), shares))
        except BaseException:
            # Nobody wants the other results any more, and the pool would wait for them.
            for process in set(multiprocessing.active_children()) - others:
                process.terminate()
            raise
    for number in range(len(cases)):
        yield results[number % jobs][number // jobs]


def _begin_in_pool() -> None:
    """Let this process end at once, and without a word, on Ctrl-C, and when the one that wants its
    results is gone: by itself it would wait for more work for ever, and keep its engine."""
    signal.signal(signal.SIGINT, lambda *_: os._exit(1))
    end_with_starter()


def _run_all(cases: Sequence[Case], engine: EngineName) -> list[Result]:
    return list(_run_share(cases, engine))


def _run_share(cases: Sequence[Case], engine: EngineName) -> Iterator[Result]:
    executor = open_executor(engine)
    try:
        for case in cases:
            yield run_case(case, executor)
    finally:
        executor.close()


def open_executor(engine: EngineName) -> Executor:
    """The executor of that name."""
    if engine == "pure":
        return PureExecutor()
    from dcf.conformance.engine_run import open_engine

    return open_engine(engine)


def run_case(case: Case, executor: Executor) -> Result:
    """The result of ``case`` with the seconds it took. Whatever is raised is a result too: one
    defect must not hide what the other cases say."""
    began = time.perf_counter()
    try:
        result = _run(case, executor)
    except Exception as error:  # noqa: BLE001
        result = Result(case.name, CRASHED, cause=f"{type(error).__name__}: {error}")
    return replace(result, seconds=time.perf_counter() - began)


def _run(case: Case, executor: Executor) -> Result:
    if case.op == "execute":
        return execute(case, executor)
    if case.op == "create":
        return create(case)
    if case.op == "validate":
        return validate(case)
    if case.op == "variable_references":
        return variable_references(case)
    return test_state(case)
