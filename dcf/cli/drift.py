"""A workflow that was made of a text follows that text when it changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dcf.cli.answer import ErrorNote
from dcf.cli.asking import answer_to, at_terminal
from dcf.cli.input_source import read_text
from dcf.cli.screen import Screen
from dcf.cli.trouble import BadInput, listed
from dcf.cli.wording import counted
from dcf.problem import Problem, has_errors

if TYPE_CHECKING:
    from dcf.planner import Compile, Conflict, Drift, Edit, Side, StepChange, Takes

_SIDES: Mapping[str, Side] = {"source": "source", "workflow": "workflow"}


@dataclass(frozen=True, slots=True)
class Following:
    """What is said to conflicts: ``takes`` as given, ``source``, ``workflow`` or ``3=source``.
    ``shows_only``: nothing is written."""

    takes: tuple[str, ...] = ()
    shows_only: bool = False

    def is_due(self, out: Path) -> bool:
        """Whether the workflow in ``out`` is there and keeps its procedure."""
        from dcf.planner import source_of

        return out.is_file() and source_of(read_text(out).value) is not None

    def check(self, out: Path | None) -> None:
        """Raises BadInput where something is said, and there is no such workflow."""
        if (self.takes or self.shows_only) and (out is None or not self.is_due(out)):
            option = "--take" if self.takes else "--diff"
            message = f"{option} is about a workflow that is there and keeps its procedure"
            hint = "name the one that an earlier `dcf plan --from-sop` wrote with --out"
            raise BadInput([Problem("CLI_USAGE", message, hint=hint, file=str(out or "--out"))])


FOLLOWING = Following()


@dataclass(frozen=True, slots=True)
class Followed:
    """``document`` is what is to be written, unless it is ``refused``; ``fields`` are for
    ``--json``."""

    document: dict[str, Any]
    fields: dict[str, Any] = field(default_factory=dict)
    shown: list[Any] = field(default_factory=list)
    refused: ErrorNote | None = None


def follow(
    file: Path,
    out: Path,
    following: Following,
    theirs: dict[str, Any],
    compile_: Compile,
    screen: Screen,
) -> Followed:
    """The workflow in ``out`` with what the new text in ``file``, compiled to ``theirs``, changes
    in it. Raises BadInput."""
    from dcf.planner import drift
    from dcf.workflow import validate

    given = read_text(out)
    problems = given.place(validate(given.value))
    if has_errors(problems):
        raise BadInput(problems)
    takes = _takes(following.takes)
    found = drift(given.value, theirs, compile_, takes)
    _check_takes(takes, found)
    while found.open and not following.shows_only and at_terminal(screen):
        answered = _asked(found.open[0], screen)
        if answered is None:
            break
        takes = replace(takes, by_key={**takes.by_key, found.open[0].key: answered})
        found = drift(given.value, theirs, compile_, takes)
    shown = [_plain("\n".join(_told(found, file, out)))]
    wrong = [one for one in validate(found.document) if one.is_error]
    told = {**found.to_json(), "problems": [one.to_dict() for one in wrong]}
    fields = {"drift": told, "workflow": found.document}
    refused = None if following.shows_only else _refused(found, wrong)
    return Followed(found.document, fields, shown, refused)


def _takes(given: Sequence[str]) -> Takes:
    from dcf.planner import Takes

    every: Side | None = None
    by_key: dict[str, Side] = {}
    for one in given:
        key, _, word = one.rpartition("=")
        side = _SIDES.get(word.strip())
        if side is None:
            message = f"{one!r} names no side"
            hint = "--take source, --take workflow, or for one conflict --take 3=workflow"
            raise BadInput([Problem("CLI_USAGE", message, hint=hint, file="--take")])
        if key:
            by_key[key.strip()] = side
        else:
            every = side
    return Takes(every, by_key)


def _check_takes(takes: Takes, found: Drift) -> None:
    keys = [one.key for one in found.conflicts]
    for key in takes.by_key:
        if key not in keys:
            message = f"there is no conflict {key!r}"
            hint = f"conflicts: {', '.join(keys) or 'none'}"
            raise BadInput([Problem("CLI_USAGE", message, hint=hint, file="--take")])


def _asked(conflict: Conflict, screen: Screen) -> Side | None:
    """What the person at the terminal says to ``conflict``; None to leave it open."""
    for line in _conflict_lines(conflict):
        screen.say(line)
    while True:
        said = answer_to(input, "take [source | workflow, Enter: leave all] ").strip()
        if not said or said in _SIDES:
            return _SIDES.get(said)


def _refused(found: Drift, wrong: Sequence[Problem]) -> ErrorNote | None:
    if found.open:
        message = f"{counted(len(found.open), 'conflict', 'conflicts')}, and nothing was written"
        keys = " ".join(f"--take {one.key}=source" for one in found.open)
        return ErrorNote("conflict", message, f"{keys}, or =workflow; --take source for all")
    if wrong:
        kept = {name for one in found.kept if (name := one.state)}
        named = sorted(name for name in kept if any(name in str(one) for one in wrong))
        said = f": {', '.join(named)}" if named else ""
        message = f"an edit by hand does not fit any more{said}; nothing was written"
        hint = "mend the workflow first, or write the new one into another file"
        return ErrorNote("edit_does_not_fit", message, hint, tuple(listed(wrong)))
    return None


def _told(found: Drift, file: Path, out: Path) -> Iterator[str]:
    """What changes, what is kept, and what both sides changed."""
    changed = [one for one in found.steps if one.kind != "same"]
    stay = len(found.steps) - len(changed)
    if not changed and not found.frame:
        yield f"{out} has the steps of {file}"
    else:
        yield f"{out} follows {file}: {counted(stay, 'step stays', 'steps stay')}"
    for change in changed:
        yield from _change_lines(change)
    if found.frame:
        yield "  the whole procedure"
        yield from (f"      {line}" for line in found.frame)
    for what in ("added", "removed", "changed"):
        if found.states.get(what):
            yield f"  states {what}: {', '.join(found.states[what])}"
    if found.kept:
        yield f"  kept by hand: {'; '.join(map(_edit, found.kept))}"
    if found.dropped:
        yield f"  dropped, since nothing leads there any more: {', '.join(found.dropped)}"
    for conflict in found.conflicts:
        if conflict.take is None:
            yield from _conflict_lines(conflict)
        else:
            yield f"  conflict {conflict.key}: the {conflict.take} is taken"


def _change_lines(change: StepChange) -> Iterator[str]:
    if change.new is None:
        yield f"  step {change.old} is gone: {change.title}"
        return
    was = f" (was {change.old})" if change.old not in (None, change.new) else ""
    what = {"added": "is new", "moved": "moved", "changed": "changed"}[change.kind]
    also = " and moved" if change.kind == "changed" and change.moved else ""
    yield f"  step {change.new}{was} {what}{also}: {change.title}"
    yield from (f"      {line}" for line in change.text)


def _conflict_lines(conflict: Conflict) -> Iterator[str]:
    change, states = conflict.change, ", ".join(conflict.states)
    if change is None:
        yield f"  conflict {conflict.key}: the text and an edit by hand change it differently"
    elif change.new is None:
        yield f"  conflict {conflict.key}: the text has no step {change.old} ({change.title}) any"
        yield f"      more, and there are edits by hand in {states}"
    else:
        says = "says otherwise" if change.kind == "changed" else "leads on otherwise"
        yield f"  conflict {conflict.key}: step {change.new} ({change.title}) {says},"
        yield f"      and there are edits by hand in {states}"
        yield from (f"      {line}" for line in change.text)
    yield f"      --take {conflict.key}=source | --take {conflict.key}=workflow"


def _edit(edit: Edit) -> str:
    name = edit.state or "the document"
    said = {"added": "added", "removed": "taken out"}.get(edit.kind) or ", ".join(edit.members)
    return f"{name} ({said})"


def _plain(text: str) -> Any:
    from rich.text import Text

    return Text(text)
