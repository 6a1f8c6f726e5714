"""The changes that can be made to a document, each a function of the old document.

Every edit is given a document that it may change in place and gives the new one back. ``notes``
collects what its caller should be told. A document's root is an object.
"""

from __future__ import annotations

import copy
import math

from control_plane import JSON
from dcf.workspace.document_path import Path, show_path
from dcf.workspace.document_place import MISSING, find, from_start, put, remove
from dcf.workspace.errors import (
    DestinationExists,
    IntoItself,
    NotAnArray,
    NotANumber,
    NotFinite,
    RootNotAnObject,
    RootNotSupported,
    SourceMissing,
)

Notes = list[str]


def set_value(document: JSON, path: Path, value: JSON, notes: Notes) -> JSON:
    """``value`` at ``path``; missing objects on the way are made. Raises RootNotAnObject,
    NotAnArray, IndexOutOfRange."""
    if not path and not isinstance(value, dict):
        raise RootNotAnObject(what="this value")
    return put(document, path, value, notes)


def append(document: JSON, path: Path, value: JSON, notes: Notes) -> JSON:
    """``value`` at the end of the array at ``path``, which is made if it is missing; of an array
    each element is appended. Raises RootNotSupported, NotAnArray, IndexOutOfRange."""
    if not path:
        raise RootNotSupported(operation="appending")
    present = find(document, path)
    if present is not MISSING and not isinstance(present, list):
        raise NotAnArray(path=show_path(path))
    more = value if isinstance(value, list) else [value]
    return put(document, path, [*(present if present is not MISSING else ()), *more], notes)


def ensure(document: JSON, path: Path, default: JSON, notes: Notes) -> JSON:
    """``default`` at ``path`` if nothing or null stands there. Raises as ``set_value``."""
    present = find(document, path)
    if path and (present is MISSING or present is None):
        return set_value(document, path, default, notes)
    return document


def merge(document: JSON, path: Path, patch: JSON, notes: Notes) -> JSON:
    """The merge patch of RFC 7386 applied to what stands at ``path``. Raises as ``set_value``."""
    return set_value(document, path, _merged(find(document, path), patch), notes)


def increment(document: JSON, path: Path, delta: int | float, notes: Notes) -> JSON:
    """The number at ``path`` plus ``delta``; from 0 where nothing stands. Integers stay integers
    where both are. Raises RootNotSupported, NotANumber, NotFinite, and as ``set_value``."""
    if not path:
        raise RootNotSupported(operation="incrementing")
    present = find(document, path)
    number = 0 if present is MISSING else present
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise NotANumber(path=show_path(path))
    try:
        total = number + delta
    except OverflowError as error:
        raise NotFinite(path=show_path(path)) from error
    if isinstance(total, float) and not math.isfinite(total):
        raise NotFinite(path=show_path(path))
    return put(document, path, total, notes)


def copy_value(
    document: JSON, source: Path, target: Path, notes: Notes, *, overwrite: bool = True
) -> JSON:
    """A copy of what stands at ``source`` at ``target``. Raises SourceMissing, DestinationExists,
    and as ``set_value``."""
    value = find(document, source)
    if value is MISSING:
        raise SourceMissing(path=show_path(source))
    _check_target(document, target, overwrite)
    return set_value(document, target, copy.deepcopy(value), notes)


def move_value(
    document: JSON, source: Path, target: Path, notes: Notes, *, overwrite: bool = True
) -> JSON:
    """What stands at ``source`` at ``target``, and no longer there. A missing source changes
    nothing. ``target`` is a place in the document as it was. Raises IntoItself, DestinationExists,
    and as ``set_value``."""
    source, target = from_start(document, source), from_start(document, target)
    if target[: len(source)] == source:
        raise IntoItself(source=show_path(source), target=show_path(target))
    value = find(document, source)
    if value is MISSING:
        return document
    _check_target(document, target, overwrite)
    document = set_value(document, target, value, notes)
    # A target above the source has replaced what held it.
    if source[: len(target)] != target:
        remove(document, source)
    return document


def delete(document: JSON, path: Path) -> JSON:
    """The document without what stands at ``path``; the root becomes an empty object."""
    if not path:
        return {}
    remove(document, path)
    return document


def _check_target(document: JSON, target: Path, overwrite: bool) -> None:
    if not overwrite and find(document, target) is not MISSING:
        raise DestinationExists(path=show_path(target))


def _merged(target: JSON, patch: JSON) -> JSON:
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for name, part in patch.items():
        if part is None:
            result.pop(name, None)
        else:
            result[name] = _merged(result.get(name), part)
    return result
