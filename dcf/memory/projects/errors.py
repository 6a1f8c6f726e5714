"""What can go wrong with projects."""

from __future__ import annotations

from collections.abc import Sequence

from dcf.memory.errors import MemoryProblem


class UnknownProject(MemoryProblem):
    """There is no project {path!r}.{near}"""

    code = "memory_unknown_project"
    hint = "a session that begins there makes it"

    def __init__(self, path: str, closest: Sequence[str] = ()) -> None:
        self.closest = tuple(closest)
        near = f" Close to it: {', '.join(closest)}." if closest else ""
        super().__init__(path=path, near=near)


class ProjectExists(MemoryProblem):
    """There is a project {path!r} already."""

    code = "memory_project_exists"
    hint = "use that project"


class NotShareable(MemoryProblem):
    """Block {block_id} is of type {type}: {reason}."""

    code = "memory_not_shareable"
    hint = "a block of type `shared` can be in any number of projects"


class ProjectHasLabel(MemoryProblem):
    """Project {path!r} has a block {label!r} already."""

    code = "memory_project_has_label"
    hint = "give the block another label in this project, or unlink the other one"


class UnknownProjectBlock(MemoryProblem):
    """Project {path!r} has no block {label!r}.{near}"""

    code = "memory_unknown_project_block"

    def __init__(self, path: str, label: str, labels: Sequence[str] = ()) -> None:
        self.labels = tuple(labels)
        near = f" It has: {', '.join(labels)}." if labels else ""
        super().__init__(path=path, label=label, near=near)
