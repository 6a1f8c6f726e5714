"""``dcf sim``: seeds are simulated, guarantees checked, the sum of it is shown."""

from __future__ import annotations

import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from dcf.cli.answer import Answer, ErrorNote
from dcf.cli.exits import FAILED
from dcf.cli.screen import Screen
from dcf.cli.sim_workflow import WorkflowOptions, refuse_unmocked, with_workflow, world_of
from dcf.cli.trouble import BadInput, EnvironmentTrouble
from dcf.cli.wording import counted
from dcf.problem import Problem
from dcf_agents.installation import extra_command

if TYPE_CHECKING:
    from dcf.simulation import Verdict, WorkflowWorld, World

_RANGE = re.compile(r"(\d{1,18}):(\d{1,18})")
# Failing seeds that are shown in full; the others by their command.
_SHOWN = 3
_SHOWN_VIOLATIONS = 10
_SAY_EVERY_S = 10.0
MANY = 200
"""So many are looked through for a mutant, or for a user's workflow, if none are given."""


@dataclass(frozen=True, slots=True)
class SimulationOptions:
    """What was asked for: ``seed`` or the range ``seeds`` ("first:end", without the end), with the
    scripts as they are or with the sabotage ``broken``; of a user's ``workflow``, if it names one.
    """

    seed: int | None
    seeds: str | None
    broken: str | None
    steps: int
    jobs: int
    workflow: WorkflowOptions


def simulate(options: SimulationOptions, screen: Screen) -> Answer:
    """Simulate what ``options`` ask for."""
    about = options.workflow
    seeds = options.seeds
    if options.seed is None and seeds is None and (options.broken is not None or about.workflow):
        seeds = f"0:{MANY}"
    chosen = _chosen(options.seed, seeds)
    if about.workflow is None:
        about.check_alone()
    try:
        if about.workflow is not None:
            return _of_workflow(chosen, options, world_of(about, screen), screen)
        from dcf.simulation import OWN

        return _of_world(chosen, options, OWN, screen)
    except ModuleNotFoundError as error:
        message = f"the simulation needs {error.name}, which is not installed"
        hint = f"`{extra_command('sim')}` installs it"
        raise EnvironmentTrouble("sim_missing", message, hint) from error


def _of_workflow(
    chosen: Sequence[int], options: SimulationOptions, world: WorkflowWorld, screen: Screen
) -> Answer:
    if options.broken is not None:
        return _of_world(chosen, options, world, screen)
    verdicts = _verdicts(chosen, options, world, screen)
    refuse_unmocked(verdicts, options.workflow)
    return with_workflow(_answer(verdicts, screen), world)


def _of_world(
    chosen: Sequence[int], options: SimulationOptions, world: World, screen: Screen
) -> Answer:
    if options.broken is not None:
        from dcf.cli.sabotage import sabotage

        return sabotage(options.broken, chosen, options.steps, options.jobs, world, screen)
    return _answer(_verdicts(chosen, options, world, screen), screen)


def _verdicts(
    chosen: Sequence[int], options: SimulationOptions, world: World, screen: Screen
) -> list[Verdict]:
    from dcf.simulation import settle, simulate_seeds

    settle()
    with progress(screen, len(chosen), "seeds", "failed") as tick:
        verdicts = []
        for verdict in simulate_seeds(chosen, steps=options.steps, jobs=options.jobs, world=world):
            verdicts.append(verdict)
            tick(not verdict.ok)
    return verdicts


def _chosen(seed: int | None, seeds: str | None) -> Sequence[int]:
    if seeds is None:
        return [seed or 0]
    if seed is not None:
        raise _bad("--seed and --seeds exclude each other", "use --seeds 0:500 for many")
    match = _RANGE.fullmatch(seeds)
    if match is None or int(match[1]) >= int(match[2]):
        raise _bad(f"{seeds!r} is no range of seeds", "write first:end, for example 0:500")
    return range(int(match[1]), int(match[2]))


def _bad(message: str, hint: str) -> BadInput:
    return BadInput([Problem("CLI_SEEDS", message, hint=hint, file="--seeds")])


