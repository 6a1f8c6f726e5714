"""The texts that ``dcf skills new`` begins with: valid as they are, and to be filled in."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

STUB_ENDPOINT = "${DCF_STUB_URL:-http://127.0.0.1:8765}"


def header(file: Path, schemas: Path, schema: str) -> str:
    """The first line of a source: it tells editors which schema the file has. ``schemas`` is the
    folder of the generated ones."""
    target = schemas / f"{schema}.authoring.schema.json"
    path = Path(os.path.relpath(target, file.parent)).as_posix()
    return f"# yaml-language-server: $schema={path}\n"


def skill_text(
    name: str,
    *,
    description: str,
    tags: Sequence[str],
    risk: str,
    refs: Sequence[str],
    fresh: Sequence[str],
) -> str:
    """A skill that uses ``refs``; those in ``fresh`` get a test, because their tools are ours."""
    calls = [f"{number}. Call {ref.partition(':')[2]}." for number, ref in enumerate(refs, 1)]
    calls.append(f"{len(calls) + 1}. Report what came out.")
    lines = [
        "apiVersion: skill/v1",
        "kind: Skill",
        "metadata:",
        f"  manifestId: skill.{name}@1.0.0",
        f"  name: {name}",
        "  version: 1.0.0",
        f"  description: {quoted(description or 'Say when to use this skill.')}",
        f"  tags: [{', '.join(tags)}]",
        "spec:",
        "  permissions:",
        "    egress: none",
        "    secrets: []",
        f"    riskLevel: {risk}",
        "  directives: |",
        "    Say what the agent is to achieve.",
        "",
        *(f"    {call}" for call in calls),
    ]
    lines += ["  tools:", *(f"    - ref: {ref}" for ref in refs)] if refs else ["  tools: []"]
    if fresh:
        lines.append("  tests:")
    for ref in fresh:
        lines += [
            f"    - name: {ref.partition(':')[2]} answers its example",
            f"      tool: {ref}",
            "      arguments: { text: example }",
            "      expect: { contains: { ok: true } }",
        ]
    return "\n".join(lines) + "\n"


def tools_text(server_id: str, tools: Sequence[str]) -> str:
    """A tools file with one server; each tool takes a text and answers ``{ok, text}``."""
    head = [
        "apiVersion: tools/v1",
        "kind: ToolsRegistry",
        "servers:",
        f"  {server_id}:",
        f"    description: What {server_id} is for",
        "    tools:",
    ]
    return "\n".join([*head, *(line for tool in tools for line in _tool(tool))]) + "\n"


def _tool(name: str) -> list[str]:
    text = f"""\
{name}:
  version: 0.1.0
  description: Say what {name} does, for the agent that chooses it.
  params:
    type: object
    properties:
      text: {{ type: string, description: What it works on }}
    required: [text]
    additionalProperties: false
  result:
    type: object
    properties:
      ok: {{ type: boolean }}
      text: {{ type: string }}
    required: [ok]
  defaults:
    response: {{ ok: true, text: "{{{{ args.text }}}}" }}
    latencyMs: 10
  cases:
    - id: example
      match: {{ strategy: exact, path: text, value: example }}
      response: {{ ok: true, text: done }}"""
    return [f"      {line}" for line in text.splitlines()]


def index_text(files: Sequence[str]) -> str:
    return f"apiVersion: tools-index/v1\nkind: ToolsIndex\nfiles: [{', '.join(files)}]\n"


def registry_text() -> str:
    return 'apiVersion: registry/v1\nkind: ServerRegistry\nenv: "${DCF_ENV:-test}"\nservers: {}\n'


def registry_entry(server_id: str) -> dict[str, Any]:
    """A server on the stub. The address is whole, so that the real one is a change of one line."""
    return {
        "description": f"What {server_id} is for",
        "endpoint": f"{STUB_ENDPOINT}/mcp/{server_id}",
        "path": "",
        "timeout": 30,
    }


def quoted(text: str) -> str:
    """``text`` in double quotes, as YAML reads it back: what cannot be seen is escaped."""
    return '"' + "".join(map(_character, text)) + '"'


def _character(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
