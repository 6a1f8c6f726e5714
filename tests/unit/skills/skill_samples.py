"""A small source tree that is valid, and ways to change it."""

from __future__ import annotations

from pathlib import Path

from dcf.problem import Problem
from dcf.skills import validate_sources

REPOSITORY = Path(__file__).parents[3]

SKILL = """\
apiVersion: skill/v1
kind: Skill
metadata:
  manifestId: skill.tea.brew@1.0.0
  name: tea.brew
  version: 1.0.0
  description: Brew tea.
  tags: [tea]
spec:
  permissions: { egress: none, secrets: [KETTLE_KEY], riskLevel: low }
  directives: Boil water, then wait.
  tools:
    - ref: kettle:boil
      description: Heats the water
    - ref: kettle:pour
      required: false
  dataSources:
    - id: notes
      file: notes.md
"""

TOOLS = """\
apiVersion: tools/v1
kind: ToolsRegistry
servers:
  kettle:
    description: A kettle
    tools:
      boil:
        description: Boil water.
        params:
          type: object
          properties:
            cups: { type: integer }
            label: { type: string }
            leaves: { type: array, items: { type: string } }
          required: [cups]
        result:
          type: object
          properties: { degrees: { type: integer }, label: { type: string } }
          required: [degrees]
        defaults: { response: { degrees: 100 } }
        cases:
          - id: many
            match: { strategy: exact, path: cups, value: 9 }
            response: { degrees: 60 }
      pour:
        description: Pour the water.
"""

INDEX = """\
apiVersion: tools-index/v1
kind: ToolsIndex
files: [kettle.tools.yaml]
"""

REGISTRY = """\
apiVersion: registry/v1
kind: ServerRegistry
env: test
servers:
  kettle:
    endpoint: http://127.0.0.1:8765
    path: /mcp/kettle
"""

SKILL_FILE = "skills/kitchen/brew.skill.yaml"
TOOLS_FILE = "tools/kettle.tools.yaml"
INDEX_FILE = "tools/_index.yaml"
REGISTRY_FILE = "registry.yaml"

SOURCES = {
    SKILL_FILE: SKILL,
    "skills/kitchen/notes.md": "Three minutes.\n",
    TOOLS_FILE: TOOLS,
    INDEX_FILE: INDEX,
    REGISTRY_FILE: REGISTRY,
}


def write_sources(root: Path, changes: dict[str, str] | None = None) -> Path:
    """Write the sample tree with some files replaced or added; returns its root."""
    for name, text in {**SOURCES, **(changes or {})}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def edited(file: str, old: str, new: str) -> dict[str, str]:
    """The change of one sample file in which ``old`` became ``new``."""
    assert SOURCES[file].count(old) == 1, f"{old!r} must stand once in {file}"
    return {file: SOURCES[file].replace(old, new)}


def problems_of(root: Path, changes: dict[str, str]) -> list[Problem]:
    return validate_sources(write_sources(root / "src", changes))


def line_of(text: str, part: str) -> int:
    """The number, from 1, of the line of ``text`` on which ``part`` stands."""
    return text[: text.index(part)].count("\n") + 1
