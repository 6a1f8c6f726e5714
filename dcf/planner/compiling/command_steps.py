"""Commands of a runbook as steps that run them, one after another, by the skill that may."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from dcf.destructive import is_destructive
from dcf.planner.compiling.gap import domain_of
from dcf.planner.compiling.people import free_number
from dcf.problem import Problem
from dcf.skills import SkillCatalog, UnknownSkill
from dcf.sop import (
    CONTINUE,
    ArgumentList,
    Command,
    NotPlain,
    Sop,
    Step,
    Transfer,
    read_argument_list,
)

RUN_COMMAND = "commands:run_command"
_SHOWN = 80


@dataclass(frozen=True, slots=True)
class LeftCommand:
    """A command that stays with a person, who is told ``why``."""

    command: Command
    why: str


@dataclass(frozen=True, slots=True)
class CommandSteps:
    """``sop`` with a task for each of the ``lists``; the commands ``left`` stay in manual steps.
    ``skill`` is the name of the one that is to run them."""

    sop: Sop
    skill: str
    domain: str
    lists: tuple[ArgumentList, ...]
    left: tuple[LeftCommand, ...]
    is_bound: bool = False
    """Whether a plan has the tasks, since a skill may run them."""

    @property
    def programs(self) -> tuple[str, ...]:
        """Exactly the programs that stand in the text, sorted."""
        return tuple(sorted({one.program for one in self.lists}))

    def covered_by(self, catalog: SkillCatalog) -> bool:
        """Whether the catalog has the skill, and it is permitted to run all programs."""
        try:
            found = catalog.resolve(self.skill)
        except UnknownSkill:
            return False
        return set(self.programs) <= set(found.permissions.commands)

    def to_json(self) -> dict[str, Any]:
        """``{skill, bound, programs, offered, left}``: ``offered`` are the argument lists, ``left``
        ``{line, command, why}`` of each command that a person runs."""
        return {
            "skill": self.skill,
            "bound": self.is_bound,
            "programs": list(self.programs),
            "offered": [_words(one) for one in self.lists],
            "left": [
                {"line": one.command.line, "command": one.command.text, "why": one.why}
                for one in self.left
            ],
        }

    def report(self) -> Iterator[str]:
        """What people are told of them."""
        may = "run by {}, each asked for" if self.is_bound else "could be run by {}"
        for runs in self.lists:
            words = " ".join(_words(runs))
            mark = ", DESTRUCTIVE" if is_destructive(words) else ""
            yield f"{may.format(self.skill)}{mark}: {_cut(words)}"
        for one in self.left:
            line, text = one.command.line, _cut(one.command.text)
            yield f"line {line}, a person does it: {text!r} ({one.why})"

    def not_covered(self) -> Problem | None:
        """A warning that no skill may run the commands, so that they stay with people; None where
        there are none, or a skill runs them."""
        if self.is_bound or not self.lists:
            return None
        programs = ", ".join(self.programs)
        return Problem(
            "PLAN_COMMANDS",
            f"no skill {self.skill} may run {programs}, so people do these steps",
            hint="draft it with `dcf plan --from-sop FILE --commands --drafts skills_src`, read "
            "it, then `dcf skills generate`; in one that is there, name the programs in "
            "permissions.commands",
            severity="warning",
        )


def command_steps(sop: Sop) -> CommandSteps:
    """The commands of the manual steps of ``sop`` as tasks. A step is changed as a whole: where one
    of its commands is more than an argument list, or somebody has to answer, a person does it."""
    domain = domain_of(sop)
    made = _Making(
        f"{domain}.run_commands",
        {one.name for one in sop.inputs},
        {step.number for step in sop.all_steps()},
        [],
        [],
    )
    steps = tuple(made.steps(sop.steps))
    # A command without its values cannot run, and nobody is there to fill them in.
    filled = {name for runs in made.lists for name in runs.placeholders}
    inputs = tuple(
        replace(one, required=True) if one.name in filled and one.default is None else one
        for one in sop.inputs
    )
    changed = replace(sop, steps=steps, inputs=inputs)
    return CommandSteps(changed, made.skill, domain, tuple(made.lists), tuple(made.left))


@dataclass(slots=True)
class _Making:
    skill: str
    inputs: set[str]
    taken: set[str]
    lists: list[ArgumentList]
    left: list[LeftCommand]

    def steps(self, steps: tuple[Step, ...]) -> Iterator[Step]:
        for step in steps:
            if step.kind == "manual" and step.commands:
                yield from self._tasks(step)
            else:
                lanes = tuple(
                    replace(lane, steps=tuple(self.steps(lane.steps))) for lane in step.lanes
                )
                yield replace(step, steps=tuple(self.steps(step.steps)), lanes=lanes)

    def _tasks(self, step: Step) -> Iterator[Step]:
        read = [(command, self._read(command)) for command in step.commands]
        refused = [LeftCommand(command, why) for command, why in read if isinstance(why, str)]
        if step.choices or step.writes:
            refused = [LeftCommand(one, "somebody has to answer the step") for one, _ in read]
        if refused:
            others = "another command of the step is no argument list"
            why = {id(one.command): one.why for one in refused}
            self.left += [LeftCommand(one, why.get(id(one), others)) for one, _ in read]
            yield step
            return
        lists = [one for _, one in read if isinstance(one, ArgumentList)]
        self.lists += lists
        task = replace(step, kind="task", skills=(self.skill,))
        for at, (command, runs) in enumerate(zip(step.commands, lists, strict=True)):
            is_last = at + 1 == len(lists)
            yield replace(
                task,
                number=free_number(step.number, self.taken) if at else step.number,
                title=step.title if len(lists) == 1 else f"{step.title} ({at + 1})",
                commands=(command,),
                runs=runs,
                reads=tuple(Transfer(name, name) for name in runs.placeholders),
                branches=step.branches if is_last else (),
                then=step.then if is_last else CONTINUE,
            )

    def _read(self, command: Command) -> ArgumentList | str:
        try:
            found = read_argument_list(command.text)
        except NotPlain as more:
            return str(more)
        unknown = [name for name in found.placeholders if name not in self.inputs]
        return f"nothing says what {unknown[0]} is" if unknown else found


def _words(runs: ArgumentList) -> list[str]:
    return [
        "".join(part if isinstance(part, str) else f"<{part.name}>" for part in argument)
        for argument in runs.arguments
    ]


def _cut(text: str) -> str:
    one_line = " ".join(text.split())
    return one_line if len(one_line) <= _SHOWN else f"{one_line[: _SHOWN - 1]}…"
