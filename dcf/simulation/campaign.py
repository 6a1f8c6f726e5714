"""Many seeds, on several processors."""

from __future__ import annotations

import gc
import multiprocessing
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from math import ceil
from multiprocessing import resource_tracker
from multiprocessing.pool import Pool

from dcf.simulation.simulator import DEFAULT_STEPS
from dcf.simulation.verdict import Verdict
from dcf.simulation.world import OWN, World
from dcf.stopping import end_with_starter

_SEEDS_AT_ONCE = 4


def settle() -> None:
    """For a process that does nothing but simulate: what is imported by now is never garbage. Each
    simulation ends by looking for garbage, which would else take an eighth of its time.
    It ends with the process that started it."""
    gc.collect()
    gc.freeze()
    end_with_starter()


@contextmanager
def processes(jobs: int) -> Iterator[Pool]:
    """``jobs`` processes that simulate. Ctrl-C is for their starter alone, which ends them."""
    # It lets signals through when it has started, so it starts before they are held back.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT,))
    try:
        # Not fork: a simulation must not inherit what happens to be in this process.
        pool = multiprocessing.get_context("spawn").Pool(jobs, initializer=settle)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    with pool:
        yield pool


def simulate_seeds(
    seeds: Sequence[int], *, steps: int = DEFAULT_STEPS, jobs: int = 1, world: World = OWN
) -> Iterator[Verdict]:
    """The verdict on each of ``seeds`` in ``world``, in their order, ``jobs`` at a time.

    A seed's verdict does not depend on the others, nor on ``jobs``.
    """
    one = partial(world.simulate, steps=steps)
    shares = ceil(len(seeds) / _SEEDS_AT_ONCE)
    if jobs == 1 or shares <= 1:
        yield from map(one, seeds)
        return
    with processes(min(jobs, shares)) as pool:
        yield from pool.imap(one, seeds, chunksize=_SEEDS_AT_ONCE)
