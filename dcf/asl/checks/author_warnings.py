"""What AWS accepts and an author hardly means; warnings, never errors."""

from __future__ import annotations

import re

from dcf.asl.payload import excerpt
from dcf.asl.reading.findings import child
from dcf.asl.reading.node import Node
from dcf.asl.reading.state_texts import Way, pointer_of, texts

_TEMPLATES = ("Parameters", "ItemSelector", "ResultSelector", "Assign")
_TEXTS = ("Error", "Cause")
"""Fields with a text, which a path in another field may give too."""

_INNER_MACHINES = frozenset({"ItemProcessor", "Iterator", "Branches"})
_SUSPECT = ("$", "S", "{")
"""How a text starts that may be a path, an intrinsic call or JSONata."""

_PATH = re.compile(r"\$\$?(?:\.\w|\[)\S*|States\.[A-Z][A-Za-z0-9]*\(.*\)", re.DOTALL)
_JSONATA = re.compile(r"\{%.*%\}", re.DOTALL)


def warn_author(node: Node, state_type: str, jsonata: bool) -> None:
    """Report what in a state looks like a slip."""
    binding = node.value.get("AgentBinding")
    if isinstance(binding, dict) and binding.get("skills") == []:
        place = child(node.place("AgentBinding"), "skills")
        message = "`skills` is empty: the agent of this Task can call nothing"
        hint = "name its skills, or leave `skills` out"
        node.findings.warning("ASL_NO_SKILLS", place, message, hint)
    if jsonata:
        return
    for field, content in node.value.items():
        if field == "Comment" or field in _INNER_MACHINES:
            continue
        for way, key, text in texts(content, field):
            if text[:1] in _SUSPECT or key.endswith(".$"):
                _look_at(node, state_type, field, (way, key, text))


def _look_at(node: Node, state_type: str, field: str, found: tuple[Way, str, str]) -> None:
    way, key, text = found
    is_path = _PATH.fullmatch(text) is not None
    if field == "Result" and state_type == "Pass" and (is_path or key.endswith(".$")):
        message = f"`Result` is taken as it is: {excerpt(text)} is not evaluated"
        hint = "use `Parameters`, whose fields that end in `.$` are evaluated"
        aws = "Attempt to use a path in the result of a pass state."
        node.findings.warning("ASL_STATIC_RESULT", pointer_of(node, way), message, hint, aws)
    elif field in _TEMPLATES and is_path and key and not key.endswith(".$"):
        message = f"`{key}` is the text {excerpt(text)}: it is not evaluated"
        hint = f"name the field `{key}.$` to evaluate it"
        aws = "Field value looks like a path, but field name does not end with '.$'"
        node.findings.warning("ASL_CONSTANT_PATH", pointer_of(node, way), message, hint, aws)
    elif field in _TEXTS and field == key and is_path:
        message = f"`{field}` is the text {excerpt(text)}: it is not evaluated"
        aws = "Field value looks like a path, but field name does not end with 'Path'"
        hint = f"name the field `{field}Path` to evaluate it"
        node.findings.warning("ASL_CONSTANT_PATH", pointer_of(node, way), message, hint, aws)
    if text.startswith("{%") and _JSONATA.fullmatch(text):
        message = f"{excerpt(text)} is JSONata, and this state speaks JSONPath"
        hint = "set `QueryLanguage` to `JSONata`"
        node.findings.warning("ASL_JSONATA_IN_JSONPATH", pointer_of(node, way), message, hint)
