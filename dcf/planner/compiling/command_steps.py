"""Commands of a runbook as steps that run them, one after another, by the skill that may."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from dcf.planner.compiling.gap import domain_of
from dcf.planner.compiling.people import free_number
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
    changed = replace(sop, steps=tuple(made.steps(sop.steps)))
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
