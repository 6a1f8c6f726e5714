"""Names that several branches write: each needs a rule by which one value is known afterwards."""

from __future__ import annotations

from dcf.sop.clash import Lines, clashes, lane_name
from dcf.sop.findings import Findings
from dcf.sop.procedure import Sop
from dcf.sop.step import Step


def check_joins(sop: Sop, findings: Findings) -> None:
    """Clashes without a rule, rules without a clash, and two rules for one name."""
    for step in sop.all_steps():
        if step.kind != "parallel":
            continue
        written = clashes(step)
        _check_rules(step, written, findings)
        ruled = {join.name for join in step.joins} | findings.mentioned
        for name, lines in written.items():
            if name not in ruled:
                _tell(step, name, lines, findings)


def _check_rules(step: Step, written: dict[str, Lines], findings: Findings) -> None:
    seen: set[str] = set()
    for join in step.joins:
        line = join.line or step.line
        if join.name in seen:
            message = f"step {step.number} says twice what is kept of {join.name!r}"
            findings.add("SOP_TWICE", message, "keep one of the two", line)
        elif join.name not in written and join.name not in findings.mentioned:
            message = (
                f"step {step.number} says what is kept of {join.name!r}, which fewer than two of "
                "its branches write"
            )
            hint = "take it out, or mend the name; what one branch writes is known as it is"
            findings.add("SOP_JOIN", message, hint, line)
        seen.add(join.name)


def _tell(step: Step, name: str, lines: Lines, findings: Findings) -> None:
    places = [
        f"{lane_name(step.lanes, index)} (line {line})" if line else lane_name(step.lanes, index)
        for index, line in lines.items()
    ]
    message = (
        f"the branches {', '.join(places[:-1])} and {places[-1]} of step {step.number} write "
        f"{name!r}, and nothing says what is known of it afterwards"
    )
    hint = (
        f"add to step {step.number} `- Keep the first `{name}``, `- Keep the last `{name}`` or "
        f"`- Keep every `{name}`` (a list), or write another name in one of them"
    )
    findings.add("SOP_JOIN", message, hint, max(lines.values()) or step.line)
