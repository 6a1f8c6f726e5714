"""What can go wrong with playbooks."""

from __future__ import annotations

from dcf.memory.errors import MemoryProblem


class UnknownPlaybook(MemoryProblem):
    """There is no playbook {playbook_id}."""

    code = "memory_unknown_playbook"
    hint = "`dcf retrieval playbooks list` has their ids; `dcf memory history` says who removed one"


class PlaybookExists(MemoryProblem):
    """The playbook {playbook_id} was made from observation {observation_id} already."""

    code = "memory_playbook_exists"
    hint = "`dcf retrieval playbooks edit` changes what it says"
