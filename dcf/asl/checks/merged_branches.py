"""Members that several branches of a Parallel write and that are merged behind it into one: the
last branch wins, and the others' values are gone without a word."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dcf.asl.payload import JSON
from dcf.asl.reading.findings import Findings, child
from dcf.asl.reading.node import Node
from dcf.asl.reading.state_texts import pointer_of, texts
from dcf.asl.reading.state_tree import inner_machines, speaks_jsonata, states_of

Written = Mapping[str, str]
"""Members that a branch wrote itself of what it puts out, each with the pointer to where."""

_OF_ALL = r"\$merge\(\s*\$states\.{}\s*\)"
_LISTED = re.compile(r"\$merge\(\s*\[(?P<parts>[^\[\]]*(?:\[\d+\][^\[\]]*)+)\]\s*\)")
_PART = r"\$states\.{}\[(\d+)\]"
_JSON_MERGE = re.compile(r"States\.JsonMerge\(\s*(\$[\w.]*)\[(\d+)\]\s*,\s*(\$[\w.]*)\[(\d+)\]\s*,")
_MEMBER = re.compile(r"\$\.(\w+)")


def warn_merged(root: Node) -> None:
    """Warn, where it is written, of each member that is merged away: as far as templates and result
    paths tell. What a Task answers is not known."""
    waiting = [root]
    while waiting:
        states = states_of(waiting.pop())
        for name, state in states.items():
            if state.value.get("Type") == "Parallel":
                _look_at(name, state, states.get(str(state.value.get("Next"))), root)
            waiting.extend(inner_machines(state))


def _look_at(name: str, state: Node, following: Node | None, root: Node) -> None:
    branches = [_written(branch, root) for branch in inner_machines(state)]
    every = range(len(branches))
    merges = list(_merges(state, ("Output", "Assign", "ResultSelector"), "result", "$", every))
    if following is not None and "Output" not in state.value:
        fields = tuple(field for field in following.value if field != "Branches")
        kept = str(state.value.get("ResultPath", "$"))
        merges += _merges(following, fields, "input", kept, every)
    for place, merged in merges:
        for member, found in _clashes([branches[at] for at in merged]).items():
            _tell(name, place, member, found, state.findings)


def _tell(name: str, place: str, member: str, found: list[str], findings: Findings) -> None:
    hint = "write another name in one of them, or take the member of the branch that is meant"
    *lost, kept = found
    for at in lost:
        message = (
            f"`{member}` is lost: another branch of `{name}` writes it too, at {kept}, and that "
            f"value replaces this one where {place} merges them"
        )
        findings.warning("ASL_MERGED_BRANCHES", at, message, hint)
    message = (
        f"`{member}` replaces what another branch of `{name}` writes, at {lost[-1]}, where {place} "
        "merges them"
    )
    findings.warning("ASL_MERGED_BRANCHES", kept, message, hint)


def _clashes(branches: Iterable[Written]) -> dict[str, list[str]]:
    """Where members are written that several of ``branches`` write, in the order of the merge."""
    places: dict[str, list[str]] = {}
    for written in branches:
        for member, place in written.items():
            places.setdefault(member, []).append(place)
    return {name: found for name, found in places.items() if len(found) > 1}


def _merges(
    state: Node, fields: Iterable[str], of: str, path: str, branches: range
) -> Iterator[tuple[str, list[int]]]:
    """Where ``fields`` of a state merge results of ``branches``, and of which, in order. They are
    in ``$states.result`` or ``$states.input``, as ``of`` says, or at ``path``."""
    for field in fields:
        for way, _, text in texts(state.value.get(field), field):
            for merged in _merged_in(text, of, path, branches):
                if len(set(merged)) > 1 and all(at in branches for at in merged):
                    yield pointer_of(state, way), merged


def _merged_in(text: str, of: str, path: str, branches: range) -> Iterator[list[int]]:
    if re.search(_OF_ALL.format(of), text):
        yield list(branches)
    for found in _LISTED.finditer(text):
        yield [int(at) for at in re.findall(_PART.format(of), found["parts"])]
    for found in _JSON_MERGE.finditer(text):
        if found[1] == found[3] == path:
            yield [int(found[2]), int(found[4])]


def _written(branch: Node, root: Node) -> Written:
    """What ``branch`` puts out under literal names at its ends; what its states add to their input
    by ``ResultPath`` as long as none of them drops it again."""
    found: dict[str, str] = {}
    states = states_of(branch).values()
    keeps = not any(speaks_jsonata(state, root) or _drops(state.value) for state in states)
    for state in states:
        jsonata = speaks_jsonata(state, root)
        is_end = state.value.get("End") is True or state.value.get("Type") == "Succeed"
        field = "Output" if jsonata else _made_by(state.value)
        made: JSON = state.value.get(field) if is_end else None
        for key in made if isinstance(made, dict) else ():
            found[key if jsonata else key.removesuffix(".$")] = child(state.place(field), key)
        member = None if jsonata else _MEMBER.match(str(state.value.get("ResultPath")))
        if member is not None and (is_end or keeps):
            found[member[1]] = state.place("ResultPath")
    return found


def _drops(state: Mapping[str, Any]) -> bool:
    """Whether the output of a JSONPath state may lack what its input has."""
    if state.get("InputPath", "$") != "$" or state.get("OutputPath", "$") != "$":
        return True
    works = state.get("Type") in ("Task", "Parallel", "Map") or _made_by(state) in state
    return works and state.get("ResultPath", "$") == "$"


def _made_by(state: Mapping[str, Any]) -> str:
    """The field of a JSONPath state that becomes its whole output."""
    if state.get("ResultPath", "$") != "$":
        return ""
    if state.get("Type") == "Pass":
        return "Result" if "Result" in state else "Parameters"
    return "ResultSelector"
