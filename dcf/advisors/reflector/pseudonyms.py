"""Names on their way to planners: what is no plain name is said by an id.

Task types, states, workflows, skills and errors are called what somebody called them, and whoever
starts a run chooses some of these names. What is learned of runs is read by the models of planners,
so a name that could be a sentence must not get there. Reports keep the names as they are.
"""

from __future__ import annotations

import re
from dataclasses import replace
from hashlib import sha256

from dcf.advisors.analysis import Analysis, Contest, FailureCluster, TrackRecord

MOST_CHARACTERS = 64
MOST_WORDS = 6
LONGEST_WORD = 20
_VERSION = re.compile(r"@\d{1,6}(?:\.\d{1,6}){0,2}(?:-[A-Za-z]{1,8}(?:\.?\d{1,6})?)?")
_PARTED = re.compile(r"[^\W_]+(?:[._-][^\W_]+)*")
_WORD = re.compile(r"[^\W_]+")
_DIGITS = 10


def pseudonym(name: str) -> str:
    """``name`` if it is plain, as ``support.refund@1.0.0`` is; else an id that is always the same
    for it."""
    if _is_plain(name):
        return name
    digest = sha256(name.encode(errors="surrogatepass")).hexdigest()
    return f"name-{digest[:_DIGITS]}"


def pseudonymous(analysis: Analysis) -> Analysis:
    """``analysis`` with ids in place of all names in it that are not plain and that findings say.
    Names are replaced where they stand alone, before anything is written with them: a name may be
    a part of any text."""
    return replace(
        analysis,
        tracks=tuple(map(_track, analysis.tracks)),
        contests=tuple(map(_contest, analysis.contests)),
        failures=tuple(map(_cluster, analysis.failures)),
        retries=tuple(
            replace(one, workflow_name=pseudonym(one.workflow_name), state=pseudonym(one.state))
            for one in analysis.retries
        ),
        bottlenecks=tuple(
            replace(one, workflow_name=pseudonym(one.workflow_name), state=pseudonym(one.state))
            for one in analysis.bottlenecks
        ),
        drifts=tuple(replace(one, record=_track(one.record)) for one in analysis.drifts),
        recalibrations=tuple(
            replace(one, skill=pseudonym(one.skill)) for one in analysis.recalibrations
        ),
    )


def _is_plain(name: str) -> bool:
    """Few short words of letters with two cases and digits; after them a version, if any."""
    named, at, version = name.partition("@")
    if at and not _VERSION.fullmatch(at + version):
        return False
    if len(name) > MOST_CHARACTERS or not _PARTED.fullmatch(named):
        return False
    words = [word for part in _WORD.findall(named) for word in _humps(part)]
    # Without cases a script may have no word limits either, and a name of it be a sentence.
    is_cased = all(one.isdecimal() or one.islower() or one.isupper() for one in "".join(words))
    return is_cased and len(words) <= MOST_WORDS and max(map(len, words)) <= LONGEST_WORD


def _humps(part: str) -> list[str]:
    """``ReadTheInvoice`` as its words."""
    words: list[str] = []
    was_upper = False
    for one in part:
        if not words or (one.isupper() and not was_upper):
            words.append(one)
        else:
            words[-1] += one
        was_upper = one.isupper()
    return words


def _track(one: TrackRecord) -> TrackRecord:
    skill = None if one.skill is None else pseudonym(one.skill)
    return replace(one, task_type=pseudonym(one.task_type), skill=skill)


def _contest(one: Contest) -> Contest:
    return replace(
        one,
        task_type=pseudonym(one.task_type),
        skill=None if one.skill is None else pseudonym(one.skill),
        standings=tuple(replace(each, version=pseudonym(each.version)) for each in one.standings),
        rivals=tuple(replace(each, skill=pseudonym(each.skill)) for each in one.rivals),
        records=tuple(map(_track, one.records)),
    )


def _cluster(one: FailureCluster) -> FailureCluster:
    return replace(
        one, error=pseudonym(one.error), task_types=tuple(map(pseudonym, one.task_types))
    )
