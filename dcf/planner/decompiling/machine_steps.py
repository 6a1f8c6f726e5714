"""The states of a machine as the steps of a list."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dcf.planner.decompiling.command import command_of
from dcf.planner.decompiling.jsonata_condition import NotPlain, read_jsonata
from dcf.planner.decompiling.jsonpath_condition import dotted, read_rule
from dcf.planner.decompiling.known_step import Known
from dcf.planner.decompiling.renaming import renamed
from dcf.planner.decompiling.state_data import (
    approval_of,
    asked_beyond,
    asked_in_turn,
    budget_of,
    choices_of,
    joins_of,
    names_outside,
    reads_of,
    retries_of,
    writes_of,
)
from dcf.planner.decompiling.state_ends import (
    deadline_of,
    error_name,
    objects,
    stop_of,
    wait_of,
)
from dcf.planner.decompiling.state_words import people_of, role_of, rule_text, words_of
from dcf.sop import (
    CONTINUE,
    ArgumentList,
    Branch,
    Comparison,
    Constant,
    Direction,
    Finish,
    GoTo,
    Handler,
    Lane,
    Loop,
    Name,
    Step,
    StepKind,
    Transfer,
)

State = Mapping[str, Any]
_AUTOMATIC = re.compile(r"(Done|Finished)\d*")
_KINDS: Mapping[str, StepKind] = {
    "Choice": "decision",
    "Map": "loop",
    "Parallel": "parallel",
    "Wait": "wait",
    "Succeed": "end",
    "Fail": "end",
}


def steps_of(
    machine: Mapping[str, Any], words: Known, within: str = "", sole: str | None = None
) -> tuple[Step, ...]:
    """The steps of ``machine``, numbered below ``within``; one that is alone has the number
    ``sole`` if that is given."""
    return _Reading(machine, words, within, sole).steps()


class _Reading:
    """One machine on its way to a list of steps."""

    def __init__(
        self, machine: Mapping[str, Any], words: Known, within: str, sole: str | None
    ) -> None:
        self.words = words
        states = machine.get("States")
        self.states: dict[str, State] = {
            name: state
            for name, state in (states.items() if isinstance(states, Mapping) else ())
            if isinstance(state, Mapping)
        }
        self.start = machine.get("StartAt")
        # What only takes inputs, or ends the list, is no step of its own.
        self.taken = {name for name, state in self.states.items() if self._is_taking(name, state)}
        self.outcomes = self._outcomes()
        hidden = self.taken | set(self.outcomes.values())
        left = [
            name
            for name, state in self.states.items()
            if name not in hidden and not self._is_ending(name, state)
        ]
        first = self._skipped(self.start)
        left = left or [name for name in self.states if name == first]
        self.order = sorted(left, key=lambda name: name != first)
        self.numbers = {
            name: f"{within}.{at}" if within else str(at) for at, name in enumerate(self.order, 1)
        }
        if sole is not None and len(self.order) == 1:
            self.numbers = {self.order[0]: sole}

    def steps(self) -> tuple[Step, ...]:
        return tuple(self._step(at, name) for at, name in enumerate(self.order))

    def _is_numbered_alike(self) -> bool:
        """Whether every step of the list is where it was, so that its jumps still hold."""
        return all(
            name in self.words and self.words[name].step.number == number
            for name, number in self.numbers.items()
        )

    def _is_taking(self, name: str, state: State) -> bool:
        """Whether the first state does nothing but name what it is given."""
        return (
            name == self.start
            and name not in self.words
            and state.get("Type") == "Pass"
            and "Assign" in state
            and state.get("Output") == {}
        )

    def _is_ending(self, name: str, state: State) -> bool:
        if name in self.words:
            return False
        if state.get("Type") == "Succeed":
            return not state.get("Comment") or _AUTOMATIC.fullmatch(name) is not None
        return state.get("Type") == "Fail" and not state.get("Comment") and name != self.start

    def _outcomes(self) -> dict[str, str]:
        """Choices that belong to the step before them, by that step's state."""
        found = {}
        for name, state in self.states.items():
            after = state.get("Next")
            if not isinstance(after, str) or after in self.words:
                continue
            if re.fullmatch(rf"{re.escape(name)}Outcome\d*", after) and after in self.states:
                found[name] = after
        return found

    def _skipped(self, name: Any) -> Any:
        return self.states[name].get("Next") if name in self.taken else name

    def _step(self, at: int, name: str) -> Step:
        state = self.states[name]
        remembered = self.words.get(name)
        known = remembered.step if remembered else None
        kind = self._kind(name, state)
        choice = state if kind == "decision" else self.states.get(self.outcomes.get(name, ""), {})
        then, branches, odd = self._ways(at, name, state, choice)
        title, text = (known.title, known.text) if known else words_of(name, state, kind)
        binding = state.get("AgentBinding")
        binding = binding if isinstance(binding, Mapping) else {}
        writes, runs = writes_of(state, kind, known), command_of(state, binding)
        odd += asked_in_turn(binding)
        if kind == "manual":
            odd += asked_beyond(binding, writes)
        if odd:
            text = "\n".join(part for part in (text, *odd) if part)
        number = self.numbers[name]
        inside = self._inside(state, number) if kind == "loop" else ()
        lanes = self._lanes(state, number, known) if kind == "parallel" else ()
        if remembered and remembered.is_unchanged and self._is_numbered_alike():
            return replace(remembered.step, steps=inside, lanes=lanes)
        is_work = kind == "task"
        named = is_work and not (known and not known.skills)
        skills = tuple(map(str, binding.get("skills", ()))) if named else ()
        joins = joins_of(state, Step(number, title, kind, lanes=lanes)) if lanes else ()
        return Step(
            number=number,
            title=title,
            kind=kind,
            text=text,
            role=_role(binding, known, kind),
            skills=skills,
            reads=_reads(state, kind, runs),
            writes=writes,
            branches=branches,
            then=then,
            wait=wait_of(state) if kind == "wait" else None,
            approval=approval_of(binding),
            choices=choices_of(binding),
            loop=self._loop(state) if kind == "loop" else None,
            steps=inside,
            lanes=lanes,
            joins=joins,
            retries=retries_of(state),
            deadline=deadline_of(state, binding, kind),
            handlers=self._handlers(at, state),
            tier=binding.get("tier", known.tier if known else None) if is_work else None,
            budget=budget_of(binding),
            runs=runs,
        )

    def _kind(self, name: str, state: State) -> StepKind:
        found = state.get("AgentBinding")
        binding = found if state.get("Type") == "Task" and isinstance(found, Mapping) else {}
        approval = binding.get("approval")
        if isinstance(approval, Mapping) and approval.get("only"):
            return "approval"
        if isinstance(binding.get("manual"), Mapping):
            return "manual"
        return _KINDS.get(str(state.get("Type")), "task")

    def _ways(
        self, at: int, name: str, state: State, choice: State
    ) -> tuple[Direction, tuple[Branch, ...], list[str]]:
        """Where it goes on, on which conditions, and in words what no condition can say."""
        if state.get("Type") == "Succeed":
            return Finish(), (), []
        if state.get("Type") == "Fail":
            return stop_of(state), (), []
        if not choice:
            return self._direction(at, state.get("Next")), (), []
        branches, odd = [], []
        for number, rule in enumerate(objects(choice.get("Choices")), 1):
            then = self._direction(at, rule.get("Next"))
            try:
                found = rule.get("Condition")
                condition = (
                    read_jsonata(found.strip().removeprefix("{%").removesuffix("%}"))
                    if isinstance(found, str)
                    else read_rule(rule)
                )
            except NotPlain:
                flag = f"condition_{self.numbers[name].replace('.', '_')}_{number}"
                condition = Comparison(Name(flag), "==", Constant(True))
                odd.append(f"{flag} stands for: {rule_text(rule)}")
            branches.append(Branch(condition, then))
        return self._direction(at, choice.get("Default")), tuple(branches), odd

    def _handlers(self, at: int, state: State) -> tuple[Handler, ...]:
        found = []
        for catcher in objects(state.get("Catch")):
            errors = tuple(one for one in catcher.get("ErrorEquals", ()) if one != "States.ALL")
            then = self._direction(at, catcher.get("Next"))
            found.append(Handler(tuple(map(error_name, errors)), then))
        return tuple(found)

    def _direction(self, at: int, target: Any) -> Direction:
        """Where ``target`` lies, seen from the step at ``at``."""
        is_last = at + 1 >= len(self.order)
        state = self.states.get(target) if isinstance(target, str) else None
        if state is None:
            return CONTINUE if is_last else Finish()
        if target in self.numbers:
            follows = not is_last and self.order[at + 1] == target
            return CONTINUE if follows else GoTo(self.numbers[target])
        if state.get("Type") == "Fail":
            return stop_of(state)
        return CONTINUE if is_last else Finish()

    def _loop(self, state: State) -> Loop:
        items = state.get("Items", state.get("ItemsPath", "$"))
        try:
            path = dotted(str(items).strip().removeprefix("{%").removesuffix("%}").strip())
        except NotPlain:
            path = "items"
        selector = state.get("ItemSelector", {})
        names = [name for name in selector if isinstance(selector, Mapping) and name.isidentifier()]
        at_once = state.get("MaxConcurrency")
        concurrency = at_once if isinstance(at_once, int) and 0 < at_once <= 256 else None
        return Loop(path, names[0] if len(names) == 1 else "item", concurrency)

    def _inside(self, state: State, number: str) -> tuple[Step, ...]:
        inner = state.get("ItemProcessor", state.get("Iterator"))
        machine = inner if isinstance(inner, Mapping) else {}
        return renamed(steps_of(machine, self.words, number), names_outside(machine))

    def _lanes(self, state: State, number: str, known: Step | None) -> tuple[Lane, ...]:
        lanes = []
        branches = objects(state.get("Branches"))
        titles = [lane.title for lane in known.lanes] if known else []
        if len(titles) != len(branches):
            titles = [""] * len(branches)
        for at, (branch, title) in enumerate(zip(branches, titles, strict=True), 1):
            here = f"{number}.{at}"
            steps = steps_of(branch, self.words, here, None if title else here)
            steps = renamed(steps, names_outside(branch))
            lanes.append(Lane(steps, title or ("" if len(steps) == 1 else f"Lane {at}")))
        return tuple(lanes)


def _reads(state: State, kind: StepKind, runs: ArgumentList | None) -> tuple[Transfer, ...]:
    """What the work is given; of a command the values in it."""
    if runs is not None:
        return tuple(Transfer(name, name) for name in runs.placeholders)
    return reads_of(state) if kind in ("task", "approval", "manual") else ()


def _role(binding: Mapping[str, Any], known: Step | None, kind: StepKind) -> str | None:
    """Who does it: of a manual task always those that the binding names."""
    if kind == "manual":
        return people_of(binding)
    if kind != "task":
        return None
    return known.role if known else role_of(binding)
