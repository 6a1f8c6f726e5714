"""Values: read only after somebody gave or wrote them, outputs written by some step."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dcf.sop.checks.flow import Flow, Known
from dcf.sop.checks.jumps import ends_well
from dcf.sop.condition import Name, names_in
from dcf.sop.direction import Stop
from dcf.sop.findings import Findings
from dcf.sop.language.phrase import DOTTED
from dcf.sop.nearest import nearest
from dcf.sop.procedure import Sop
from dcf.sop.step import Step

_QUOTED = re.compile(rf"`({DOTTED})`")


def check_names(sop: Sop, findings: Findings) -> None:
    """Follows every path: a name is known at a step if some path to it gives or writes it."""
    if findings.cut_short:
        return
    flow = Flow(sop, findings)
    given = {value.name for value in sop.inputs}
    left = _Names(flow, findings, given).follow(sop.steps, flow.names(given))
    if not ends_well(sop.steps):
        # Nothing is put out then; what some step writes is written.
        left |= flow.names(flow.written)
    for output in sop.outputs:
        if not flow.has(left, output.name) and output.name not in findings.mentioned:
            hint = f"add `- Writes: `{output.name}`` to the step that finds it out"
            message = f"no step writes the output {output.name!r}"
            findings.add("SOP_OUTPUT", message, hint, output.line)


class _Names:
    def __init__(self, flow: Flow, findings: Findings, given: set[str]) -> None:
        self._flow = flow
        self._findings = findings
        self._given = given
        self._said: set[tuple[str, int]] = set()

    def follow(self, steps: Sequence[Step], given: Known) -> Known:
        """Checks ``steps``; what may be known after them."""
        known = self._flow.settle(steps, given)
        for index, step in enumerate(steps):
            self._check(step, known[index])
            self._inside(step, known[index])
        return known[-1]

    def _inside(self, step: Step, before: Known) -> None:
        for lane in step.lanes:
            self.follow(lane.steps, before)
        if step.loop is not None:
            left = self.follow(step.steps, before | self._flow.names([step.loop.item]))
            for transfer in step.writes:
                line = transfer.line or step.line
                self._need(transfer.root, left, f"step {step.number} collects", line)

    def _check(self, step: Step, before: Known) -> None:
        for name, line in _read_by(step):
            self._need(name, before, f"step {step.number} reads", line or step.line)
        after = before | self._flow.writes(step)
        for branch in step.branches:
            for tested in names_in(branch.condition):
                line = branch.line or step.line
                self._need(tested.root, after, f"step {step.number} looks at", line)
        for direction, line, known in (
            *((branch.then, branch.line, after) for branch in step.branches),
            *((handler.then, handler.line, before) for handler in step.handlers),
            (step.then, step.line, after),
        ):
            if isinstance(direction, Stop):
                for path in _QUOTED.findall(direction.cause):
                    name = path.partition(".")[0]
                    line = direction.line or line or step.line
                    self._need(name, known, f"step {step.number} tells", line)

    def _need(self, name: str, known: Known, who: str, line: int) -> None:
        mentioned = name in self._findings.mentioned
        if self._flow.has(known, name) or mentioned or (name, line) in self._said:
            return
        self._said.add((name, line))
        if name in self._flow.written:
            hint = "write it in a step before, or change the order"
            message = f"{who} {name!r}, which only a later step writes"
            self._findings.add("SOP_READ_EARLY", message, hint, line)
            return
        near = nearest(name, self._given | self._flow.written)
        hint = f"did you mean {near!r}? " if near else ""
        hint += f"An input is declared under Inputs, as `- `{name}` (text)`"
        message = f"{who} {name!r}, which is no input, and no step writes it"
        self._findings.add("SOP_UNKNOWN_NAME", message, hint, line)


def _read_by(step: Step) -> Iterator[tuple[str, int]]:
    """Names that ``step`` reads before it begins, each with its line."""
    for transfer in step.reads:
        yield transfer.root, transfer.line
    if step.loop is not None:
        yield step.loop.items.partition(".")[0], step.line
    if step.wait is not None:
        for given in (step.wait.seconds, step.wait.until):
            if isinstance(given, Name):
                yield given.root, step.line
