"""Agent Skills: what the public specification asks for, and round trips that lose nothing.

Rules and limits are those of https://agentskills.io/specification.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from unit.skills.skill_samples import REPOSITORY, write_sources

from dcf.problem import Problem
from dcf.search import count_tokens
from dcf.skills import (
    Manifest,
    SkillCatalog,
    generate_all,
    index_tools,
    manifests_of,
    validate_sources,
)
from dcf.skills.agent_skills import (
    SkillFolder,
    authored_tools,
    export_skill,
    files_beside,
    folder_name,
    import_skill,
    read_folder,
    read_skill,
    write_folder,
)
from dcf.skills.authoring.source_tree import read_tree

SKILL_MD = """\
---
name: pdf-forms
description: Fill PDF forms. Use when somebody sends a form.
license: Apache-2.0
metadata: { author: acme, version: "2.1.0" }
allowed-tools: Bash(qpdf:*) Read
---

# PDF forms

Read [the fields](references/FIELDS.md) first, then run scripts/fill.py.
"""
FILES = {
    "SKILL.md": SKILL_MD.encode(),
    "references/FIELDS.md": b"# Fields\r\nname, date\r\n",
    "scripts/fill.py": b"import sys\nprint(sys.argv)\n",
    "assets/logo.png": bytes(range(256)),
    "LICENSE.txt": b"Apache\n",
}
NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def at(parent: Path, files: dict[str, bytes], name: str = "pdf-forms") -> Path:
    write_folder(SkillFolder(name, files), parent)
    return parent / name


def front(text: bytes) -> dict[str, Any]:
    """The frontmatter as any YAML reader has it."""
    block = re.match(rb"---\n(.*?)^---$", text, re.DOTALL | re.MULTILINE)
    assert block
    return dict(yaml.safe_load(block[1]))


def codes(problems: list[Problem] | tuple[Problem, ...], severity: str = "error") -> set[str]:
    return {problem.code for problem in problems if problem.severity == severity}


def manifest(**members: Any) -> Manifest:
    document = {
        "manifestApiVersion": "v2.1.0",
        "skillPackageId": None,
        "manifestId": "skill.tea.brew@1.0.0",
        "skillName": "tea.brew",
        "skillVersion": "1.0.0",
        "skillDirectives": "Boil, then wait.",
        **members,
    }
    return Manifest.from_document(document)


def data(id: str, text: str, description: str = "") -> dict[str, Any]:
    content = {"type": "text_content", "text": text}
    source = {"dataSourceId": id, "destination": "archival_memory", "content": content}
    return {**source, "description": description}


# ------------------------------------------------------------------------------------- export

EXAMPLES = list(SkillCatalog.load(REPOSITORY / "generated"))


@pytest.mark.parametrize("skill", EXAMPLES, ids=lambda skill: str(skill.name))
def test_every_example_becomes_a_folder_that_keeps_the_rules(skill: Manifest) -> None:
    folder = export_skill(skill)
    fields = front(folder.files["SKILL.md"])
    keys = {"name", "description", "license", "compatibility", "metadata", "allowed-tools"}
    assert set(fields) <= keys
    assert fields["name"] == folder.name and len(folder.name) <= 64 and NAME.fullmatch(folder.name)
    assert 1 <= len(fields["description"]) <= 1024
    assert 1 <= len(fields.get("compatibility", "x")) <= 500
    assert all(isinstance(value, str) for value in fields["metadata"].values())
    assert json.loads(folder.files["dcf.manifest.json"]) == skill.raw


def test_tools_are_never_exported_as_allowed() -> None:
    skill = next(skill for skill in EXAMPLES if skill.permissions.risk_level == "high")
    assert skill.tools
    assert b"allowed-tools" not in export_skill(skill).files["SKILL.md"]


@pytest.mark.parametrize(
    ("name", "folder"),
    [("orders.charge_payment", "orders-charge-payment"), ("A..B__c-", "a-b-c"), ("é", "skill")],
)
def test_a_name_becomes_one_that_the_specification_allows(name: str, folder: str) -> None:
    assert folder_name(name) == folder


def test_long_names_stay_apart() -> None:
    one, other = folder_name("a" * 80 + ".x"), folder_name("a" * 80 + ".y")
    assert one != other and len(one) <= 64 and NAME.fullmatch(one)


def test_long_directives_go_on_in_a_reference_that_the_body_names() -> None:
    steps = "".join(f"## Step {n}\n\nTake the {n}th cup and pour.\n\n" for n in range(400))
    folder = export_skill(manifest(skillDirectives=steps))
    body = folder.files["SKILL.md"].decode().partition("---\n\n")[2]
    assert len(body.splitlines()) < 500 and count_tokens(body) < 5000
    assert "references/instructions.md" in body
    rest = folder.files["references/instructions.md"].decode()
    assert rest.startswith("## Step ")
    assert body.partition("\n\nThe instructions go on")[0].strip() in steps
    assert steps.endswith(rest)


def test_a_skill_without_description_is_described_by_its_directives() -> None:
    fields = front(export_skill(manifest(skillDirectives="x" * 3000)).files["SKILL.md"])
    assert 1 <= len(fields["description"]) <= 1024


TEXTS = st.text(st.characters(blacklist_categories=("Cs",)), max_size=200)
WORDS = TEXTS.filter(lambda text: bool(text.strip()) and bool(re.search(r"\S", text)))
SOURCES = st.lists(
    st.builds(
        data,
        st.text(min_size=1, max_size=20),
        TEXTS,
        TEXTS | st.sampled_from(["File a/b.md", "File ../x", "File SKILL.md", "File A/B.md"]),
    ),
    max_size=4,
)


@settings(max_examples=200, deadline=None)
@given(directives=WORDS, description=TEXTS, sources=SOURCES, tags=st.lists(TEXTS, max_size=3))
def test_manifest_to_folder_to_manifest_is_the_same_manifest(
    directives: str, description: str, sources: list[dict[str, Any]], tags: list[str]
) -> None:
    skill = manifest(
        skillDirectives=directives,
        description=description,
        requiredDataSources=sources,
        tags=tags,
    )
    folder = export_skill(skill)
    read = read_skill(folder, Path(folder.name))
    assert read.manifest is not None, read.problems
    assert read.manifest.raw == skill.raw and read.manifest.digest == skill.digest
    assert codes(read.problems, "warning") <= {"AGENT_SKILL_LONG"}
    assert front(folder.files["SKILL.md"])["name"] == folder.name


# ------------------------------------------------------------------------------------- import


def bring(path: Path, src: Path) -> Manifest:
    """Import and check that the sources are valid."""
    result = import_skill(path, src, src.parent / "generated")
    assert codes(result.problems) == set() and result.manifest, result.problems
    assert codes(validate_sources(src)) == set(), validate_sources(src)
    return result.manifest


def again(src: Path, manifest_id: str) -> dict[str, bytes]:
    """The folder that the sources give, without what is ours."""
    skills, problems = manifests_of(src)
    assert codes(problems) == set(), problems
    skill = next(one for one in skills if one.manifest_id == manifest_id)
    folder = export_skill(skill, beside=files_beside(read_tree(src), manifest_id))
    return {path: data for path, data in folder.files.items() if path != "dcf.manifest.json"}


def test_a_public_skill_becomes_a_valid_source_and_the_same_folder_again(tmp_path: Path) -> None:
    src = tmp_path / "skills_src"
    skill = bring(at(tmp_path / "public", FILES), src)
    assert (skill.name, skill.version) == ("pdf-forms", "2.1.0")
    assert skill.directives == SKILL_MD.partition("Read\n---\n")[2]
    assert skill.tools == ()  # allowed-tools grants nothing
    texts = {source.description: source.text for source in skill.data_sources}
    assert texts["File references/FIELDS.md"] == "# Fields\r\nname, date\r\n"
    assert again(src, "skill.pdf-forms@2.1.0") == FILES


def test_what_is_kept_without_a_meaning_is_said(tmp_path: Path) -> None:
    text = SKILL_MD.replace("license:", "model: big\nlicense:")
    path = at(tmp_path, {**FILES, "SKILL.md": text.encode()})
    result = import_skill(path, tmp_path / "src", tmp_path / "generated")
    told = {problem.code: problem for problem in result.problems}
    assert {problem.severity for problem in result.problems} == {"warning"}
    assert set(told) == {
        "AGENT_SKILL_KEY",
        "AGENT_SKILL_ALLOWED_TOOLS",
        "AGENT_SKILL_SCRIPT",
        "AGENT_SKILL_BINARY",
    }
    assert told["AGENT_SKILL_KEY"].line == 4


BAD = """\
---
name: -PDF--Forms
compatibility: ""
metadata: [a]
allowed-tools: 7
---
x
"""


def test_all_problems_are_told_at_once_with_their_lines(tmp_path: Path) -> None:
    path = at(tmp_path, {"SKILL.md": BAD.encode()})
    result = import_skill(path, tmp_path / "src", tmp_path / "generated")
    found = {(problem.code, problem.line) for problem in result.problems}
    assert found == {
        ("AGENT_SKILL_MISSING", 2),
        ("AGENT_SKILL_NAME", 2),
        ("AGENT_SKILL_EMPTY", 3),
        ("AGENT_SKILL_TYPE", 4),
        ("AGENT_SKILL_TYPE", 5),
    }
    assert all(problem.hint and problem.file for problem in result.problems)
    assert not (tmp_path / "src").exists()


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (b"# no frontmatter\n", "AGENT_SKILL_FRONTMATTER"),
        (b"---\nname: pdf-forms\n", "AGENT_SKILL_FRONTMATTER"),
        (b"---\nname: a: b\n---\n", "SKILL_YAML_SYNTAX"),
        (b"---\n---\nx\n", "AGENT_SKILL_MISSING"),
        (b"---\nname: other\ndescription: x\n---\n", "AGENT_SKILL_FOLDER"),
        (b"---\nname: pdf-forms\ndescription: " + b"x" * 1025 + b"\n---\n", "AGENT_SKILL_LENGTH"),
        (b"\xff\xfe", "AGENT_SKILL_TEXT"),
    ],
)
def test_a_file_that_is_no_skill_is_refused(tmp_path: Path, text: bytes, code: str) -> None:
    result = import_skill(at(tmp_path, {"SKILL.md": text}), tmp_path / "src", tmp_path / "out")
    assert code in codes(result.problems)
    assert result.manifest is None


def test_links_that_lead_out_of_the_folder_are_refused(tmp_path: Path) -> None:
    path = at(tmp_path, FILES)
    (tmp_path / "secret").write_text("secret")
    (path / "notes.md").symlink_to(tmp_path / "secret")
    (path / "all").symlink_to(tmp_path)
    folder, problems = read_folder(path)
    assert folder is None and codes(problems) == {"AGENT_SKILL_LINK"} and len(problems) == 2


def test_a_folder_with_too_much_in_it_is_refused(tmp_path: Path) -> None:
    path = at(tmp_path, {**FILES, **{f"assets/{n}": b"" for n in range(600)}})
    assert codes(read_folder(path)[1]) == {"AGENT_SKILL_SIZE"}
    path = at(tmp_path, {**FILES, "big": bytes(17 * 1024 * 1024)}, "big")
    assert codes(read_folder(path)[1]) == {"AGENT_SKILL_SIZE"}


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    path, src = at(tmp_path, FILES), tmp_path / "src"
    bring(path, src)
    before = {file: file.read_bytes() for file in src.rglob("*") if file.is_file()}
    result = import_skill(path, src, tmp_path / "generated")
    assert {"AGENT_SKILL_TAKEN", "SKILL_NEW_EXISTS"} == codes(result.problems)
    assert {file: file.read_bytes() for file in src.rglob("*") if file.is_file()} == before


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    result = import_skill(at(tmp_path, FILES), tmp_path / "src", tmp_path / "out", dry_run=True)
    assert "skills/imported/pdf-forms.skill.yaml" in result.written
    assert not (tmp_path / "src").exists()


def test_a_file_that_would_be_read_as_a_source_is_refused(tmp_path: Path) -> None:
    path = at(tmp_path, {**FILES, "x.skill.yaml": b"apiVersion: skill/v1\n"})
    assert "AGENT_SKILL_PATH" in codes(import_skill(path, tmp_path / "s", tmp_path).problems)


@pytest.mark.parametrize("body", ["", "\n", " \n\n"])
def test_a_skill_without_instructions_follows_its_description(tmp_path: Path, body: str) -> None:
    text = f"---\nname: pdf-forms\ndescription: Fill forms.\n---\n{body}".encode()
    skill = bring(at(tmp_path, {"SKILL.md": text}), tmp_path / "src")
    assert skill.directives == "Fill forms."
    assert again(tmp_path / "src", skill.manifest_id) == {"SKILL.md": text}


def test_a_name_that_begins_with_a_digit_is_kept_in_the_folder(tmp_path: Path) -> None:
    text = b"---\nname: 3d-print\ndescription: Print.\n---\nPrint.\n"
    skill = bring(at(tmp_path, {"SKILL.md": text}, "3d-print"), tmp_path / "src")
    assert skill.name == "skill-3d-print"
    assert export_skill(skill).name == "3d-print"
    assert again(tmp_path / "src", skill.manifest_id) == {"SKILL.md": text}


PATHS = st.lists(
    st.sampled_from(["references", "scripts", "assets", "a", "B", "b", "x.md", "Y.md", " z", "ü"]),
    min_size=1,
    max_size=3,
).map("/".join)
CONTENTS = st.binary(max_size=60) | TEXTS.map(str.encode)
LINES = st.lists(st.sampled_from(["# x", "", " a\t", "é\u2028", "\x07", "- [x](a)", "---"])).map(
    "\n".join
)
BODIES = (TEXTS | LINES).map(lambda text: text.replace("\0", ""))


def no_file_is_a_folder(files: dict[str, bytes]) -> bool:
    return not any(other.startswith(f"{path}/") for path in files for other in files)


@settings(max_examples=60, deadline=None)
@given(
    body=BODIES,
    description=WORDS,
    files=st.dictionaries(PATHS, CONTENTS, max_size=4).filter(no_file_is_a_folder),
    ends=st.sampled_from(["\n", "\r\n"]),
)
def test_folder_to_source_to_folder_is_the_same_folder(
    tmp_path_factory: pytest.TempPathFactory,
    body: str,
    description: str,
    files: dict[str, bytes],
    ends: str,
) -> None:
    home = tmp_path_factory.mktemp("trip")
    described = json.dumps(description)  # YAML reads JSON's escapes
    head = ends.join(["---", "name: pdf-forms", f"description: {described}", "---", ""])
    files = {**files, "SKILL.md": (head + body).encode()}
    skill = bring(at(home / "public", files), home / "src")
    assert again(home / "src", skill.manifest_id) == files


# -------------------------------------------------------------------------------------- ours


def test_our_skill_in_another_tree_has_the_same_manifest(tmp_path: Path) -> None:
    write_sources(tmp_path / "src")
    assert generate_all(tmp_path / "src", tmp_path / "generated").ok
    skill = SkillCatalog.load(tmp_path / "generated").resolve("tea.brew")
    write_folder(export_skill(skill), tmp_path / "out")
    other = tmp_path / "other"
    assert bring(tmp_path / "out" / "tea-brew", other).digest == skill.digest
    assert [one.digest for one in manifests_of(other)[0]] == [skill.digest]


def test_tools_come_with_their_cases_and_no_others_do(tmp_path: Path) -> None:
    write_sources(tmp_path / "src")
    assert generate_all(tmp_path / "src", tmp_path / "generated").ok
    skill = SkillCatalog.load(tmp_path / "generated").resolve("tea.brew")
    index = index_tools(read_tree(tmp_path / "src").tools)
    tools = authored_tools(skill, index)
    more = {**tools, "safe:open": {"description": "Open it", "params": {"type": "object"}}}
    write_folder(export_skill(skill, tools=more), tmp_path / "out")
    assert bring(tmp_path / "out" / "tea-brew", tmp_path / "other").digest == skill.digest
    arrived = index_tools(read_tree(tmp_path / "other").tools).tools
    assert set(arrived) == set(tools)
    assert {ref: tool.place.value.get("cases") for ref, tool in arrived.items()} == {
        ref: tool.get("cases") for ref, tool in tools.items()
    }


@pytest.mark.parametrize("text", ["{", "[]", '{"tools": 3}', '{"tools": {"kettle:boil": 3}}'])
def test_tools_that_are_none_are_refused(tmp_path: Path, text: str) -> None:
    write_sources(tmp_path / "src")
    assert generate_all(tmp_path / "src", tmp_path / "generated").ok
    skill = SkillCatalog.load(tmp_path / "generated").resolve("tea.brew")
    folder = export_skill(skill)
    files = {**folder.files, "dcf.tools.json": text.encode()}
    write_folder(SkillFolder(folder.name, files), tmp_path / "out")
    other = tmp_path / "other"
    result = import_skill(tmp_path / "out" / folder.name, other, tmp_path / "made")
    assert "AGENT_SKILL_TOOLS" in {problem.code for problem in result.problems}
    assert not other.exists()


def test_an_edited_folder_holds_over_its_manifest(tmp_path: Path) -> None:
    skill = manifest(description="Brew.", requiredDataSources=[data("notes", "old", "Notes")])
    files = dict(export_skill(skill).files)
    text = files["SKILL.md"].decode()
    files["SKILL.md"] = text.replace("Boil, then wait.", "Wait, then boil.").encode()
    files["references/notes.md"] = b"new"
    files["references/more.md"] = b"more"
    read = read_skill(SkillFolder("tea-brew", files), Path("tea-brew"))
    assert read.manifest is not None
    assert read.manifest.directives == "Wait, then boil."
    assert {source.text for source in read.manifest.data_sources} == {"new", "more"}
    assert codes(read.problems, "warning") == {"AGENT_SKILL_EDITED"} and len(read.problems) == 3


def test_a_description_changed_since_the_import_is_exported(tmp_path: Path) -> None:
    skill = bring(at(tmp_path, FILES), tmp_path / "src")
    changed = Manifest.from_document({**skill.raw, "description": "Fill in: forms"})
    fields = front(export_skill(changed).files["SKILL.md"])
    assert fields["description"] == "Fill in: forms"
    assert fields["license"] == "Apache-2.0"
