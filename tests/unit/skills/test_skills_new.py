"""``new_skill``: valid at once, nothing overwritten, files of the author only added to."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from skill_samples import SOURCES, write_sources

from dcf.skills import SkillOrder, generate_all, new_skill, validate_sources
from dcf.skills.authoring.yaml_insert import insert_entry, insert_item

HEADER = "# yaml-language-server: $schema="


def files(root: Path) -> dict[str, str]:
    return {
        path.relative_to(root).as_posix(): path.read_text()
        for path in root.rglob("*")
        if path.is_file()
    }


def test_the_first_skill_of_an_empty_folder_brings_everything_it_needs(tmp_path: Path):
    root, out = tmp_path / "skills_src", tmp_path / "generated"
    made = new_skill(root, out, SkillOrder("tea.brew", ("kettle:boil", "kettle:pour")))
    assert made.problems == []
    assert made.written == [
        "skills/tea/brew.skill.yaml",
        "tools/kettle.tools.yaml",
        "tools/_index.yaml",
        "registry.yaml",
    ]
    result = generate_all(root, out)
    assert result.problems == ()
    for name, text in files(root).items():
        first = text.splitlines()[0]
        assert first.startswith(HEADER)
        assert (root / name).parent.joinpath(first.removeprefix(HEADER)).resolve().is_file()


def test_a_skill_without_tools_is_valid_too(tmp_path: Path):
    assert new_skill(tmp_path / "src", tmp_path / "out", SkillOrder("lonely")).problems == []
    assert validate_sources(tmp_path / "src") == []


def test_a_tool_that_exists_is_used_as_it_is(tmp_path: Path):
    root = write_sources(tmp_path / "src")
    before = files(root)
    made = new_skill(root, tmp_path / "out", SkillOrder("tea.serve", ("kettle:pour",)))
    assert (made.written, made.extended) == (["skills/tea/serve.skill.yaml"], [])
    assert {name: files(root)[name] for name in before} == before
    assert validate_sources(root) == []


def test_a_new_server_is_added_to_index_and_registry(tmp_path: Path):
    root = write_sources(tmp_path / "src")
    before = files(root)
    order = SkillOrder("tea.serve", ("kettle:pour", "cup:fill"), 'Say: "a # b"', ("a",), "high")
    made = new_skill(root, tmp_path / "out", order)
    assert made.extended == ["tools/_index.yaml", "registry.yaml"]
    assert validate_sources(root) == []
    for name in made.extended:
        old = before[name].splitlines()
        assert [
            line for line in files(root)[name].splitlines() if line in old or "cup" not in line
        ][: len(old)]
    assert set(yaml.safe_load((root / "registry.yaml").read_text())["servers"]) == {"kettle", "cup"}


@pytest.mark.parametrize(
    ("order", "codes"),
    [
        (SkillOrder("Tea"), ["SKILL_NEW_NAME"]),
        (SkillOrder("../x"), ["SKILL_NEW_NAME"]),
        (SkillOrder("a", ("b",)), ["SKILL_NEW_TOOL"]),
        (SkillOrder("a", ("../b:c",), tags=("X Y",)), ["SKILL_NEW_NAME", "SKILL_NEW_TOOL"]),
        (SkillOrder("tea.brew"), ["SKILL_NEW_TAKEN"]),
        (SkillOrder("tea.other", ("kettle:whistle",)), ["SKILL_NEW_EXISTS"]),
    ],
)
def test_what_cannot_be_made_changes_nothing(tmp_path: Path, order: SkillOrder, codes: list[str]):
    root = write_sources(tmp_path / "src")
    before = files(root)
    made = new_skill(root, tmp_path / "out", order)
    assert [problem.code for problem in made.problems] == codes
    assert made.written == made.extended == []
    assert files(root) == before


def test_a_file_that_cannot_be_added_to_is_left_alone(tmp_path: Path):
    root = write_sources(tmp_path / "src", {"registry.yaml": "servers: [1]\n"})
    before = files(root)
    made = new_skill(root, tmp_path / "out", SkillOrder("tea.serve", ("cup:fill",)))
    assert [problem.code for problem in made.problems] == ["SKILL_NEW_EDIT"]
    assert files(root) == before


@pytest.mark.parametrize(
    "text",
    [
        "a: 1\nfiles:\n  - x.yaml # first\n  # of two\n  - y.yaml\n\n# end\nb: 2\n",
        "files:\n- x.yaml\n- y.yaml",
        "files: [x.yaml, y.yaml]  # two\n",
        "files: [\n  x.yaml,\n  y.yaml,\n]\nb: 1\n",
        "files: [x.yaml,\n  y.yaml]\n",
    ],
)
def test_an_item_joins_a_list_however_it_is_written(text: str):
    changed = insert_item(text, "files", "z.yaml")
    assert changed is not None
    old, new = yaml.safe_load(text), yaml.safe_load(changed)
    assert new == {**old, "files": ["x.yaml", "y.yaml", "z.yaml"]}
    assert [line for line in changed.splitlines() if "z.yaml" not in line] == [
        line for line in text.splitlines() if line in changed.splitlines()
    ]


@pytest.mark.parametrize(
    "text",
    [
        "servers: {}\n",
        "servers: {} # none yet\nb: 1\n",
        "servers:\nb: 1\n",
        "b: 1\nservers:",
        "servers:\n  x: &a\n    path: /x # here\n\n  # two\n  y: { <<: *a, path: /y }\n# end\n",
        "servers:\n  x:\n    args: |\n      long\n      text\nb: 1\n",
        "servers: { x: { path: /x } }\n",
    ],
)
def test_an_entry_joins_a_mapping_however_it_is_written(text: str):
    changed = insert_entry(text, "servers", "z", {"path": "${P:-/z}", "timeout": 3})
    assert changed is not None
    old, new = yaml.safe_load(text), yaml.safe_load(changed)
    assert new["servers"] == {**(old["servers"] or {}), "z": {"path": "${P:-/z}", "timeout": 3}}
    assert {key: new[key] for key in old if key != "servers"} == {
        key: old[key] for key in old if key != "servers"
    }
    assert changed.count("#") == text.count("#")


@pytest.mark.parametrize("text", ["", "[]", "a: [", "files: x", "other: []", "files: {a: b}"])
def test_what_cannot_be_extended_is_refused(text: str):
    assert insert_item(text, "files", "z.yaml") is None


words = st.text(alphabet="abc -:#'\"\n[]{}&*,|>", max_size=12)


@settings(max_examples=80, deadline=None)
@given(st.lists(words, max_size=4), st.sampled_from([None, True, False]), words)
def test_any_list_keeps_its_items(items: list[str], flow: bool | None, more: str):
    text = yaml.safe_dump({"a": more, "files": items, "z": [more]}, default_flow_style=flow)
    changed = insert_item(text, "files", "new.yaml")
    if changed is not None:
        assert yaml.safe_load(changed)["files"] == [*items, "new.yaml"]


@settings(max_examples=30, deadline=None)
@given(st.text(max_size=40), st.text(max_size=60), st.lists(st.text(max_size=10), max_size=2))
def test_any_order_is_carried_out_or_refused(name: str, description: str, refs: list[str]):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "src"
        made = new_skill(root, Path(folder) / "out", SkillOrder(name, tuple(refs), description))
        assert bool(made.problems) == (not root.exists())
        if not made.problems:
            assert validate_sources(root) == []


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=80))
def test_any_description_is_kept(description: str):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "src"
        made = new_skill(root, Path(folder) / "out", SkillOrder("tea.brew", (), description))
        if made.problems:
            return
        document = yaml.safe_load((root / "skills/tea/brew.skill.yaml").read_text())
        assert document["metadata"]["description"] == (description or "Say when to use this skill.")
        assert validate_sources(root) == []
    assert SOURCES
