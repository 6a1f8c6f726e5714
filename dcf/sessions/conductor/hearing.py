"""What a message says: a command about the session, or tasks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dcf.schema import PatternTooSlow
from dcf.sessions.conductor.errors import BadRequest, RuleTooSlow
from dcf.sessions.conductor.fired import Fired
from dcf.sessions.conductor.line import Wish, read_line
from dcf.sessions.conductor.rule import Rule
from dcf.sessions.conductor.rules import ConductorRules

LONGEST = 64 * 1024
"""Characters of a message."""


@dataclass(frozen=True, slots=True)
class Heard:
    """``do`` is what the rule says that applied, ``said`` what its pattern found and ``say`` its
    answer; ``wishes`` are the tasks in the message."""

    do: str
    said: Mapping[str, str] = field(default_factory=dict)
    say: str = ""
    wishes: tuple[Wish, ...] = ()
    fired: tuple[Fired, ...] = ()


def hear(text: str, rules: ConductorRules, *, has_question: bool) -> Heard:
    """What ``text`` says, to somebody who asked something (``has_question``) or did not. Raises
    BadRequest for no text, too long a one, and too many tasks; RuleTooSlow."""
    text = text.strip()
    if not text:
        raise BadRequest(what="The message", value="empty", wanted="a text", how="say something")
    if len(text) > LONGEST:
        wanted = f"at most {LONGEST:,} characters"
        value = f"{len(text):,} characters long"
        raise BadRequest(what="The message", value=value, wanted=wanted, how="share a reference")
    for rule in rules.about("message"):
        if rule.when.question is not None and rule.when.question is not has_question:
            continue
        heard = _lines(rule, text, rules) if rule.do == "lines" else _whole(rule, text)
        if heard is not None:
            _check_count(heard, rules)
            return heard
    how = "say `help`, or mend the rules: none of those about a message applies"
    raise BadRequest(what="The message", value="not understood", wanted="known", how=how)


def _whole(rule: Rule, text: str) -> Heard | None:
    said = _fits(rule, text)
    if said is None:
        return None
    if rule.do == "task":
        wish = read_line(said.get("task", text))
        why = "no other rule applies to the message" if rule.priority < 0 else "the message fits"
        return Heard("task", wishes=(wish,), fired=(Fired(rule.name, why, "one task"),))
    fired = Fired(rule.name, "the message fits", rule.do)
    return Heard(rule.do, said, rule.say, fired=(fired,))


def _lines(rule: Rule, text: str, rules: ConductorRules) -> Heard | None:
    """The lines that are tasks; a line that is indented and none itself goes on with the one
    before."""
    found: list[tuple[str, str | None]] = []
    names: dict[str, int] = {}
    for line in text.splitlines():
        fits = next(
            ((one, said) for one in rules.about("line") if (said := _fits(one, line)) is not None),
            None,
        )
        if fits is None:
            if found and line[:1].isspace() and line.strip():
                found[-1] = (f"{found[-1][0]} {line.strip()}", found[-1][1])
            continue
        one, said = fits
        if one.do == "task":
            found.append((said.get("task", line), said.get("label")))
            names[one.name] = names.get(one.name, 0) + 1
    if not found:
        return None
    wishes = tuple(read_line(task, label) for task, label in found)
    how = ", ".join(f"{count} by `{name}`" for name, count in names.items())
    return Heard("task", wishes=wishes, fired=(Fired(rule.name, how, f"{len(wishes)} tasks"),))


def _fits(rule: Rule, text: str) -> Mapping[str, str] | None:
    try:
        return rule.fits(text)
    except PatternTooSlow as slow:
        raise RuleTooSlow(rule=rule.name, pattern=str(slow)) from None


def _check_count(heard: Heard, rules: ConductorRules) -> None:
    most = rules.limits.tasks
    if len(heard.wishes) > most:
        value, wanted = f"{len(heard.wishes)} tasks", f"at most {most} at once"
        raise BadRequest(
            what="The message", value=value, wanted=wanted, how="say some of them first"
        )
    for number, wish in enumerate(heard.wishes, 1):
        if not wish.text:
            what = f"Task {wish.label or number}"
            raise BadRequest(
                what=what, value="empty", wanted="a text", how="say what is to be done"
            )
