"""A list of steps woven into one machine: the whole procedure, the body of a loop, or a lane."""

from __future__ import annotations

from collections.abc import Sequence

from dcf.planner.compiling.binding import settle
from dcf.planner.compiling.endings import Endings
from dcf.planner.compiling.expression import Names, condition, names_in_text, value_of, wrapped
from dcf.planner.compiling.fans import Output, loop_state, parallel_state
from dcf.planner.compiling.known import NOTHING, Known, reach
from dcf.planner.compiling.manual_state import manual_state
from dcf.planner.compiling.read_check import UNDECIDED, check_reads
from dcf.planner.compiling.task_state import (
    REJECTED,
    TIMED_OUT,
    approval_state,
    kept,
    retries,
    task_state,
    title_and_text,
)
from dcf.planner.compiling.variables import Scope
from dcf.planner.compiling.weaving import State, Weaving
from dcf.planner.compiling.work import arguments_of
from dcf.sop import Direction, Finish, GoTo, Handler, Name, Step, Stop


def weave_list(
    weaving: Weaving,
    steps: Sequence[Step],
    scope: Scope,
    known: Known,
    begin: State,
    title: str,
    output: Output,
) -> State:
    """The machine of ``steps``, before which ``known`` is there. It first assigns ``begin``, in a
    state called ``title``, and puts out ``output`` where it ends well."""
    return _StepList(weaving, steps, scope, known, output).machine(begin, title)


