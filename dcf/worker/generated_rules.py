"""What generated skills bring beside themselves: the policy, and the schemas of their tools."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from dcf.agents.loading import lock_fault
from dcf.problem import Problem
from dcf.regular_file import read_regular
from dcf.skills import SkillCatalog, whole
from dcf.tools import Approver, InvalidDocument, Policy, Registry, SchemaPin, read_pins

POLICY = "policy.json"
LOCK = "skills.lock"
NO_LOCK = "there are skills and no {}: neither they nor the schemas of their tools are pinned"
_ANEW = "`dcf skills generate` writes it anew"

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Generated:
    """A folder of generated skills, read at one moment."""

    catalog: SkillCatalog
    registry: Registry
    policy: Policy
    pins: Mapping[str, SchemaPin]


def read_generated(folder: Path, environment: Mapping[str, str]) -> Generated:
    """Everything in ``folder``, of one generation; ``environment`` fills the placeholders of the
    registry. Raises SkillError and ToolsError."""
    with finished(folder):
        return Generated(
            SkillCatalog.load(folder),
            Registry.load(folder / "registry.json", environment),
            read_policy(folder),
            read_lock(folder),
        )


def read_policy(generated: Path | None) -> Policy:
    """The policy among the generated skills, the default without one. Raises InvalidDocument, also
    for one that the lock names and that is not there."""
    if generated is None:
        return Policy()
    with finished(generated):
        file = generated / POLICY
        if not os.path.lexists(file) and POLICY in _lock(generated).get("artefacts", {}):
            message = f"{LOCK} names {POLICY}, and it is not there"
            raise InvalidDocument([Problem("POLICY_GONE", message, hint=_ANEW, file=str(file))])
        return Policy.load(file)


def read_lock(generated: Path) -> Mapping[str, SchemaPin]:
    """The pinned schemas by ``server:tool``; none without a lock, with a warning where there are
    skills. Raises InvalidDocument for whatever else lies there."""
    if lock_is_missing(generated):
        log.warning("%s", NO_LOCK.format(generated / LOCK))
    try:
        return read_pins(_lock(generated))
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise _unreadable(generated, f"{type(error).__name__}: {error}") from None


def lock_is_missing(generated: Path) -> bool:
    """Whether there are skills, and nothing that says which they should be."""
    skills = (generated / "manifests").is_dir() or (generated / "catalogs").is_dir()
    return skills and not os.path.lexists(generated / LOCK)


def _lock(generated: Path) -> dict[str, Any]:
    """The lock as it stands, ``{}`` without one. Raises InvalidDocument."""
    file = generated / LOCK
    with finished(generated):
        if not os.path.lexists(file):
            return {}
        if not file.is_file():
            raise _unreadable(generated, "it is no file")
        try:
            lock = json.loads(read_regular(file))
        except (OSError, ValueError, RecursionError) as error:
            raise _unreadable(generated, f"{type(error).__name__}: {error}") from None
    fault = lock_fault(lock)
    if fault:
        raise _unreadable(generated, fault)
    return cast("dict[str, Any]", lock)


@contextmanager
def finished(generated: Path) -> Iterator[None]:
    """Nobody generates while the block reads, so that what it reads belongs together. Raises
    InvalidDocument for what a generation did not end."""
    with whole(generated) as is_whole:
        if not is_whole:
            raise _unreadable(generated, "generating is under way, or was broken off")
        yield


def _unreadable(generated: Path, why: str) -> InvalidDocument:
    file = str(generated / LOCK)
    message = f"the lock cannot be read ({why})"
    return InvalidDocument([Problem("LOCK_UNREADABLE", message, hint=_ANEW, file=file)])


def approvers_of(policy: Policy) -> Callable[[str], Approver]:
    """Those whom an AgentBinding may name: the approvers of the policy, else the person."""
    named = {**policy.approvers, "operator": policy.operator}
    known = {name: one for name, one in named.items() if isinstance(one, Approver)}
    return lambda name: known.get(name) or Approver(name, (name,))
