"""What became of the sentences and steps of a runbook, as every way into a plan tells it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dcf.planner.compiling.gap import domain_of
from dcf.planner.compiling.skill_offers import PERSON
from dcf.sop import Draft, outcome


def drafted_outcome(draft: Draft, steps: Sequence[Mapping[str, Any]] = ()) -> dict[str, Any]:
    """All of ``outcome``, with the share of steps that are ``executable`` as they stand; ``steps``
    are those of its plan in JSON, which say with which skills."""
    fields = outcome(draft)
    skilled = {step["step"] for step in steps if step.get("skills")}
    for step in fields["steps"]:
        if step["number"] in skilled:
            step["how"] = "executable"
    done = [step["how"] == "executable" for step in fields["steps"]]
    fields["executable"] = round(sum(done) / len(done), 3) if done else 0.0
    fields["exact"] = draft.exact
    fields["questions"] = [one.to_json() for one in draft.questions]
    fields["answered"] = list(draft.answered)
    return fields


def report_lines(draft: Draft, fields: Mapping[str, Any]) -> Iterator[str]:
    """Where the sentences went, how much runs by itself, and which steps skills do; ``fields`` as
    ``drafted_outcome`` has them."""
    counts = {place: count for place, count in draft.counts().items() if count}
    total = sum(counts.values())
    said = ", ".join(f"{count} {place}" for place, count in counts.items())
    yield f"{_counted(total, 'sentence')}: {said}"
    hows = [step["how"] for step in fields["steps"]]
    shares = {how: round(100 * hows.count(how) / (len(hows) or 1)) for how in _HOWS}
    unclear = round(100 * counts.get("question", 0) / (total or 1))
    yield (
        f"{_counted(len(hows), 'step')}: {shares['executable']} % executable, "
        f"{shares['manual']} % done by a person; {unclear} % of the sentences not understood"
    )
    if not draft.exact:
        yield from _skill_lines(draft)
    given = [one for one in draft.sop.inputs if one.line and one.default is None]
    if given:
        named = ", ".join(
            f"{one.name} (line {one.line}{', required' if one.required else ''})" for one in given
        )
        yield f"inputs, to be given when it is run: {named}"


def _skill_lines(draft: Draft) -> Iterator[str]:
    own = f"{domain_of(draft.sop)}."
    skills = [(step.number, step.skills[0]) for step in draft.sop.all_steps() if step.skills]
    found = [f"step {number} {name}" for number, name in skills if not name.startswith(own)]
    if found:
        yield f"skills found: {', '.join(found)}"
    if len(found) < len(skills):
        yield (
            f"skills drafted: {_counted(len(skills) - len(found), 'step')}, which the stub answers "
            "until somebody fills them in"
        )
    asked = sum(PERSON in one.answers and one.assumed == PERSON for one in draft.questions)
    if asked:
        yield f"skills to be asked about: {_counted(asked, 'step')}, done by a person until then"


_HOWS = ("executable", "manual")


def _counted(number: int, name: str) -> str:
    return f"{number} {name}{'' if number == 1 else 's'}"
