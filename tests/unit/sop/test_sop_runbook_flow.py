"""Where runbooks of many manners branch, jump, repeat and end.

``runbook_flows.txt`` has small texts in the manner of different authors. What a careful reader
gets from a line stands behind it in marks of its own, by the rules of `benchmarks.runbooks`. Those
of ``runbook_fences.txt`` stand in fences; ``note`` is said of a line that is no step.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from dcf.sop import GoTo, check, draft
from dcf.sop.runbook.outcome import outcome

_HERE = Path(__file__).parent
_MARK = re.compile(r"\s*⟦(?P<kind>step|note|if|jump|loop|end)[→ ]?(?P<said>[^⟧]*)⟧")


@dataclass(slots=True)
class Flow:
    """``wanted`` are the marks by their line: the kind, and where it leads or how it ends."""

    text: str
    wanted: list[tuple[int, str, str]] = field(default_factory=list)


def _flows(name: str) -> Iterator[Any]:
    texts = (_HERE / name).read_text(encoding="utf-8")
    for case in texts.split("=== ")[1:]:
        name, _, body = case.partition("\n")
        flow = Flow(_MARK.sub("", body))
        for line, row in enumerate(body.split("\n"), start=1):
            flow.wanted += [(line, one["kind"], one["said"]) for one in _MARK.finditer(row)]
        yield pytest.param(flow, id=name)


@pytest.mark.parametrize("flow", list(_flows("runbook_flows.txt")))
def test_flow(flow: Flow) -> None:
    found = draft(flow.text, "flow.md")
    assert not [one for one in check(found.sop) if one.is_error]
    made = outcome(found)
    titles = {one.number: one.title for one in found.sop.all_steps()}
    assert _missing(flow, made, titles) == []
    assert _invented(flow, made) == []


@pytest.mark.parametrize("flow", list(_flows("runbook_fences.txt")))
def test_a_fence_is_read_as_what_stands_in_it(flow: Flow) -> None:
    found = draft(flow.text, "flow.md")
    assert not [one for one in check(found.sop) if one.is_error]
    made = outcome(found)
    titles = {one.number: one.title for one in found.sop.all_steps()}
    assert _missing(flow, made, titles) == []
    told = {line for one in found.sentences for line in range(one.line, one.last_line + 1)}
    rows = enumerate(flow.text.split("\n"), start=1)
    assert [line for line, row in rows if line not in told and re.search(r"\w", row)] == []
    noted = {line for line, kind, _said in flow.wanted if kind == "note"}
    assert [one["line"] for one in made["steps"] if one["line"] in noted] == []


@pytest.mark.parametrize("row", ["IF it IF ", "Check it → ", "+-", "│ ", "├── ", "- ", "WHEN a "])
def test_a_long_row_in_a_fence_takes_no_square_of_its_length(row: str) -> None:
    began = time.process_time()
    draft(f"# T\n\n```\n{row * 10_000}\n{row * 10_000}\n```\n", "long.md")
    assert time.process_time() - began < 10


def test_fences_in_fences_are_read_once_each() -> None:
    text = "- Check it\n- Close it\n"
    for marks in range(3, 23):
        text = f"{'`' * marks}\n- Check it\n- Close it\n\n{text}{'`' * marks}\n"
    began = time.process_time()
    draft(f"# T\n\n{text}", "long.md")
    assert time.process_time() - began < 10


@pytest.mark.parametrize("clause", ["on x failure, ", "above 5 %, and over 3, ", "if a, b; "])
def test_a_sentence_of_conditions_alone_takes_no_cube_of_its_length(clause: str) -> None:
    began = time.process_time()
    draft(f"# T\n\n## Steps\n\n1. Open it.\n2. {clause * 100}close it.\n", "long.md")
    assert time.process_time() - began < 10


def _missing(flow: Flow, made: dict[str, Any], titles: dict[str, str]) -> list[str]:
    branches, jumps = list(made["branches"]), [*made["jumps"], *made["branches"]]
    loops, ends = list(made["loops"]), list(made["ends"])
    steps = [{**one, "last_line": one["line"]} for one in made["steps"]]
    missing: list[str] = []
    for line, kind, said in flow.wanted:
        if kind == "note":
            continue
        pool = {"step": steps, "if": branches, "jump": jumps, "loop": loops, "end": ends}[kind]
        met = next((one for one in pool if _meets(one, line, kind, said, titles)), None)
        if met is None:
            missing.append(f"line {line}: {kind} {said}")
        else:
            pool.remove(met)
    return missing


def _meets(one: dict[str, Any], line: int, kind: str, said: str, titles: dict[str, str]) -> bool:
    if not one["line"] <= line <= one["last_line"]:
        return False
    if kind in ("step", "loop") or said == "*":
        return True
    if kind == "end":
        return bool(one["outcome"] == said)
    if said == "end":
        return bool(one["to"] == "end")
    title = titles.get(one["to"], "")
    return said == "escalate" or said.lower() in title.lower()


def _invented(flow: Flow, made: dict[str, Any]) -> list[str]:
    """Branches, loops and ends at lines without such a mark; a procedure may end well anywhere."""
    kinds = {"branches": "if", "loops": "loop"}
    # A way back under a condition is a loop, and a jump as well.
    told = {(line, "loop" if kind == "jump" else kind) for line, kind, _said in flow.wanted}
    told |= {(line, "if") for line, kind, _said in flow.wanted if kind in ("end", "loop")}
    others = re.compile(r"[-\d.\s]*(?:otherwise|else|anything else)\b", re.IGNORECASE)
    told |= {
        (line, "if") for line, row in enumerate(flow.text.split("\n"), start=1) if others.match(row)
    }
    invented = [
        f"line {one['line']}: {kind}"
        for name, kind in kinds.items()
        for one in made[name]
        if (one["line"], kind) not in told
    ]
    ends = {(line, said) for line, kind, said in flow.wanted if kind == "end"}
    return invented + [
        f"line {one['line']}: {one['outcome']}"
        for one in made["ends"]
        if one["outcome"] != "ok" and (one["line"], one["outcome"]) not in ends
    ]


SEQUENCE = """# Answer a customer

