"""A procedure as YAML that reads back as an equal one."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import yaml

from dcf.sop.conduct import Budget
from dcf.sop.direction import CONTINUE
from dcf.sop.language.approval_text import print_person
from dcf.sop.language.condition_print import print_condition
from dcf.sop.language.direction_text import print_direction
from dcf.sop.language.duration import print_duration
from dcf.sop.language.join_text import print_join
from dcf.sop.language.retry_text import print_retry
from dcf.sop.language.run_text import print_run
from dcf.sop.language.transfer_text import print_transfer
from dcf.sop.language.wait_text import print_wait
from dcf.sop.procedure import Sop, Value
from dcf.sop.step import Loop, Step


def print_yaml(sop: Sop) -> str:
    """``parse_yaml`` of the text is ``sop`` again, if ``sop`` has no errors."""
    text: str = yaml.dump(
        to_data(sop), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100
    )
    return text


def to_data(sop: Sop) -> dict[str, Any]:
    """The YAML form as JSON values: an instance of the schema. What is empty is left out."""
    return _filled(
        title=sop.title,
        objective=sop.objective,
        inputs=[_value(one) for one in sop.inputs],
        outputs=[_value(one) for one in sop.outputs],
        guardrails=[one.text for one in sop.guardrails],
        deadline=_duration(sop.deadline),
        budget=_budget(sop.budget),
        roles=[_filled(name=one.name, description=one.description) for one in sop.roles],
        notes=[{"title": one.title, "text": one.text} for one in sop.notes],
        steps=[_step(one) for one in sop.steps],
    )


def _filled(**members: Any) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value not in (None, "", [], ())}


def _value(value: Value) -> dict[str, Any]:
    plain = _filled(name=value.name, type=value.type, items=value.items)
    if value.required != (value.default is None):
        plain["required"] = value.required
    plain |= _filled(description=value.description)
    # An empty text or list is a default too.
    for name in ("default", "example"):
        if getattr(value, name) is not None:
            plain[name] = getattr(value, name)
    return plain | _filled(
        enum=list(value.enum), members=[_value(member) for member in value.members]
    )


def _step(step: Step) -> dict[str, Any]:
    said = _filled(
        number=step.number,
        title=step.title,
        kind=step.kind,
        text=step.text,
        role=step.role,
        skills=list(step.skills),
        for_each=_loop(step.loop),
        wait=None if step.wait is None else print_wait(step.wait),
        runs=None if step.runs is None else print_run(step.runs),
        reads=[_bare(print_transfer(one)) for one in step.reads],
        writes=[_bare(print_transfer(one)) for one in step.writes],
        choices=list(step.choices),
        retries=[print_retry(one) for one in step.retries],
        deadline=_duration(step.deadline),
        tier=step.tier,
        budget=_budget(step.budget),
        on_error=[
            _filled(errors=list(one.errors), then=print_direction(one.then))
            for one in step.handlers
        ],
        steps=[_step(one) for one in step.steps],
        lanes=[
            _filled(title=lane.title) | {"steps": [_step(one) for one in lane.steps]}
            for lane in step.lanes
        ],
        keep=[_bare(print_join(one)) for one in step.joins],
        branches=[
            {"if": print_condition(one.condition), "then": print_direction(one.then)}
            for one in step.branches
        ],
        then=None if step.then == CONTINUE else print_direction(step.then),
    )
    if step.approval is not None:
        said["approval"] = list(map(print_person, step.approval.by))
    return said


def _bare(phrase: str) -> str:
    return phrase.replace("`", "")


def _loop(loop: Loop | None) -> dict[str, Any] | None:
    if loop is None:
        return None
    at_once = {None: "all", 1: None}.get(loop.at_once, loop.at_once)
    return _filled(item=loop.item, **{"in": loop.items}, at_once=at_once)


def _duration(seconds: int | None) -> str | None:
    return None if seconds is None else print_duration(seconds)


def _budget(budget: Budget | None) -> dict[str, Any] | None:
    if budget is None:
        return None
    limits = {one.name: getattr(budget, one.name) for one in fields(budget)}
    wall_time = _duration(limits.pop("wall_time_s"))
    return {name: value for name, value in limits.items() if value is not None} | _filled(
        wall_time=wall_time
    )


class _Dumper(yaml.SafeDumper):
    """Without aliases, and texts of several lines as they are."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=_style(text))


def _style(text: str) -> str | None:
    if "\n" in text and _fits_block(text):
        return "|"
    # PyYAML writes U+0085 and its kind as line breaks, which plain and single quotes fold.
    return None if text.isprintable() else '"'


def _fits_block(text: str) -> bool:
    return all(line.isprintable() and line == line.rstrip() for line in text.split("\n"))


_Dumper.add_representer(str, _text)
