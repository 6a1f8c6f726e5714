"""``dcf sim --sabotage``: which broken scripts the guarantees notice, and which not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table

from dcf.cli.answer import Answer, ErrorNote
from dcf.cli.exits import FAILED
from dcf.cli.screen import Screen
from dcf.cli.sim import MANY, progress, story
from dcf.cli.trouble import BadInput
from dcf.cli.wording import counted
from dcf.problem import Problem

if TYPE_CHECKING:
    from dcf.simulation import Trial, World

_SHOWN_TEXT = 48


def sabotage(
    name: str, seeds: Sequence[int], steps: int, jobs: int, world: World, screen: Screen
) -> Answer:
    """Break the scripts as ``name`` says ("all", a mutant, or how the names of some begin), each
    until one of ``seeds`` of ``world`` shows it. Raises ModuleNotFoundError without the extra
    ``sim``."""
    from dcf.simulation import attempt_all, named, settle

    # Every name begins with nothing: who says nothing has not asked for all.
    chosen = named(name) if name else []
    if not chosen:
        hint = (
            f"{_near(name)}names begin with a script: {_scripts()}; "
            "a name changes when its statement does"
        )
        message = f"{name!r} is no mutant, nor how names of mutants begin"
        raise BadInput([Problem("CLI_SABOTAGE", message, hint=hint, file="--sabotage")])
    settle()
    trials = []
    with progress(screen, len(chosen), "mutants", "not noticed") as tick:
        for trial in attempt_all(chosen, seeds, steps=steps, jobs=jobs, world=world):
            trials.append(trial)
            tick(not trial.ok)
    if len(trials) == 1 and not screen.as_json:
        _tell(trials[0], steps, world, screen)
    return _answer(trials, seeds, steps, world.options)


def _scripts() -> str:
    from dcf.simulation import mutants

    return ", ".join(sorted({one.file for one in mutants()}))


def _near(name: str) -> str:
    """The mutants and scripts that may have been meant by ``name``, "" where nothing is like it."""
    from dcf.simulation import mutants

    known = {word for one in mutants() for word in (one.file, one.name)}
    near = get_close_matches(name, sorted(known))
    return f"close to it: {', '.join(near)}; " if near else ""


def _tell(trial: Trial, steps: int, world: World, screen: Screen) -> None:
    """The whole story of one that was noticed."""
    if trial.seed is None:
        return
    from dcf.simulation import GUARANTEES

    broken = trial.mutant.sabotage()
    verdict = world.simulate(trial.seed, steps=steps, sabotage=broken, until=GUARANTEES)
    for line in story(replace(verdict, sabotage=trial.mutant.name)):
        screen.say(line)


def _answer(trials: Sequence[Trial], seeds: Sequence[int], steps: int, options: str) -> Answer:
    totals = Counter(trial.status for trial in trials)
    fields: dict[str, Any] = {
        "seeds": len(seeds),
        "generated": len(trials),
        "totals": dict(sorted(totals.items())),
        "mutants": [_entry(trial, steps, options) for trial in trials],
    }
    show = [_table(trials, steps, options), _totals(totals, len(trials))]
    bad = [trial for trial in trials if not trial.ok]
    if not bad:
        said = counted(len(trials), "mutant is", "mutants are")
        return Answer(fields, [*show, f"{said} noticed, or proven to change nothing."])
    note = _note(bad, len(trials), len(seeds))
    return Answer(fields, show, status="unnoticed", error=note, exit_code=FAILED)


def _note(bad: Sequence[Trial], trials: int, seeds: int) -> ErrorNote:
    mutants = f"{len(bad)} of {counted(trials, 'mutant', 'mutants')}"
    verb = "is" if len(bad) == 1 else "are"
    if seeds < MANY and all(trial.seed is None for trial in bad):
        # Nothing is missing from the guarantees as long as more seeds may notice it.
        under = "this seed" if seeds == 1 else f"these {seeds} seeds"
        return ErrorNote(
            "mutants_not_noticed",
            f"{mutants} {verb} not noticed under {under}; {MANY} are looked through by default",
            "leave out --seed and --seeds, or give a longer range",
        )
    return ErrorNote(
        "mutants_not_noticed",
        f"{mutants} {verb} not as expected",
        "add the guarantee that is missing, or the reason to dcf/simulation/equivalents.json",
    )


def _replay(trial: Trial, steps: int, options: str) -> str:
    """The command that shows again what noticed it, "" where nothing did."""
    if trial.seed is None:
        return ""
    return f"dcf sim{options} --seed {trial.seed} --steps {steps} --sabotage {trial.mutant.name}"


def _entry(trial: Trial, steps: int, options: str) -> dict[str, Any]:
    mutant, violation = trial.mutant, trial.violation
    return {
        "name": mutant.name,
        "place": mutant.place,
        "old": mutant.old,
        "new": mutant.new,
        "status": trial.status,
        "seeds_tried": trial.tried,
        "seed": trial.seed,
        "guarantee": violation.guarantee if violation else None,
        "seen": violation.seen if violation else None,
        "reason": trial.reason or None,
        "replay": _replay(trial, steps, options) or None,
    }


def _table(trials: Sequence[Trial], steps: int, options: str) -> Table:
    table = Table(title="Mutants", title_justify="left")
    for column in ("mutant", "place", "change", "outcome"):
        table.add_column(column, overflow="fold")
    for trial in trials:
        mutant = trial.mutant
        change = f"{_short(mutant.old)} → {_short(mutant.new)}"
        table.add_row(
            mutant.name, mutant.place, escape(change), escape(_outcome(trial, steps, options))
        )
    return table


def _totals(totals: Counter[Any], generated: int) -> Table:
    table = Table(title="Outcomes", title_justify="left")
    table.add_column("what")
    table.add_column("how many", justify="right")
    table.add_row("generated", f"{generated:,}")
    for status, number in sorted(totals.items()):
        table.add_row(status, f"{number:,}")
    return table


def _outcome(trial: Trial, steps: int, options: str) -> str:
    tried = counted(trial.tried, "seed that runs it", "seeds that run it")
    if trial.seed is not None and trial.violation is not None:
        found = f"{trial.violation.guarantee}: {_replay(trial, steps, options)}"
        return f"found, but listed as equivalent: {found}" if trial.reason else found
    if trial.reason:
        return f"equivalent: {trial.reason}"
    return f"NOT FOUND by {tried}" if trial.tried else "NOT REACHED by any seed"


def _short(text: str) -> str:
    said = " ".join(text.split())
    return said if len(said) <= _SHOWN_TEXT else f"{said[: _SHOWN_TEXT - 1]}…"
