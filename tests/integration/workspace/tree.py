"""A small source tree: three skills, two of which share a tool, one of high risk."""

from __future__ import annotations

from pathlib import Path

SKILL = """
apiVersion: skill/v1
kind: Skill
metadata:
  manifestId: skill.{name}@1.0.0
  name: {name}
  version: 1.0.0
  description: {description}
  tags: [{tag}]
spec:
  permissions: {{ egress: none, secrets: [], riskLevel: {risk} }}
  directives: |
    {description}
  tools:
{tools}
"""
PROFILE = """
  complexityProfile:
    baseWCS: 3
    dimensionScores: { horizon: 1, context: 1, tooling: 1, observability: 0, modality: 0,
                       precision: 0, adaptability: 0 }
    finalFCS: 3
    recommendedTier: 0
    maturityLevel: provisional
    sampleSize: 0
"""
TOOLS = """
apiVersion: tools/v1
kind: ToolsRegistry
servers:
  books:
    description: A library
    tools:
      find:
        version: 1.0.0
        description: Find a book.
        params: { type: object, properties: { title: { type: string } }, required: [title] }
        result: { type: object, properties: { shelf: { type: string } }, required: [shelf] }
        defaults: { response: { shelf: none }, latencyMs: 0 }
        cases:
          - id: known
            match: { strategy: exact, path: title, value: Emma }
            response: { shelf: A3 }
      burn:
        version: 1.0.0
        description: Burn a book.
        params: { type: object, properties: { title: { type: string } }, required: [title] }
        result: { type: object }
        defaults: { response: { burnt: true }, latencyMs: 0 }
"""
REGISTRY = """
apiVersion: registry/v1
kind: ServerRegistry
env: test
servers:
  books:
    transport: streamable_http
    endpoint: "${DCF_STUB_URL:-http://127.0.0.1:8765}"
    path: /mcp/books
"""


def write_tree(folder: Path) -> Path:
    """The source folder, made in ``folder``."""
    root = folder / "skills_src"
    (root / "skills").mkdir(parents=True)
    (root / "tools").mkdir()
    (root / "registry.yaml").write_text(REGISTRY)
    (root / "tools" / "_index.yaml").write_text(
        "apiVersion: tools-index/v1\nkind: ToolsIndex\nfiles: [books.tools.yaml]\n"
    )
    (root / "tools" / "books.tools.yaml").write_text(TOOLS)
    write_skill(root, "books.look_up", "Look up a book.", ["find"], more=PROFILE)
    write_skill(root, "books.lend", "Lend a book.", ["find"])
    write_skill(root, "books.weed", "Weed out a book.", ["find", "burn"], risk="high")
    return root


def write_skill(
    root: Path, name: str, description: str, tools: list[str], *, risk: str = "low", more: str = ""
) -> None:
    """One skill of the tree, written or overwritten."""
    listed = "\n".join(f'    - {{ ref: "books:{tool}", description: Used }}' for tool in tools)
    text = SKILL.format(
        name=name, description=description, tag=name.rpartition(".")[2], risk=risk, tools=listed
    )
    (root / "skills" / f"{name}.skill.yaml").write_text(text + more)
