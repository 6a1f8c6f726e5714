"""What a text means by a skill: a name, a file in an allowed folder, or the manifest itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loading_samples import library, manifest

from dcf.agents.loading import LoadRefused, SkillLibrary
from dcf.digest import digest
from dcf.skills import SkillCatalog

OLD = manifest("orders.quote", version="1.2.0")
NEW = manifest("orders.quote", version="1.10.0")
MAJOR = manifest("orders.quote", version="2.0.0")
KNOWN = library(OLD, NEW, MAJOR)


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("skill.orders.quote@1.2.0", "1.2.0"),
        ("orders.quote@1.2.0", "1.2.0"),
        ("skill://orders.quote@1.2.0", "1.2.0"),
        (" skill://skill.orders.quote@1.2.0 ", "1.2.0"),
        ("orders.quote@^1.2", "1.10.0"),
        ("skill://orders.quote@^1.2", "1.10.0"),
        ("orders.quote@~1.2.0", "1.2.0"),
        ("orders.quote@>=1.0.0 <2.0.0", "1.10.0"),
        ("orders.quote@1.x || >=3.0.0", "1.10.0"),
        ("orders.quote@*", "2.0.0"),
        ("orders.quote", "2.0.0"),
        (json.dumps(OLD.raw), "1.2.0"),
        ("\n  " + json.dumps(NEW.raw, indent=2), "1.10.0"),
    ],
)
def test_a_skill_is_found_by_every_way_to_name_it(text: str, version: str) -> None:
    assert KNOWN.find(text).manifest.version == version


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("orders.quote@^3.0", "SKILL_LOAD_UNKNOWN_SKILL"),
        ("orders.quote@", "SKILL_LOAD_UNKNOWN_SKILL"),
        ("skill://orders.quote@ ", "SKILL_LOAD_UNKNOWN_SKILL"),
        ("x" * 500_000, "SKILL_LOAD_UNKNOWN_SKILL"),
        ("x" * 9_000_000, "SKILL_LOAD_TOO_LARGE"),
        ("orders.quote@nonsense range", "SKILL_LOAD_UNKNOWN_SKILL"),
        ("", "SKILL_LOAD_UNKNOWN_SKILL"),
        ("skill://", "SKILL_LOAD_UNKNOWN_SKILL"),
        ("{", "SKILL_LOAD_JSON"),
        ("[]", "SKILL_LOAD_JSON"),
        ('[{"manifestId": "x"}]', "SKILL_LOAD_JSON"),
        ('{"a": ' * 3000 + "1" + "}" * 3000, "SKILL_LOAD_JSON"),
        (json.dumps({**OLD.raw, "skillDirectives": "x\ud800"}), "SKILL_LOAD_MANIFEST"),
        (
            json.dumps({**OLD.raw, "skillDirectives": "x\ud800"}, ensure_ascii=False),
            "SKILL_LOAD_MANIFEST",
        ),
        ("{}", "SKILL_MANIFEST_MISSING"),
        ("/etc/passwd", "SKILL_LOAD_PATH"),
        ("file:///etc/passwd", "SKILL_LOAD_PATH"),
        ("file://elsewhere/x.json", "SKILL_LOAD_PATH"),
        ("../../x.json", "SKILL_LOAD_PATH"),
        ("a/b\0c.json", "SKILL_LOAD_PATH"),
    ],
)
def test_what_cannot_be_found_is_refused_with_a_reason(text: str, code: str) -> None:
    with pytest.raises(LoadRefused) as refused:
        KNOWN.find(text)
    assert code in {problem.code for problem in refused.value.problems}


@given(
    st.sampled_from(["", "file://", "skill://", "{", "/", "a.b@", "../", "orders.quote@"]),
    st.text(),
    st.sampled_from(["", ".json", "}"]),
)
def test_no_text_is_too_strange_to_be_refused(start: str, text: str, end: str) -> None:
    try:
        found = KNOWN.find(start + text + end)
    except LoadRefused as refused:
        assert refused.problems
    else:
        assert found.manifest.name == "orders.quote"


@pytest.mark.parametrize(
    "text", ["file://[", "file://[::1", "x/" + "y" * 5000, "y" * 300 + ".json"]
)
def test_addresses_and_names_that_systems_refuse_are_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(LoadRefused, match="SKILL_LOAD_PATH"):
        library(roots=[tmp_path]).find(text)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of manifests beside a file that is nobody's business."""
    inside = tmp_path / "manifests"
    inside.mkdir()
    (inside / "quote.json").write_text(json.dumps(OLD.raw, indent=4))
    (inside / "with blank.json").write_text(json.dumps(NEW.raw))
    (tmp_path / "secret.json").write_text(json.dumps(MAJOR.raw))
    (inside / "link.json").symlink_to(tmp_path / "secret.json")
    (inside / "loop.json").symlink_to(inside / "loop.json")
    return inside


