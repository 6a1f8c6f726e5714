"""Labels of distributed Maps: part of the names of their runs, so of few characters."""

from __future__ import annotations

from dcf.asl.reading.node import Node

BAD_LABEL = "ASL_BAD_LABEL"
MAX_LABEL = 40
_FORBIDDEN = frozenset(' \t\n\r\x0b\x0c?*<>{}[]:;,\\|^~$#%&`"')


def check_label(node: Node, taken: dict[str, str]) -> None:
    """Report a ``Label`` that cannot be, or that ``taken`` has already (label -> pointer)."""
    label = node.text("Label")
    if label is None:
        return
    what = _fault(label)
    if what:
        hint = f"write 1 to {MAX_LABEL} letters, digits, `-` or `_`"
        node.error(BAD_LABEL, "Label", f"`Label` {what[0]}", hint, what[1])
    elif label in taken:
        message = f"the label `{label}` is taken by the Map at {taken[label]}"
        aws = f"Duplicate Label name: {label}"
        hint = "give each distributed Map a label of its own"
        node.error("ASL_DUPLICATE_LABEL", "Label", message, hint, aws)
    else:
        taken[label] = node.pointer


def _fault(label: str) -> tuple[str, str] | None:
    """What is wrong with ``label``, in our words and in AWS's."""
    if not label:
        return "is empty", "Label cannot be empty"
    for character in label:
        if character in _FORBIDDEN or _is_control(character):
            aws = f"Label contains invalid character: {character!r}"
            return f"holds the character {character!r}, which no label may hold", aws
    if len(label) > MAX_LABEL:
        length = f"has {len(label)} characters, more than {MAX_LABEL}"
        return length, f"Label cannot exceed {MAX_LABEL} characters"
    return None


def _is_control(character: str) -> bool:
    return character <= "\x1f" or "\x7f" <= character <= "\x9f"