```mermaid
sequenceDiagram
    participant U as Customer
    participant A as Agent
    Note over U,A: by mail
    U->>A: Asks for a refund
    A->>D: Look up the order<br/>by its number
    D-->>A: The order
    alt It was sent
        A->>U: Ask for the parcel back
        loop Until it is there
            A->>D: Check the parcel
        end
    else It was not sent
        A->>D: Cancel the order
    end
    opt The customer is angry
        A->>A: Call a manager
    end
```
"""


def test_messages_of_a_sequence_diagram_are_steps_where_nothing_else_tells_any() -> None:
    """Parts as the manual of Mermaid has them: alt, else, opt, loop; a dashed arrow answers."""
    found = draft(SEQUENCE)
    told = [(one.number, one.role, one.title, one.line) for one in found.sop.all_steps()]
    assert told == [
        ("1", "Customer", "Asks for a refund (to Agent)", 8),
        ("2", "Agent", "Look up the order by its number (to D)", 9),
        ("3", None, "It was sent?", 11),
        ("3.1", "Agent", "Ask for the parcel back (to Customer)", 12),
        ("3.2", "Agent", "Check the parcel (to D)", 14),
        ("3.3", None, "Is this to be done again: Until it is there?", 13),
        ("3.4", "Agent", "Cancel the order (to D)", 17),
        ("4", None, "The customer is angry?", 19),
        ("4.1", "Agent", "Call a manager", 20),
    ]
    assert "The order" in found.sop.steps[1].text
    [again] = [one for one in found.sop.all_steps() if one.number == "3.3"]
    assert [one.then for one in again.branches] == [GoTo("3.2")]


def test_a_sequence_diagram_beside_steps_is_a_note() -> None:
    found = draft(SEQUENCE.replace("```mermaid", "1. Read the mail\n2. Answer it\n\n```mermaid"))
    assert [one.title for one in found.sop.steps] == ["Read the mail", "Answer it"]


@pytest.mark.parametrize("part", ["loop x", "alt x", "end", "else", "opt x\nend\nend", "A->>B"])
def test_a_diagram_that_is_not_whole_is_read_as_far_as_it_goes(part: str) -> None:
    drawn = f"```mermaid\nsequenceDiagram\n{part}\nA->>B: Ring\n"
    found = draft(f"# Ring\n\n{drawn}{part}\n```\n")
    assert "Ring" in "".join(one.title for one in found.sop.all_steps())


def test_a_condition_and_what_its_sentence_says_is_done_then_are_one_step() -> None:
    text = (
        "# Pool\n\n## Steps\n\n1. Read the gauge.\n2. If it shows red, drain the pool.\n"
        "3. If it shows green:\n   - Rinse the filter.\n"
    )
    made = outcome(draft(text, "x.md"))
    assert [one["line"] for one in made["steps"] if not one["asks"]] == [5, 6, 8]
    assert {one["line"] for one in made["branches"]} == {6, 7}


def test_what_is_done_if_it_is_appropriate_is_asked_once() -> None:
    text = "# Pier\n\n## Steps\n\n1. Tow the boat to the pier, and find a berth if appropriate.\n"
    titles = [one.title for one in draft(text, "x.md").sop.all_steps()]
    assert sum(one.endswith("?") for one in titles) <= 1