@contextmanager
def progress(screen: Screen, total: int, what: str, bad: str) -> Iterator[Callable[[bool], None]]:
    """A bar on a terminal; elsewhere a line on stderr every ten seconds. Called for each of
    ``what``: whether it is bad."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    done, failed = 0, 0

    def said() -> str:
        return f"{done:,} of {total:,} {what}{f' ({failed:,} {bad})' if failed else ''}"

    with (
        Progress(
            *columns,
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=screen.human,
            transient=True,
            disable=not screen.human.is_terminal,
        ) as bar,
        _repeated(lambda after_s: screen.warn(f"{said()}; {after_s:.0f} s so far"), bar.disable),
    ):
        task = bar.add_task(what, total=total)

        def tick(has_failed: bool) -> None:
            nonlocal done, failed
            done, failed = done + 1, failed + has_failed
            text = f"{what} ({failed} {bad})" if failed else what
            bar.update(task, advance=1, description=text)

        yield tick


@contextmanager
def _repeated(say: Callable[[float], object], wanted: bool) -> Iterator[None]:
    """Call ``say`` with the seconds since the beginning every ten seconds, in a thread: what goes
    on meanwhile lets nothing else run."""
    over, began = threading.Event(), time.monotonic()

    def repeat() -> None:
        while not over.wait(_SAY_EVERY_S):
            say(time.monotonic() - began)

    thread = threading.Thread(target=repeat, name="progress", daemon=True)
    if wanted:
        thread.start()
    try:
        yield
    finally:
        over.set()
        if wanted:
            thread.join()


def _answer(verdicts: Sequence[Verdict], screen: Screen) -> Answer:
    failed, single = [verdict for verdict in verdicts if not verdict.ok], len(verdicts) == 1
    if not screen.as_json:
        for verdict in failed[:_SHOWN]:
            for line in story(verdict):
                screen.say(line)
    totals: Counter[str] = Counter()
    for verdict in verdicts:
        totals.update(verdict.counts)
    virtual_s = sum(verdict.virtual_s for verdict in verdicts)
    fields: dict[str, Any] = {
        "seeds": len(verdicts),
        "failed_seeds": [verdict.seed for verdict in failed],
        "virtual_s": round(virtual_s, 3),
        "counts": dict(totals),
        "verdicts": [verdict.to_json() for verdict in (verdicts if single else failed)],
    }
    show: list[Any] = [f"also failed: {verdict.replay}" for verdict in failed[_SHOWN:]]
    show.append(_table(totals, len(verdicts), virtual_s))
    if not failed:
        held = f"Every guarantee held in {counted(len(verdicts), 'seed', 'seeds')}."
        if single:
            held = f"Every guarantee held in seed {verdicts[0].seed} ({verdicts[0].digest[:16]})."
        return Answer(fields, [*show, held])
    note = ErrorNote(
        "guarantee_violated",
        f"{len(failed)} of {counted(len(verdicts), 'seed', 'seeds')} violate a guarantee",
        f"replay one: {failed[0].replay}",
    )
    return Answer(fields, show, status="violated", error=note, exit_code=FAILED)


def story(verdict: Verdict) -> Iterator[str]:
    """A failing seed line by line: what was seen, in which machine, after which calls."""
    yield f"seed {verdict.seed}: {counted(len(verdict.violations), 'violation', 'violations')}"
    yield from (f"  violated: {violation}" for violation in verdict.violations[:_SHOWN_VIOLATIONS])
    yield from (f"  machine {run}: {text}" for run, text in verdict.machines.items())
    if verdict.history:
        yield "  the history of the run, with calls and crashes (virtual seconds, what, state):"
        yield from (f"  {line}" for line in verdict.history)
    if verdict.trace:
        yield "  the last calls (virtual seconds, who, what -> answer):"
        yield from (f"  {line}" for line in verdict.trace)
    yield f"replay: {verdict.replay}"
    yield ""


def _table(totals: Counter[str], seeds: int, virtual_s: float) -> Table:
    table = Table(title="What happened", title_justify="left")
    table.add_column("what")
    table.add_column("how often", justify="right")
    table.add_row("seeds", f"{seeds:,}")
    table.add_row("virtual seconds", f"{virtual_s:,.0f}")
    for what, number in totals.items():
        if number:
            table.add_row(what, f"{number:,}")
    return table
