"""``dcf skills watch``: generating again at every save."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from dcf.cli.answer import Answer
from dcf.cli.screen import Screen
from dcf.cli.skills import demand_folder
from dcf.cli.trouble import listed
from dcf.cli.wording import counted
from dcf.skills import GenerateResult, generate_all

# Milliseconds: saves that come closer together than the first are one, and the second is the
# longest that a stream of saves can put generation off.
_STEP = 30
_DEBOUNCE = 200
_TICK = 200


def watch_sources(src: Path, out: Path, screen: Screen) -> Answer:
    """Generate now and at every change of ``src``, until Ctrl-C. With errors the last good output
    stays, and the problems are shown."""
    demand_folder(src)
    generations = failures = 0
    try:
        for changed in _changes(src):
            result = generate_all(src, out)
            generations += 1
            failures += not result.ok
            _tell(changed, result, screen)
            if generations == 1:
                screen.say(f"watching {src}; Ctrl-C ends it")
    except KeyboardInterrupt:
        pass
    count = counted(generations, "generation", "generations")
    fields = {"generations": generations, "failures": failures, "out": str(out)}
    return Answer(fields, [f"stopped after {count}, {failures} with errors"], status="stopped")


def _changes(src: Path) -> Iterator[list[str]]:
    """Names of changed files, below ``src``: first none at all, when watching has begun (so that no
    save between reading and watching is lost), then those of each save."""
    from watchfiles import Change, watch

    root = src.resolve()
    begun = False
    for changes in watch(
        src, step=_STEP, debounce=_DEBOUNCE, rust_timeout=_TICK, yield_on_timeout=True
    ):
        added = {path for kind, path in changes if kind is Change.added}
        # What came and went is how an editor saves, not what its user changed.
        passing = {path for path in added if not Path(path).exists()}
        names = {
            Path(path).relative_to(root).as_posix() for _, path in changes if path not in passing
        }
        if names or not begun:
            begun = True
            yield sorted(names)


def _tell(changed: Sequence[str], result: GenerateResult, screen: Screen) -> None:
    what = f"{', '.join(changed)}: " if changed else ""
    for line in listed(result.problems):
        screen.say(line, style="red" if not result.ok else "yellow")
    if not result.ok:
        errors = sum(problem.is_error for problem in result.problems)
        told = counted(errors, "error", "errors")
        screen.say(f"{what}{told}, nothing generated; the last good output stays", style="red")
        return
    names = [f"+ {name}" for name in result.written] + [f"- {name}" for name in result.removed]
    screen.say(
        f"{what}{counted(len(names), 'file', 'files')} changed" if names else f"{what}no change"
    )
    if changed:
        for name in names:
            screen.say(f"  {name}")
