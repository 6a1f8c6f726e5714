"""What a ``Resource`` names that AWS cannot know, or that looks like a slip of the pen."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass

from dcf.asl.checks.known_names import OPTIMIZED_SERVICES, PATTERNS

_PLACEHOLDER = re.compile(r"\$\{[^}]*\}")
_HIDDEN = "\0"
"""Stands for a placeholder, which the deployment fills in with anything."""

_STATES = re.compile(r"arn:[^:]+:states:[^:]*:[^:]*:(.+)", re.DOTALL)
_LAMBDA = re.compile(r"arn:[^:]+:lambda:[^:]*:[^:]*:function:.+", re.DOTALL)
# https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html
_FUNCTION = re.compile(r"[a-zA-Z0-9_-]+(?::(?:\$LATEST(?:\.PUBLISHED)?|[a-zA-Z0-9_-]+))?")
_CALL = re.compile(r"([^:]+):(?:[^:.]+:)?([^:.]+)(?:\.(.*))?", re.DOTALL)
"""``service:call`` or ``aws-sdk:service:call``, and what stands after the point."""

_LONGEST = 2048
"""Longest name in characters that is looked at: no ARN has more."""

_OTHER_KINDS = {
    "stateMachine": "call `arn:aws:states:::states:startExecution` to start a state machine",
    "execution": "an execution is nothing to call",
}
_CALLBACK = "waitForTaskToken"


@dataclass(frozen=True, slots=True)
class Doubt:
    """What is wrong with a ``Resource``; ``is_certain``: AWS has nothing of that form."""

    message: str
    hint: str
    is_certain: bool = True


def doubt_about(resource: str) -> Doubt | None:
    """What speaks against ``resource``, an ARN or the name of a handler; None when nothing."""
    if len(resource) > _LONGEST:
        return None
    if not resource.startswith("arn:"):
        return _misspelt_callback(resource)
    text = _PLACEHOLDER.sub(_HIDDEN, resource)
    if text.count(":") < 5 and _HIDDEN in text:
        return _misspelt_callback(text, resource)  # most of the ARN is still to be filled in
    if _LAMBDA.fullmatch(text):
        return _doubt_function(text.split(":", 6)[6], resource)
    found = _STATES.fullmatch(text)
    if found is None:
        hint = (
            "a Task calls `arn:…:states:…`, `arn:…:lambda:…:function:…`, or a name without `arn:`"
        )
        return Doubt(f"`{resource}` is no ARN of something that a Task can call", hint)
    called = found.group(1)
    if called.startswith("activity:") or called[0] == _HIDDEN:
        return _misspelt_callback(text, resource)
    return _doubt_call(called, resource)


def _doubt_function(name: str, resource: str) -> Doubt | None:
    doubt = _misspelt_callback(name, resource)
    if doubt is not None or _HIDDEN in name or _FUNCTION.fullmatch(name):
        return doubt
    message = f"`{resource}` names no function: `{name}` is no name with a version or an alias"
    return Doubt(message, "write for example `arn:aws:lambda:eu-west-1:123456789012:function:f:1`")


def _doubt_call(called: str, resource: str) -> Doubt | None:
    kind = called.partition(":")[0]
    if kind in _OTHER_KINDS:
        return Doubt(f"`{resource}` names what a Task cannot call", _OTHER_KINDS[kind])
    parts = _CALL.fullmatch(called)
    if parts is None:
        if _HIDDEN in called:
            return None
        message = f"`{resource}` names no call of a service"
        return Doubt(message, "write for example `arn:aws:states:::lambda:invoke`")
    service, call, pattern = parts.groups()
    if pattern is not None and _HIDDEN not in pattern and pattern not in PATTERNS:
        return _unknown_pattern(pattern, resource)
    calls = OPTIMIZED_SERVICES.get(service)
    if calls is None:
        return _misspelt("service", service, list(OPTIMIZED_SERVICES), resource)
    return _misspelt("call", call, sorted(calls), resource) if calls else None


def _misspelt(what: str, name: str, known: list[str], resource: str) -> Doubt | None:
    """Only what is close to a known name is a slip; anything else may be new on AWS."""
    if name in known or _HIDDEN in name:
        return None
    closest = difflib.get_close_matches(name, known, 1, 0.75)
    if not closest:
        return None
    message = f"`{resource}` names the {what} `{name}`, which AWS is not known to have"
    return Doubt(message, f"did you mean `{closest[0]}`?", is_certain=False)


def _misspelt_callback(text: str, resource: str = "") -> Doubt | None:
    """A name may hold points; one that ends nearly like a callback hardly means another thing."""
    end = text.rpartition(".")[2]
    if end in (text, _CALLBACK) or len(end) > 2 * len(_CALLBACK):
        return None
    if difflib.SequenceMatcher(None, end.lower(), _CALLBACK.lower()).ratio() < 0.8:
        return None
    return _unknown_pattern(end, resource or text)


def _unknown_pattern(pattern: str, resource: str) -> Doubt:
    closest = difflib.get_close_matches(pattern, PATTERNS, 1)
    known = ", ".join(f"`.{name}`" for name in PATTERNS)
    hint = f"did you mean `.{closest[0]}`?" if closest else f"write one of {known}, or none"
    return Doubt(f"`{resource}` ends in `.{pattern}`: the Task does not wait for anything", hint)
