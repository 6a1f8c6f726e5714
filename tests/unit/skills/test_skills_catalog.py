"""Looking skills up: every alias, the newest version, and help with names that are wrong."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skill_samples import REPOSITORY

from dcf.skills import (
    CatalogUnreadable,
    InvalidManifest,
    Manifest,
    SkillCatalog,
    UnknownSkill,
)

GENERATED = REPOSITORY / "generated"


def manifest(name: str, version: str, **members: Any) -> Manifest:
    return Manifest.from_document(
        {
            "manifestApiVersion": "v2.1.0",
            "skillPackageId": None,
            "manifestId": f"skill.{name}@{version}",
            "skillName": name,
            "skillVersion": version,
            "skillDirectives": "Do it.",
            **members,
        }
    )


CATALOG = SkillCatalog(
    [
        manifest("tea.brew", "1.10.0"),
        manifest("tea.brew", "1.9.0"),
        manifest("tea.brew", "2.0.0-rc.1"),
        manifest("tea.brew", "2.0.0"),
        manifest("tea.pour", "0.1.0", skillPackageId="Teahouse"),
    ]
)


@pytest.mark.parametrize(
    ("ref", "manifest_id"),
    [
        ("skill.tea.brew@1.9.0", "skill.tea.brew@1.9.0"),
        ("tea.brew@1.9.0", "skill.tea.brew@1.9.0"),
        ("Tea.Brew@1.9.0", "skill.tea.brew@1.9.0"),
        ("skill://tea.brew@1.10.0", "skill.tea.brew@1.10.0"),
        ("skill://skill.tea.brew@1.10.0", "skill.tea.brew@1.10.0"),
        ("tea.brew@2.0.0-rc.1", "skill.tea.brew@2.0.0-rc.1"),
        ("skill://teahouse@0.1.0", "skill.tea.pour@0.1.0"),
        ("skill://tea.brew", "skill.tea.brew@2.0.0"),
        ("tea.brew", "skill.tea.brew@2.0.0"),
        ("skill.tea.pour", "skill.tea.pour@0.1.0"),
        ("tea.brew@^1", "skill.tea.brew@1.10.0"),
        ("skill://skill.tea.brew@~1.9.0", "skill.tea.brew@1.9.0"),
        ("tea.brew@>=1 <3", "skill.tea.brew@2.0.0"),
        ("tea.brew@1.9", "skill.tea.brew@1.9.0"),
    ],
)
def test_a_skill_is_found_by_each_of_its_names(ref: str, manifest_id: str):
    assert CATALOG.resolve(ref).manifest_id == manifest_id


@pytest.mark.parametrize(
    "ref", ["", "tea", "tea.brew@3.0.0", "tea.brew@^3", "tea.brew@new", "skill://", "@"]
)
def test_an_unknown_skill_is_an_error(ref: str):
    with pytest.raises(UnknownSkill):
        CATALOG.resolve(ref)


def test_an_unknown_skill_comes_with_the_closest():
    with pytest.raises(UnknownSkill, match=r"did you mean skill\.tea\.pour@0\.1\.0") as raised:
        CATALOG.resolve("skill://tea.pourr@0.1.0")
    assert raised.value.ref == "skill://tea.pourr@0.1.0"
    assert raised.value.closest[0] == "skill.tea.pour@0.1.0"


@given(st.text())
def test_any_text_is_a_skill_or_unknown(ref: str):
    try:
        CATALOG.resolve(ref)
    except UnknownSkill as error:
        assert len(error.closest) <= 3


def test_skills_are_listed_by_name_then_version():
    assert [skill.version for skill in CATALOG] == [
        "1.9.0",
        "1.10.0",
        "2.0.0-rc.1",
        "2.0.0",
        "0.1.0",
    ]


def test_the_digest_is_that_of_the_canonical_json():
    skill = manifest("tea.brew", "1.0.0", description="Grüner Tee")
    text = json.dumps(skill.raw, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert skill.digest == f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
    assert manifest("tea.brew", "1.0.0").digest != skill.digest


def test_the_generated_catalog_loads():
    catalog = SkillCatalog.load(GENERATED)
    skill = catalog.resolve("skill://orders.charge_payment@1.0.0")
    [tool] = skill.tools
    assert (tool.server_id, tool.tool_name, tool.name) == (
        "payments",
        "charge_payment",
        "charge_payment",
    )
    assert tool.required
    assert tool.description.startswith("Charge a customer's stored card")
    assert set(tool.input_schema["required"]) == {
        "order_id",
        "customer_id",
        "amount_cents",
        "currency",
    }
    assert skill.permissions.egress == "internet"
    assert skill.permissions.secrets == ("PAYMENTS_API_KEY",)
    assert skill.permissions.risk_level == "medium"
    assert skill.data_sources[0].text.startswith("# Rules for charges")


def write_catalog(root: Path, document: object) -> Path:
    (root / "catalogs").mkdir(parents=True)
    (root / "catalogs/skills_catalog.json").write_text(json.dumps(document))
    return root


@pytest.mark.parametrize(
    "document",
    [[], {}, {"skills": {}}, {"skills": [{}]}, {"skills": [{"path": "../manifests/gone.json"}]}],
)
def test_a_broken_catalog_says_so(tmp_path: Path, document: object):
    with pytest.raises(CatalogUnreadable, match="generate the skills again"):
        SkillCatalog.load(write_catalog(tmp_path, document))


def test_a_missing_catalog_says_so(tmp_path: Path):
    with pytest.raises(CatalogUnreadable, match="No such file"):
        SkillCatalog.load(tmp_path)


def test_a_catalog_never_leads_out_of_the_generated_folder(tmp_path: Path):
    (tmp_path / "other.json").write_text(json.dumps(manifest("tea.brew", "1.0.0").raw))
    root = write_catalog(tmp_path / "generated", {"skills": [{"path": "../../other.json"}]})
    with pytest.raises(CatalogUnreadable, match="outside"):
        SkillCatalog.load(root)


def test_a_version_too_long_to_be_compared_is_refused():
    assert manifest("a.b", "9" * 252 + ".0.0").version == "9" * 252 + ".0.0"
    with pytest.raises(InvalidManifest, match="skillVersion"):
        manifest("a.b", "9" * 5_000 + ".0.0")


def test_a_manifest_with_problems_is_refused_with_all_of_them(tmp_path: Path):
    root = write_catalog(tmp_path, {"skills": [{"path": "bad.json"}]})
    (root / "catalogs/bad.json").write_text('{"skillName": "", "tags": 1}')
    with pytest.raises(InvalidManifest, match=r"bad\.json") as raised:
        SkillCatalog.load(root)
    assert len(raised.value.problems) == 7
