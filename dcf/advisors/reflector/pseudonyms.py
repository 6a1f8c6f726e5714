"""Names on their way to planners: what is no plain name is said by an id.

Task types, states, workflows and skills are called what somebody called them, and whoever starts a
run chooses some of these names. What is learned of runs is read by the models of planners, so a
name that could be a sentence must not get there. Reports keep the names as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from hashlib import sha256

from dcf.advisors.analysis import Analysis
from dcf.advisors.reflector.draft import Draft

_PLAIN = re.compile(r"\w[\w.@:/-]{0,79}")
_DIGITS = 10


def pseudonym(name: str) -> str:
    """``name`` if it is plain, as ``support.refund@1.0.0`` is; else an id that is always the same
    for it."""
    if _PLAIN.fullmatch(name):
        return name
    digest = sha256(name.encode(errors="surrogatepass")).hexdigest()
    return f"name-{digest[:_DIGITS]}"


def pseudonyms(analysis: Analysis) -> dict[str, str]:
    """The ids by the names in ``analysis`` that are not plain; longer names first, for one may be
    part of another."""
    odd = {name for name in _names(analysis) if name and not _PLAIN.fullmatch(name)}
    return {name: pseudonym(name) for name in sorted(odd, key=lambda one: (-len(one), one))}


def pseudonymous(draft: Draft, ids: Mapping[str, str]) -> Draft:
    """``draft`` with ``ids`` in place of names."""
    if not ids:
        return draft
    return replace(
        draft,
        condition={key: _with(ids, value) for key, value in draft.condition.items()},
        prefer=draft.prefer and _with(ids, draft.prefer),
        avoid=draft.avoid and _with(ids, draft.avoid),
        reason=_with(ids, draft.reason),
    )


def _with(ids: Mapping[str, str], text: str) -> str:
    for name, id_ in ids.items():
        text = text.replace(name, id_)
    return text


def _names(analysis: Analysis) -> Iterator[str]:
    for track in analysis.tracks:
        yield track.task_type
        yield track.skill or ""
    for contest in analysis.contests:
        yield contest.task_type
        yield contest.skill or ""
        yield contest.recommended
        yield from (rival.skill for rival in contest.rivals)
    for retries in analysis.retries:
        yield from (retries.workflow_name, retries.state)
    for slow in analysis.bottlenecks:
        yield from (slow.workflow_name, slow.state)
    yield from (one.skill for one in analysis.recalibrations)