class _StepList:
    def __init__(
        self,
        weaving: Weaving,
        steps: Sequence[Step],
        scope: Scope,
        known: Known,
        output: Output,
    ) -> None:
        self.weaving = weaving
        self.steps = steps
        self.scope = scope
        self.output = output
        self.reached = reach(steps, known, weaving.surely)
        self.visible = frozenset(scope.variables)
        self.entries = {step.number: weaving.titles.take(step.title) for step in steps}
        names = self._names(self.reached.surely)
        self.endings = Endings(scope, names, weaving.titles, self._succeed)
        self.states: dict[str, State] = {}

    def machine(self, begin: State, title: str) -> State:
        single = self._single() if not begin else None
        if single is not None:
            return single
        start = self.weaving.titles.take(title) if begin else ""
        if begin:
            self.states[start] = {"Type": "Pass", "Assign": begin, "Output": {}}
        for index, step in enumerate(self.steps):
            self._weave(index, step)
        first = self.entries[self.steps[0].number] if self.steps else self.endings.well()
        if begin:
            self.states[start]["Next"] = first
        return {"StartAt": start or first, "States": {**self.states, **self.endings.states}}

    def _single(self) -> State | None:
        """A lane that is one task puts its result out at once, without variables."""
        if not self.scope.number or len(self.steps) != 1 or self.steps[0].kind != "task":
            return None
        step = self.steps[0]
        if step.branches or step.handlers or isinstance(step.then, GoTo | Stop):
            return None
        known = self.reached.before[0] or NOTHING
        check_reads(self.weaving, step, known, self.visible)
        name = self.entries[step.number]
        self.weaving.places[step.number] = [name]
        state = self._doing(step, known)
        plain = Names({one: one for one in self.visible})
        kept_here = kept(self.weaving.works[step.number], plain)
        state.pop("Assign", None)
        state["Output"] = kept_here
        state["End"] = True
        return {"StartAt": name, "States": {name: state}}

    def _names(self, known: Known) -> Names:
        return Names(self.scope.variables, self.scope.perhaps | (self.visible - known))

    def _weave(self, index: int, step: Step) -> None:
        known = self.reached.before[index]
        if known is None:
            hint = "let a step before it go there"
            self.weaving.tell("PLAN_UNREACHED", step, "no way leads to it", hint)
            known = NOTHING
        check_reads(self.weaving, step, known, self.visible)
        entry = self.entries[step.number]
        self.weaving.places[step.number] = [entry]
        if step.kind == "end":
            self.states[entry] = self._ending(step)
        elif step.kind == "decision":
            self.states[entry] = self._choice(index, step, known)
        else:
            state = self.states[entry] = self._doing(step, known)
            self._catch(index, step, state)
            state["Next"] = self._onward(index, step, known)

    def _onward(self, index: int, step: Step, known: Known) -> str:
        """Where a step that did its work goes on, by a Choice of its own if it has conditions."""
        if not step.branches:
            return self._go(index, step.then, step)
        outcome = self.weaving.titles.take_outcome(self.entries[step.number])
        self.weaving.places[step.number].append(outcome)
        # Entered here, so that it stands behind its step.
        choice = self.states[outcome] = {}
        choice |= self._choice(index, step, known | self.weaving.surely(step))
        return outcome

    def _doing(self, step: Step, known: Known) -> State:
        """The state of a step that does something, without its transitions."""
        names = self._names(known)
        if step.kind == "task":
            return self._task(step, known, names)
        if step.kind == "manual":
            shown = self._shown(step, known)
            return manual_state(step, shown, names, self.weaving.sop)
        if step.kind == "approval":
            return approval_state(step, self._shown(step, known), names)
        if step.kind == "wait":
            return _wait_state(step, names)
        make = loop_state if step.kind == "loop" else parallel_state
        state = make(self.weaving, step, self.scope, known, names, self._weave_inside)
        found = retries(step.retries, is_approved=False)
        if found:
            state["Retry"] = found
        if step.deadline is not None:
            hint = "give the deadline to the steps inside, or to the whole procedure"
            self.weaving.tell("PLAN_DEADLINE", step, f"a {step.kind} has no deadline", hint)
        return state

    def _weave_inside(
        self,
        steps: Sequence[Step],
        scope: Scope,
        known: Known,
        begin: State,
        title: str,
        output: Output,
    ) -> State:
        return weave_list(self.weaving, steps, scope, known, begin, title, output)

    def _task(self, step: Step, known: Known, names: Names) -> State:
        weaving, work = self.weaving, self.weaving.works[step.number]
        given, missing = arguments_of(work, known, weaving.types(), weaving.members())
        there = {
            path: one for path, one in weaving.schemas.items() if path.partition(".")[0] in known
        }
        bound, asked = settle(work, missing, there)
        given |= bound
        weaving.given[step.number] = given
        weaving.questions += asked
        open_ = {*bound, *(one.argument for one in asked)}
        missing = [name for name in missing if name not in open_]
        if missing and work.choice is not None:
            listed = ", ".join(f"`{name}`" for name in missing)
            what = f"its tools must be given {listed}, which nothing before it has written"
            hint = "let a step before it write it, or read it: `order.id` as `order_id`"
            weaving.tell("PLAN_ARGUMENT", step, what, hint, "warning")
            for name in missing:
                if name not in self.visible and (lost := weaving.why_lost(name)):
                    what = f"its tools must be given `{name}`, and {lost}"
                    weaving.tell("PLAN_JOIN", step, what, UNDECIDED)
        state = task_state(work, given, names, weaving.sop.guardrails)
        if work.results:
            state["Assign"] = kept(work, names)
        return state

    def _shown(self, step: Step, known: Known) -> dict[str, str]:
        """What a person sees: what the step reads and names, or all that is known."""
        given = {read.target: read.source for read in step.reads}
        for path in names_in_text(f"{step.title} {step.text}"):
            if path.partition(".")[0] in known:
                given.setdefault(path.rpartition(".")[2], path)
        shown = given or {name: name for name in sorted(known)}
        self.weaving.given[step.number] = shown
        return shown

    def _choice(self, index: int, step: Step, known: Known) -> State:
        names = self._names(known)
        state: State = {"Type": "Choice"}
        if step.kind == "decision":
            state["Comment"] = title_and_text(step)
        state["Choices"] = [
            {
                "Condition": wrapped(condition(branch.condition, names)),
                "Next": self._go(index, branch.then, step),
            }
            for branch in step.branches
        ]
        state["Default"] = self._go(index, step.then, step)
        return state

    def _catch(self, index: int, step: Step, state: State) -> None:
        """A Catch for each handler; what is for all errors has to stand last."""
        ordered = sorted(step.handlers, key=lambda one: not one.errors)
        if ordered:
            state["Catch"] = [self._catcher(index, step, handler) for handler in ordered]

    def _catcher(self, index: int, step: Step, handler: Handler) -> State:
        errors = list(handler.errors) or ["States.ALL"]
        named = {error for one in step.handlers for error in one.errors}
        is_asked_first = step.kind == "task" and step.approval is not None
        if is_asked_first and TIMED_OUT in errors and REJECTED not in named:
            errors.append(REJECTED)  # before work, nobody's answer is a refusal
        everything = any(not one.errors for one in step.handlers)
        if step.kind == "approval" and REJECTED in errors and TIMED_OUT not in named:
            errors += [] if everything else [TIMED_OUT]  # silence is no yes
        catcher: State = {"ErrorEquals": errors}
        if isinstance(handler.then, Stop):
            if not (handler.then.error and handler.then.cause):
                catcher["Assign"] = {self.endings.variable: "{% $states.errorOutput %}"}
            return {**catcher, "Next": self.endings.fail(handler.then, step, caught=True)}
        return {**catcher, "Next": self._go(index, handler.then, step)}

    def _go(self, index: int, direction: Direction, step: Step) -> str:
        """The state where ``direction`` leads."""
        if isinstance(direction, Stop):
            return self.endings.fail(direction, step, caught=False)
        if isinstance(direction, GoTo) and direction.step in self.entries:
            return self.entries[direction.step]
        following = index + 1
        if isinstance(direction, Finish) or following >= len(self.steps):
            return self.endings.well()
        return self.entries[self.steps[following].number]

    def _succeed(self) -> State:
        surely = self.reached.surely
        return {"Type": "Succeed", "Output": self.output(self._names(surely), surely)}

    def _ending(self, step: Step) -> State:
        """The state of a step that ends the list, or the procedure."""
        if isinstance(step.then, Stop):
            made = self.endings.failure(step.then, caught=False)
        else:
            made = self._succeed()
        return {"Type": made.pop("Type"), "Comment": title_and_text(step), **made}


def _wait_state(step: Step, names: Names) -> State:
    """Waits for a time, or until a moment."""
    assert step.wait is not None
    state: State = {"Type": "Wait", "Comment": title_and_text(step)}
    for field, given in (("Seconds", step.wait.seconds), ("Timestamp", step.wait.until)):
        if given is not None:
            state[field] = (
                wrapped(value_of(given.path, names)) if isinstance(given, Name) else given
            )
    return state
