"""What a step of each kind must have, and what it cannot have."""

from __future__ import annotations

from dcf.sop.direction import Continue, GoTo
from dcf.sop.findings import Findings
from dcf.sop.language.phrase import AS_TEXT
from dcf.sop.procedure import Sop
from dcf.sop.step import Step, StepKind

_SAID = {
    "role": "who does it",
    "skills": "skills",
    "reads": "what it reads",
    "writes": "what it writes",
    "wait": "a wait",
    "approval": "an approval",
    "loop": "a loop",
    "lanes": "branches at the same time",
    "joins": "a rule for what branches write",
    "steps": "steps inside it",
    "retries": "retries",
    "deadline": "a deadline",
    "handlers": "what happens when it fails",
    "branches": "conditions",
    "tier": "a tier",
    "budget": "a budget",
    "choices": "choices",
    "runs": "a command",
}
_TASK = frozenset(
    {"role", "skills", "reads", "writes", "approval", "retries", "deadline", "handlers", "branches"}
    | {"tier", "budget", "runs"}
)
_ALLOWED: dict[StepKind, frozenset[str]] = {
    "task": _TASK,
    "manual": frozenset(
        {"role", "reads", "writes", "choices", "retries", "deadline", "handlers", "branches"}
    ),
    "decision": frozenset({"branches"}),
    "loop": frozenset({"loop", "steps", "writes", "retries", "handlers", "branches"}),
    "parallel": frozenset({"lanes", "joins", "retries", "handlers", "branches"}),
    "wait": frozenset({"wait", "branches"}),
    "approval": frozenset({"approval", "role", "reads", "deadline", "handlers", "branches"}),
    "end": frozenset(),
}
_HINTS: dict[StepKind, str] = {
    "task": "a task does one thing; waits, loops and branches are steps of their own",
    "manual": "a person does it; what an agent does is a step of its own",
    "decision": "make the work a step of its own before the decision",
    "loop": "say it of the steps inside the loop",
    "parallel": "say it of the steps inside the branches",
    "wait": "make the work a step of its own before or after the wait",
    "approval": "make the work a step of its own after the approval",
    "end": "say it of the step before",
}

_ANSWERS = ("DCF.ApprovalRejected", "States.Timeout")
_NESTED = (
    "say why they are inside: For each `line` in `items`, or At the same time; steps that follow "
    "one another are indented alike"
)


def check_kinds(sop: Sop, findings: Findings) -> None:
    """Members that do not go with the kind of a step, and those that are missing."""
    for step in sop.all_steps():
        if not step.title:
            hint = "say after its number what is done"
            findings.add("SOP_STEP", f"step {step.number} has no title", hint, step.line)
        _check_extra(step, findings)
        _check_missing(step, findings)
        _check_handlers(step, findings)
        _check_silence(step, findings)
        _check_choices(step, findings)
        _check_types(step, findings)
        _check_run(step, findings)


def _check_extra(step: Step, findings: Findings) -> None:
    for name, said in _SAID.items():
        given = getattr(step, name) not in ((), None)
        # Something that could not be read would perhaps have made it another kind.
        if not given or name in _ALLOWED[step.kind] or findings.spoilt(step.line):
            continue
        message = f"step {step.number} is of kind {step.kind} and cannot have {said}"
        if name == "joins":
            hint = f"say it of the step with the branches; {AS_TEXT}"
            findings.add("SOP_KIND", message, hint, step.joins[0].line or step.line)
        elif name not in ("steps", "lanes"):
            findings.add("SOP_KIND", message, _HINTS[step.kind], step.line)
        else:
            findings.add("SOP_NESTED", message, _NESTED, getattr(step, name)[0].line or step.line)


