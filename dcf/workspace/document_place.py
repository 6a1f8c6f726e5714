"""Finding, putting and removing one place of a document.

Documents are changed in place: whoever keeps the old one copies it first.
"""

from __future__ import annotations

from typing import Any, Final

from control_plane import JSON
from dcf.workspace.document_path import Path, show_path
from dcf.workspace.errors import IndexOutOfRange, NotAnArray

MISSING: Final[Any] = object()
"""What ``find`` gives where a path leads nowhere."""


def find(document: JSON, path: Path) -> JSON:
    """What stands at ``path``, or MISSING."""
    for step in path:
        if isinstance(step, str):
            document = document.get(step, MISSING) if isinstance(document, dict) else MISSING
        else:
            inside = isinstance(document, list) and -len(document) <= step < len(document)
            document = document[step] if inside else MISSING
        if document is MISSING:
            break
    return document


def put(document: JSON, path: Path, value: JSON, notes: list[str]) -> JSON:
    """The document with ``value`` at ``path``; objects that are missing on the way are made.

    What stands where an object is needed is replaced by one, and ``notes`` says so. Raises
    NotAnArray, IndexOutOfRange: arrays are neither made nor grown.
    """
    return _put(document, path, 0, value, notes)


def remove(document: JSON, path: Path) -> bool:
    """Take what stands at ``path`` (not the root) away; whether there was something."""
    if find(document, path) is MISSING:
        return False
    parent = find(document, path[:-1])
    del parent[path[-1]]
    return True


def from_start(document: JSON, path: Path) -> Path:
    """``path`` with elements counted from the start wherever the array is there."""
    steps: list[str | int] = []
    for step in path:
        if isinstance(step, int) and step < 0 and isinstance(document, list):
            step = step + len(document) if -len(document) <= step else step
        document = find(document, (step,))
        steps.append(step)
    return tuple(steps)


def _put(node: JSON, path: Path, at: int, value: JSON, notes: list[str]) -> JSON:
    if at == len(path):
        return value
    step = path[at]
    if isinstance(step, int):
        _check_element(node, path, at, step)
        node[step] = _put(node[step], path, at + 1, value, notes)
        return node
    if not isinstance(node, dict):
        if node is not MISSING and node is not None:
            notes.append(f"what stood at {show_path(path[:at])} was replaced by an object")
        node = {}
    node[step] = _put(node.get(step, MISSING), path, at + 1, value, notes)
    return node


def _check_element(node: JSON, path: Path, at: int, step: int) -> None:
    if not isinstance(node, list):
        raise NotAnArray(path=show_path(path[:at]))
    if not -len(node) <= step < len(node):
        raise IndexOutOfRange(path=show_path(path[:at]), index=step)
