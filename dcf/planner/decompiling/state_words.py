"""What a state is called and told, as the title and the text of a step."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any

from dcf.planner.compiling.state_names import state_name
from dcf.planner.compiling.task_state import RULES
from dcf.sop import StepKind

State = Mapping[str, Any]
_ADDED = re.compile(rf"Report (?:what \w|an object with )|{RULES}$|\(Step |An approval and ")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W_]+")


def title_of(name: str) -> str:
    """A state's name as a title: ``ChargeTheCard`` is ``Charge the card``."""
    words = _WORD.findall(name)
    if len(words) < 2:
        return name
    first, *rest = words
    return " ".join([first, *(_small(word) for word in rest)])


def _small(word: str) -> str:
    return word if word.isupper() and len(word) > 1 else word.lower()


def words_of(name: str, state: State, kind: StepKind) -> tuple[str, str]:
    """Title and text of the step that the state ``name`` is. A comment that begins with what the
    state is called begins with the title."""
    comment = state.get("Comment")
    lines = comment.splitlines() if isinstance(comment, str) else []
    title = lines[0].removesuffix(".") if lines else ""
    called = state_name(title) if title else ""
    if not called or not re.fullmatch(rf"{re.escape(called)}\d*", name):
        return title_of(name), text_of(name, state, kind)
    own = _own_words("\n".join(lines))
    text = "\n".join(lines[1:]) if own == "\n".join(lines) else own
    return title, text


def _own_words(comment: str) -> str:
    """``comment`` without what a compiler adds to the words of a step."""
    _title, *lines = comment.splitlines()
    own = list(takewhile(lambda line: not _ADDED.match(line), lines))
    return "\n".join(own) if _is_compiled(lines[len(own) :]) else comment


def _is_compiled(added: Sequence[str]) -> bool:
    """Whether a compiler wrote these lines: what it adds ends with a step's number, or consists of
    the rules, in a manual task."""
    if not added:
        return False
    if added[-1].startswith(("(Step ", "An approval and")):
        return True
    return added[0] == RULES and all(line.startswith("- ") for line in added[1:])


def text_of(name: str, state: State, kind: StepKind) -> str:
    comment = state.get("Comment")
    if isinstance(comment, str) and comment:
        return "" if state_name(comment) == name else _own_words(comment)
    if state.get("Type") == "Pass":
        return "Puts together what the next steps need; nobody has to do anything."
    resource = state.get("Resource")
    return f"Done by {resource}." if kind == "task" and isinstance(resource, str) else ""


def role_of(binding: Mapping[str, Any]) -> str | None:
    reference = binding.get("agent_template_ref")
    name = reference.get("name") if isinstance(reference, Mapping) else None
    return str(name).replace("-", " ") if name else None


def people_of(binding: Mapping[str, Any]) -> str | None:
    """Those who may do a manual task, as the role of a step names them."""
    by = binding.get("manual", {}).get("by", ())
    return " or ".join(map(str, by)) or None


def rule_text(rule: Mapping[str, Any]) -> str:
    """A rule in its own language, for people."""
    found = rule.get("Condition")
    if isinstance(found, str):
        return found.removeprefix("{%").removesuffix("%}").strip()
    told = {key: value for key, value in rule.items() if key not in ("Next", "Comment")}
    return json.dumps(told, ensure_ascii=False)