def test_files_are_read_inside_the_allowed_folders(folder: Path) -> None:
    found = library(roots=[folder])
    for text in (
        "quote.json",
        "./quote.json",
        str(folder / "quote.json"),
        f"file://{folder}/quote.json",
    ):
        assert found.find(text).manifest == OLD
    assert found.find(f"file://{folder}/with%20blank.json").manifest == NEW


def test_nothing_outside_is_read_by_whatever_way(folder: Path) -> None:
    found = library(roots=[folder])
    outside = folder.parent / "secret.json"
    for text in (
        "../secret.json", str(outside), f"file://{outside}", "link.json", "./x/../../secret.json",
        f"file://{folder}/..%2Fsecret.json", f"file://{folder}/%2e%2e/secret.json", "loop.json",
    ):  # fmt: skip
        with pytest.raises(LoadRefused) as refused:
            found.find(text)
        assert {problem.code for problem in refused.value.problems} <= {
            "SKILL_LOAD_PATH", "SKILL_LOAD_UNREADABLE"
        }, text  # fmt: skip


def test_a_file_is_known_by_the_digest_of_its_bytes_or_of_its_manifest(folder: Path) -> None:
    found = library(roots=[folder]).find("quote.json")
    assert set(found.digests) == {OLD.digest, digest((folder / "quote.json").read_bytes())}


def test_a_missing_file_is_said_so(folder: Path) -> None:
    with pytest.raises(LoadRefused):
        library(roots=[folder]).find(str(folder / "nothing.json"))


def test_a_skill_that_is_not_the_one_of_the_lock_is_refused() -> None:
    locked = {OLD.manifest_id: OLD.digest, NEW.manifest_id: OLD.digest}
    found = SkillLibrary(SkillCatalog([OLD, NEW, MAJOR]), locked=locked)
    assert found.find("orders.quote@1.2.0").manifest == OLD
    with pytest.raises(LoadRefused) as changed:
        found.find("orders.quote@1.10.0")
    assert NEW.digest in str(changed.value)
    assert OLD.digest in str(changed.value)
    with pytest.raises(LoadRefused, match=r"not in skills\.lock"):
        found.find("orders.quote@2.0.0")


def test_every_dependency_that_is_missing_is_named_at_once() -> None:
    top = manifest("top", needs=["one@^1", "two", "fine"])
    with pytest.raises(LoadRefused) as refused:
        library(top, manifest("fine", needs=["three"])).with_needed(top)
    assert {word for word in ("one@^1", "two", "three") if word in str(refused.value)} == {
        "one@^1", "two", "three"
    }  # fmt: skip


def test_a_generated_folder_gives_catalog_files_and_lock(tmp_path: Path) -> None:
    (tmp_path / "manifests").mkdir()
    (tmp_path / "catalogs").mkdir()
    (tmp_path / "manifests/quote.json").write_text(json.dumps(OLD.raw))
    entry = {"manifestId": OLD.manifest_id, "path": "../manifests/quote.json"}
    (tmp_path / "catalogs/skills_catalog.json").write_text(json.dumps({"skills": [entry]}))
    assert SkillLibrary.load(tmp_path).find("orders.quote").manifest == OLD
    assert SkillLibrary.load(tmp_path).find("quote.json").manifest == OLD
    pinned = {OLD.manifest_id: {"digest": "sha256:" + "0" * 64}}
    lock = {"lockVersion": 2, "artefacts": {}, "skills": pinned, "tools": {}}
    (tmp_path / "skills.lock").write_text(json.dumps(lock))
    with pytest.raises(LoadRefused, match="SKILL_LOAD_INTEGRITY"):
        SkillLibrary.load(tmp_path).find("orders.quote")
    stub = '{"version": 1, "seed": 0, "servers": {}}'
    for broken in ("{", "[]", "{}", '{"skills": {"x": 1}}', '{"lockVersion": 2}', stub):
        (tmp_path / "skills.lock").write_text(broken)
        with pytest.raises(LoadRefused, match="SKILL_LOAD_LOCK"):
            SkillLibrary.load(tmp_path)
