"""What a comparison says, and its colours: the same on the screen, the page and the picture."""

from __future__ import annotations

import re
from collections.abc import Mapping

from dcf.diagram import Theme
from dcf.planner.comparing.side_by_side import Origin, Part, SideBySide
from dcf.sop import Place, Sentence

PLACE: Mapping[Place, str] = {
    "step": "step",
    "condition": "condition",
    "guardrail": "guardrail",
    "input": "input",
    "note": "note",
    "objective": "objective",
    "question": "not understood",
}
ORIGIN: Mapping[Origin, str] = {
    "same": "The workflow was compiled from these steps.",
    "other": "The workflow was compiled from other steps, as from an earlier text: "
    "steps are matched by number and title, then by similar words.",
    "none": "The workflow does not keep the steps that it was compiled from: "
    "steps are matched by what its states are called and told.",
}
LEGEND = (
    "One colour and number: a step and its states. Dashed: a state that the compiler adds, for no "
    "sentence. Red: no counterpart."
)
NO_STATE = "no state"
_FENCE = re.compile(r"\s*(?:`{3,}|~{3,})[^`~]*")
_CODE = re.compile(r"(`[^`\n]*`)")
_LINK = re.compile(r"!?\[([^\[\]\n]*)\]\([^()\s]*(?:\s\"[^\"\n]*\")?\)")
_STRONG = re.compile(r"(\*\*|__)(?=\S)([^*_\n]+?)(?<=\S)\1")
_KINDS = ("Task", "Choice", "Wait", "Succeed", "Parallel", "Map")
"""By the colours of these states in diagrams a step is known on both sides."""
HUES = len(_KINDS)


def lines_of(sentence: Sentence) -> str:
    """``7``, or ``7–9``."""
    if sentence.last_line > sentence.line:
        return f"{sentence.line}–{sentence.last_line}"
    return str(sentence.line)


def text_of(sentence: Sentence) -> str:
    """The words of a sentence as somebody reads them: without the marks of bold text and of links,
    and code without its fence. What stands between backticks stays."""
    rows = sentence.text.split("\n")
    if len(rows) > 1 and _FENCE.fullmatch(rows[0]):
        is_closed = len(rows) > 2 and _FENCE.fullmatch(rows[-1])
        return "\n".join(rows[1 : -1 if is_closed else None])
    return "".join(
        part if part.startswith("`") else _STRONG.sub(r"\2", _LINK.sub(r"\1", part))
        for part in _CODE.split(sentence.text)
    )


def where(part: Part) -> str:
    """What stands where the states of a part would, if it has none."""
    is_open = any(map(part.is_open, part.sentences))
    return NO_STATE if part.step is not None or is_open else "the whole procedure"


def summary(found: SideBySide) -> list[str]:
    """Two sentences: how much of the text has a counterpart, and how much of the workflow."""
    closed = found.sentences - len(found.open)
    text = f"{found.percent} % of the sentences have a counterpart ({closed} of {found.sentences})"
    if found.open:
        text += (
            f"; {found.unclear} not understood, {len(found.open) - found.unclear} without a state"
        )
    there = found.of_steps - len(found.loose)
    states = f"{found.states_percent} % of the states stand for one ({there} of {found.of_steps})"
    if found.edited:
        states += f"; {found.edited} edited by hand"
    return [text, states]


def colours(theme: Theme) -> list[tuple[str, str]]:
    """Ground and border of each hue."""
    return [theme.kinds[kind] for kind in _KINDS]


def hue_by_step(steps: list[str]) -> dict[str, int]:
    """A hue for each of ``steps``, so that neighbours differ."""
    return {step: at % HUES for at, step in enumerate(dict.fromkeys(steps))}