def _check_missing(step: Step, findings: Findings) -> None:
    match step.kind:
        case "decision" if not step.branches:
            hint = "add `- If `name` is ..., go to step 4`"
            _missing(step, "SOP_EMPTY", "has no condition", hint, findings)
        case "loop" if step.loop is None:
            hint = "write For each `line` in `items`"
            _missing(step, "SOP_LOOP_ITEMS", "does not say over which list", hint, findings)
        case "loop" if not step.steps:
            hint = "number what is done for each item, indented below it"
            _missing(step, "SOP_EMPTY", "has nothing inside", hint, findings)
        case "parallel":
            _check_lanes(step, findings)
        case "wait" if step.wait is None:
            _missing(step, "SOP_WAIT", "does not say how long", "write `Wait: 1 day`", findings)
        case "approval" if step.approval is None:
            hint = "write `Approval: finance`"
            _missing(step, "SOP_APPROVAL", "does not say whose approval", hint, findings)
        case "end" if isinstance(step.then, Continue | GoTo):
            hint = "write `Finish` (ends well) or `Stop with SomeError: why`"
            _missing(step, "SOP_KIND", "does not say how it ends", hint, findings)


def _check_lanes(step: Step, findings: Findings) -> None:
    hint = "number below it what is done at the same time, or write `- Branch: name` over it"
    if not step.lanes:
        _missing(step, "SOP_EMPTY", "has no branches", hint, findings)
    for lane in step.lanes:
        if not lane.steps:
            named = f" {lane.title!r}" if lane.title else ""
            message = f"the branch{named} of step {step.number} is empty"
            findings.add("SOP_EMPTY", message, hint, lane.line or step.line)


def _missing(step: Step, code: str, what: str, hint: str, findings: Findings) -> None:
    # Something that could not be read was perhaps just that.
    if not findings.spoilt(step.line):
        findings.add(code, f"step {step.number} {what}", hint, step.line)


def _check_silence(step: Step, findings: Findings) -> None:
    """Before the work of a task, silence is a refusal, and no workflow can tell them apart."""
    ways = {error: one for one in step.handlers for error in one.errors if error in _ANSWERS}
    if step.kind != "task" or step.approval is None or len(ways) < 2 or step.deadline is not None:
        return
    refused, silent = (ways[error] for error in _ANSWERS)
    if refused.then != silent.then:
        message = f"step {step.number} takes nobody's answer for a refusal, as it works afterwards"
        hint = "make the approval a step of its own before it: `Approval by ...`"
        findings.add("SOP_APPROVAL", message, hint, silent.line or step.line)


def _check_choices(step: Step, findings: Findings) -> None:
    """Each is there once, and the answer is known as something if anything is written."""
    seen: set[str] = set()
    for choice in step.choices:
        if choice in seen:
            message = f"step {step.number} offers the choice {choice!r} twice"
            findings.add("SOP_TWICE", message, "keep one of the two", step.line)
        if not choice:
            message = f"a choice of step {step.number} is empty"
            findings.add(
                "SOP_EMPTY", message, "write what can be chosen, or take it out", step.line
            )
        seen.add(choice)


def _check_handlers(step: Step, findings: Findings) -> None:
    seen: set[str] = set()
    for handler in step.handlers:
        names = handler.errors or ("",)
        for name in names:
            if name in seen:
                what = f"when {name} happens" if name else "when it fails"
                message = f"step {step.number} says twice what is done {what}"
                line = handler.line or step.line
                findings.add("SOP_TWICE", message, "keep one of the two", line)
            seen.add(name)


def _check_types(step: Step, findings: Findings) -> None:
    """Only what a person reports has a type of its own: a skill's tools say theirs."""
    reported = step.writes[1 if step.choices else 0 :] if step.kind == "manual" else ()
    for one in (*step.reads, *step.writes):
        if one.type is not None and (one not in reported or "." in one.source):
            message = f"step {step.number} gives `{one.source}` a type, and no person reports it"
            hint = "take the type out; it is for what a manual step writes, but for its choice"
            findings.add("SOP_KIND", message, hint, one.line or step.line)


def _check_run(step: Step, findings: Findings) -> None:
    """A command is run by a skill that is named, with values that are read."""
    if step.runs is None or step.kind != "task":
        return
    if len(step.skills) != 1:
        hint = "add one `Skill: ...` that may run the program, or take the command out"
        _missing(step, "SOP_COMMAND", "does not say which skill runs its command", hint, findings)
    read = {one.target for one in step.reads if one.source == one.target}
    for name in step.runs.placeholders:
        if name not in read:
            hint = f"add `{name}` to `Reads:`"
            what = f"has {{{{{name}}}}} in its command, and does not read it"
            _missing(step, "SOP_COMMAND", what, hint, findings)
