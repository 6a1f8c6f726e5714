"""Whatever stands in the sources, the answer is a list of problems."""

from __future__ import annotations

import copy
import tempfile
from pathlib import Path
from typing import Any

import yaml
from campaigns import campaign
from hypothesis import given, settings
from hypothesis import strategies as st
from skill_samples import (
    REGISTRY,
    REGISTRY_FILE,
    SKILL,
    SKILL_FILE,
    SOURCES,
    TOOLS,
    TOOLS_FILE,
    write_sources,
)

from dcf.problem import has_errors
from dcf.skills import SkillCatalog, generate_all

EXTRA_SKILL = """\
  dependencies: []
  tests:
    - { name: one, tool: "kettle:boil", arguments: { cups: 9 }, expect: { contains: {} } }
"""
EXTRA_CASE = """\
            arguments: { cups: 9 }
            sequence: { steps: [{ response: { degrees: 60 } }, { errorMode: flaky }], then: cycle }
"""
EXTRA_REGISTRY = """\
    headers: { Authorization: "Bearer ${KETTLE_KEY}" }
    args: [--token, "${KETTLE_KEY}"]
    environment: { KETTLE_KEY: "${KETTLE_KEY}" }
overrides: { production: { kettle: { endpoint: "https://kettle.example.org?a=b" } } }
"""
POLICY = """\
apiVersion: policy/v1
kind: ToolPolicy
approvers: { desk: { kind: person, people: [ada] } }
rules: [{ tools: ["kettle:*"], approvers: [desk, operator] }]
"""
PINS = """\
{"lockVersion": 1, "tools": {"kettle:boil": {"inputSchema": {}, "outputSchema": null,
"digest": "sha256:dacf9fc3c2daef077284f3f7e784b4b96582a433c651d347aee72e998b8e081e"}}}
"""
MORE = {
    SKILL_FILE: SKILL + EXTRA_SKILL,
    TOOLS_FILE: TOOLS.replace("            response: { degrees: 60 }\n", EXTRA_CASE),
    REGISTRY_FILE: REGISTRY + EXTRA_REGISTRY,
    "policy.yaml": POLICY,
    "tools.lock.json": PINS,
}
DOCUMENTS = {
    name: yaml.safe_load(text)
    for name, text in {**SOURCES, **MORE}.items()
    if name.endswith(("yaml", "json"))
}
TRICKY = st.sampled_from(
    [
        *(
            "",
            "x",
            ":",
            "a:b",
            "${",
            "$",
            "[",
            "(",
            "../x",
            "\x00",
            "{{ x }}",
            "http://[",
            "#/$defs/a",
        ),
        *(None, True, 0, -1, 1.5, 10**30, [], {}, [[]], [{}], [None]),
        *(
            {"": {}},
            {"$ref": "#"},
            {"$ref": "#/$defs/a", "$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}]}}},
        ),
        *({"type": 5}, {"type": ["object"]}, {"properties": []}, {"properties": {"a": 5}}),
        *("tea.brew@", "@^1", "skill://", "tea.brew@^0.9 || 1.x", "1" * 300, "sk-" + "a" * 20),
        *({"steps": []}, {"steps": [5]}, {"response": 1, "error": 2}, {"cups": "many"}),
        *({"strategy": "regex", "value": 5}, {"strategy": "exact", "path": "a..b", "value": 1}),
    ]
)


def spots(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path]
    members = value.items() if isinstance(value, dict) else ()
    elements = enumerate(value) if isinstance(value, list) else ()
    for step, inner in (*members, *elements):
        found.extend(spots(inner, (*path, step)))
    return found


def replaced(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    changed = copy.copy(document)
    changed[path[0]] = replaced(document[path[0]], path[1:], value)
    return changed


@st.composite
def damaged_sources(draw: st.DrawFn) -> dict[str, str]:
    changes = {}
    for name in draw(st.sets(st.sampled_from(sorted(DOCUMENTS)), min_size=1, max_size=2)):
        path = draw(st.sampled_from(spots(DOCUMENTS[name])))
        document = replaced(DOCUMENTS[name], path, draw(TRICKY))
        changes[name] = yaml.safe_dump(document, allow_unicode=True)
    return changes


def test_the_tree_that_is_damaged_is_whole_before(tmp_path: Path):
    assert generate_all(write_sources(tmp_path / "src", MORE), tmp_path / "out").ok


@campaign(shares=20)
@settings(max_examples=50, deadline=None)
@given(damaged_sources())
def test_any_damage_is_generated_or_refused_whole(share: int, changes: dict[str, str]):
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        result = generate_all(write_sources(Path(folder) / "src", {**MORE, **changes}), out)
        assert result.ok == (not has_errors(result.problems)) == out.exists()
        if result.ok:
            SkillCatalog.load(out)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(sorted({**SOURCES, **MORE})), st.binary(max_size=80) | st.text(max_size=80))
def test_any_bytes_in_a_file_are_generated_or_refused_whole(name: str, content: bytes | str):
    data = content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
    with tempfile.TemporaryDirectory() as folder:
        root = write_sources(Path(folder) / "src", MORE)
        (root / name).write_bytes(data)
        result = generate_all(root, Path(folder) / "out")
        assert result.ok == (Path(folder) / "out").exists()
