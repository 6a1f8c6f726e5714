"""From a recording to tools as authors write them (``tools/v1``)."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from dcf.tools.recorder.recording import Recorded, Recording
from dcf.tools.recorder.redaction import REDACTED, Redaction
from dcf.tools.recorder.wrapping import inner_schema, wraps
from dcf.tools.result import ToolDescription
from dcf.tools.stub.matching import json_text

_CODE = re.compile(r"[A-Za-z][A-Za-z0-9_.]*")
_TOOL_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,127}")
_NOT_IN_TOOLS = ("$schema", "$id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$comment")


def authored_tools(recording: Recording, redaction: Redaction) -> dict[str, Any]:
    """The tools of a server by name, each with a case for every different call.

    Tools whose name authors cannot write are left out.
    """
    return {
        name: _tool(tool, recording, redaction)
        for name, tool in sorted(recording.tools.items())
        if _TOOL_NAME.fullmatch(name)
    }


def _tool(tool: ToolDescription, recording: Recording, redaction: Redaction) -> dict[str, Any]:
    document: dict[str, Any] = {
        "version": "1.0.0",
        "description": redaction.clean_values(tool.description.strip()) or tool.name,
        "params": redaction.clean_values(authored_schema(tool.input_schema)),
    }
    if tool.output_schema:
        output = tool.output_schema
        output = inner_schema(output) if wraps(output) else output
        document["result"] = redaction.clean_values(authored_schema(output))
    cases = [
        authored_case(arguments, answers, redaction)
        for arguments, answers in recording.answers(tool.name)
    ]
    return document | ({"cases": cases} if cases else {})


def authored_case(
    arguments: dict[str, Any], answers: Iterable[Recorded], redaction: Redaction
) -> dict[str, Any]:
    """The case of one call. Different answers to it become a sequence."""
    steps = [_answer(answer, redaction) for answer in answers]
    # By the arguments as they are written: what was taken out must not be guessed from the name.
    shown = redaction.clean(arguments)
    digest = hashlib.sha256(json_text(shown).encode()).hexdigest()[:10]
    case = {"id": f"recorded_{digest}", "match": _match(arguments, shown)}
    return case | (steps[0] if len(steps) == 1 else {"sequence": {"steps": steps}})


def _match(arguments: dict[str, Any], shown: dict[str, Any]) -> dict[str, Any]:
    """Exactly these arguments; with secrets taken out, those that differ only there."""
    if shown == arguments:
        return {"strategy": "exact", "value": arguments}
    pattern = re.escape(json_text(shown))
    quoted, bare = re.escape(json.dumps(REDACTED)), re.escape(REDACTED)
    pattern = pattern.replace(quoted, r'("[^"]*"|-?[0-9.]+)').replace(bare, '[^"]*')
    return {"strategy": "regex", "value": f"^{pattern}$"}


def _answer(answer: Recorded, redaction: Redaction) -> dict[str, Any]:
    if answer.hung:
        return {"errorMode": "timeout"}
    data = redaction.clean(answer.data)
    if answer.error is None:
        return {"response": data}
    code = answer.error if _CODE.fullmatch(answer.error) else "ToolError"
    told = data if isinstance(data, dict) else {"message": data}
    return {"errorMode": "throw", "errorCode": code, "response": told}


def authored_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A server's schema as tools files can hold it: references lead to ``#/$defs/…`` only, and
    to no other reference."""
    definitions = {**schema.get("definitions", {}), **schema.get("$defs", {})}
    top = {key: value for key, value in schema.items() if key not in ("definitions", "$defs")}
    document: dict[str, Any] = _cleaned(top, definitions)
    if definitions:
        document["$defs"] = {
            name: _cleaned(_followed(part, definitions), definitions)
            for name, part in definitions.items()
        }
    return document


def _cleaned(value: Any, definitions: Mapping[str, Any]) -> Any:
    if isinstance(value, list):
        return [_cleaned(item, definitions) for item in value]
    if not isinstance(value, Mapping):
        return value
    cleaned: dict[str, Any] = {}
    for key, item in value.items():
        if key == "$ref" and isinstance(item, str):
            name = item.rpartition("/")[2]
            if name in definitions:  # a reference to anywhere else says nothing here
                cleaned[key] = f"#/$defs/{name}"
        elif not (key in _NOT_IN_TOOLS and isinstance(item, str)):
            cleaned[key] = _cleaned(item, definitions)
    return cleaned


def _followed(part: Any, definitions: Mapping[str, Any]) -> Any:
    """A definition that is itself a reference, replaced by what it leads to."""
    for _ in range(len(definitions)):
        ref = part.get("$ref") if isinstance(part, Mapping) else None
        if not isinstance(ref, str):
            break
        part = definitions.get(ref.rpartition("/")[2], {})
    return part
