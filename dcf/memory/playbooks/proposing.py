"""Playbooks that observations could be: repeated ones that say how an error was got over."""

from __future__ import annotations

import re

from dcf.memory.observation import Observation
from dcf.memory.playbook import PlaybookProposal
from dcf.memory.playbooks.error_words import error_words

REPEATED = 3
"""So often something has to be seen before it is proposed."""

# As titles of what runs leave have it: dcf/workflow/run_observations.py.
_RETRIED = re.compile(r"(?P<where>.+): a retry got over (?P<error>.+)")


def proposal_of(one: Observation) -> PlaybookProposal:
    """What a playbook made of an observation would say."""
    retried = _RETRIED.fullmatch(one.title)
    pattern = one.title
    if retried is not None:
        pattern = retried["error"]
        if not error_words(pattern).words:
            pattern = f"{retried['where']}: {pattern}"
    said = [one.subtitle, *one.facts, one.narrative]
    resolution = "\n".join(filter(None, said)) or one.title
    if retried is not None:
        resolution = f"Try again.\n{resolution}"
    return PlaybookProposal(one.id, one.title, one.times, pattern, resolution)
