"""Every rule of the sources, with the line it is broken on; and all of them at once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from skill_samples import (
    INDEX,
    INDEX_FILE,
    REGISTRY_FILE,
    SKILL,
    SKILL_FILE,
    SOURCES,
    TOOLS,
    TOOLS_FILE,
    edited,
    line_of,
    problems_of,
    write_sources,
)

from dcf.skills import generate_all, validate_sources


def test_the_sample_has_no_problem(tmp_path: Path):
    assert problems_of(tmp_path, {}) == []


CASE = "          - id: many\n            match: { strategy: exact, path: cups, value: 9 }\n"
CASE += "            response: { degrees: 60 }\n"


def case(match: str, rest: str = "") -> tuple[str, str, str]:
    return TOOLS_FILE, CASE, f"          - id: many\n            match: {{ {match} }}\n{rest}"


# rule, (file, old, new), the part of the new text on whose line the problem stands
ERRORS = [
    # the skill's shape
    ("SKILL_VALUE", (SKILL_FILE, "kind: Skill", "kind: Skil"), "kind: Skil"),
    ("SKILL_MISSING", (SKILL_FILE, "  version: 1.0.0\n", ""), "metadata:"),
    ("SKILL_UNKNOWN", (SKILL_FILE, "  tags: [tea]", "  tag: [tea]"), "tag: ["),
    ("SKILL_TYPE", (SKILL_FILE, "tags: [tea]", "tags: tea"), "tags: tea"),
    ("SKILL_VALUE", (SKILL_FILE, "riskLevel: low", "riskLevel: some"), "riskLevel"),
    ("SKILL_VALUE", (SKILL_FILE, "KETTLE_KEY", "kettle_key"), "kettle_key"),
    ("SKILL_VALUE", (SKILL_FILE, "low }", "low, files: [a/../../b] }"), "a/../../b"),
    ("SKILL_VALUE", (SKILL_FILE, "low }", "low, files: [/etc] }"), "/etc"),
    ("SKILL_VALUE", (SKILL_FILE, "Boil water, then wait.", '" "'), "directives"),
    # identity, tools, data, dependencies
    ("SKILL_ID_MISMATCH", (SKILL_FILE, "brew@1.0.0", "brew@1.0.1"), "manifestId"),
    ("SKILL_TOOL_UNKNOWN", (SKILL_FILE, "kettle:pour", "kettle:por"), "kettle:por"),
    (
        "SKILL_TOOL_TWICE",
        (SKILL_FILE, "kettle:pour", "kettle:boil"),
        "water\n    - ref: kettle:boil",
    ),
    ("SKILL_DATA_MISSING", (SKILL_FILE, "notes.md", "note.md"), "note.md"),
    ("SKILL_DATA_MISSING", (SKILL_FILE, "notes.md", "n" * 300), "nnn"),
    ("SKILL_DATA_OUTSIDE", (SKILL_FILE, "notes.md", "../../../x.md"), "../x.md"),
    ("SKILL_DATA_OUTSIDE", (SKILL_FILE, "notes.md", "/etc/hostname"), "/etc/hostname"),
    ("SKILL_DATA_CONTENT", (SKILL_FILE, "file: notes.md", "text: a\n      file: notes.md"), "- id"),
    ("SKILL_DATA_CONTENT", (SKILL_FILE, "\n      file: notes.md", ""), "- id: notes"),
    (
        "SKILL_DEPENDENCY_UNKNOWN",
        (SKILL_FILE, "  dataSources", "  dependencies: [skill.tea.bre@1.0.0]\n  dataSources"),
        "dependencies",
    ),
    (
        "SKILL_DEPENDENCY_SELF",
        (SKILL_FILE, "  dataSources", "  dependencies: [skill.tea.brew@1.0.0]\n  dataSources"),
        "dependencies",
    ),
    # tools
    ("TOOL_UNKNOWN", (TOOLS_FILE, "        result:", "        results:"), "results:"),
    ("TOOL_SCHEMA_INVALID", (TOOLS_FILE, "cups: { type: integer", "cups: { type: int"), "cups:"),
    (
        "TOOL_SCHEMA_REF",
        (TOOLS_FILE, "cups: { type: integer", "cups: { $ref: 'http://x.example/y'"),
        "cups:",
    ),
    (
        "TOOL_PARAMS_OBJECT",
        (TOOLS_FILE, "params:\n          type: object", "params:\n          type: array"),
        "params:",
    ),
    # cases
    ("TOOL_VALUE", case("strategy: equal, path: cups, value: 9"), "equal"),
    ("TOOL_CASE_PATH", case("strategy: exact, path: 'a..b', value: 9"), "a..b"),
    ("TOOL_CASE_PATH", case("strategy: exact, value: 9"), "value: 9"),
    ("TOOL_CASE_VALUE", case("strategy: exact, path: cups"), "path: cups"),
    ("TOOL_CASE_REGEX", case("strategy: regex, path: label, value: '('"), "value: '('"),
    ("TOOL_VALUE", case("strategy: always", "            errorMode: crash\n"), "crash"),
    ("TOOL_CASE_DUPLICATE", (TOOLS_FILE, CASE, CASE + CASE), CASE + CASE.splitlines()[0]),
    # the index
    ("TOOL_FILE_MISSING", (INDEX_FILE, "kettle.tools", "kettel.tools"), "kettel"),
    ("TOOL_FILE_MISSING", (INDEX_FILE, "kettle.tools", "k" * 300), "kkk"),
    ("TOOL_FILE_OUTSIDE", (INDEX_FILE, "kettle.tools.yaml", "../registry.yaml"), "registry"),
    ("TOOL_FILE_TWICE", (INDEX_FILE, "[kettle", "[kettle.tools.yaml, kettle"), "[kettle"),
    # the registry
    ("REG_TRANSPORT_WS", (REGISTRY_FILE, "    endpoint", "    transport: ws\n    endpoint"), "ws"),
    ("REG_ENDPOINT", (REGISTRY_FILE, "http://127", "ftp://127"), "ftp"),
    ("REG_ENDPOINT", (REGISTRY_FILE, "http://127", "http://me:secret@127"), "me:secret"),
    ("REG_ENDPOINT", (REGISTRY_FILE, "    endpoint: http://127.0.0.1:8765\n", ""), "kettle:"),
    ("REG_VALUE", (REGISTRY_FILE, "env: test", "env: moon"), "env: moon"),
    ("REG_VARIABLE", (REGISTRY_FILE, "http://127.0.0.1:8765", '"${KETTLE URL}"'), "${KETTLE"),
    ("REG_COMMAND_MISSING", (REGISTRY_FILE, "    path", "    transport: stdio\n    path"), "stdio"),
    (
        "REG_OVERRIDE_UNKNOWN",
        (REGISTRY_FILE, "servers:", "overrides: { staging: { kettel: {} } }\nservers:"),
        "kettel",
    ),
    ("REG_VALUE", (REGISTRY_FILE, "servers:", "overrides: { moon: {} }\nservers:"), "moon"),
    # credentials: certain ones are errors, in headers, arguments, variables and addresses
    (
        "REG_SECRET_LITERAL",
        (REGISTRY_FILE, "    path", "    headers: { X-Any: Bearer sk-%s }\n    path" % ("a1" * 12)),
        "X-Any",
    ),
    (
        "REG_SECRET_LITERAL",
        (REGISTRY_FILE, "    path", "    args: [--header, ghp_%s]\n    path" % ("a1" * 12)),
        "args",
    ),
]

# What the earlier system let pass, and what is doubtful: reported on its line, but no obstacle.
WARNINGS = [
    ("SKILL_VALUE", (SKILL_FILE, "tags: [tea]", "tags: [Tea Time]"), "tags"),
    ("SKILL_VALUE", (SKILL_FILE, "- id: notes", "- id: My.Notes"), "- id: My"),
    ("TOOL_VALUE", (TOOLS_FILE, "      pour:", "      pour/out:"), "pour/out:"),
    ("TOOL_VALUE", (TOOLS_FILE, "- id: many", "- id: so many"), "so many"),
    ("TOOL_CASE_PATH_UNKNOWN", case("strategy: exact, path: cup, value: 9"), "cup, value"),
    ("TOOL_CASE_ALWAYS", case("strategy: always, path: cups"), "always"),
    ("TOOL_CASE_VALUE_TYPE", case('strategy: exact, path: cups, value: "9"'), 'value: "9"'),
    ("SKILL_YAML_AMBIGUOUS", (SKILL_FILE, "required: false", "required: no"), "required: no"),
    ("REG_VALUE", (REGISTRY_FILE, "    path", "    retries: 11\n    path"), "retries"),
    ("SKILL_VALUE", (SKILL_FILE, "egress: none", "egress: moon"), "egress: moon"),
    ("TOOL_MISSING", (TOOLS_FILE, "        description: Pour the water.", "        {}"), "pour:"),
    ("TOOL_ANSWER_MISMATCH", (TOOLS_FILE, "{ degrees: 100 }", "{ degrees: hot }"), "degrees: hot"),
    ("TOOL_ANSWER_MISMATCH", (TOOLS_FILE, "{ degrees: 60 }", "{ warm: 60 }"), "{ warm: 60 }"),
    ("TOOL_CASE_VALUE_TYPE", case("strategy: exact, path: cups, value: many"), "value: many"),
    ("TOOL_CASE_VALUE_TYPE", case("strategy: exact, path: cups, value: 1.5"), "value: 1.5"),
    ("TOOL_CASE_VALUE_TYPE", case("strategy: exact, path: leaves, value: x"), "value: x"),
    (
        "TOOL_CASE_FAULT",
        case("strategy: always", "            flakyRate: 0.5\n"),
        "flakyRate: 0.5",
    ),
    ("TOOL_CASE_FAULT", case("strategy: always", "            errorCode: X\n"), "errorCode: X"),
    (
        "TOOL_CASE_RESPONSE",
        case(
            "strategy: always",
            "            response: { degrees: 1 }\n"
            "            responseTemplate: '{\"degrees\": 1}'\n",
        ),
        "responseTemplate",
    ),
    (
        "TOOL_ANSWER_MISMATCH",
        case("strategy: always", '            responseTemplate: \'{"degrees": "1 {{ cups }}"}\'\n'),
        "responseTemplate",
    ),
    (
        "TOOL_PLACEHOLDER_UNKNOWN",
        case("strategy: always", "            response: { degrees: '{{ args.cup }}' }\n"),
        "args.cup",
    ),
    (
        "REG_STDIO_REFUSED",
        (REGISTRY_FILE, "    path", "    transport: stdio\n    command: kettled\n    path"),
        "stdio",
    ),
    ("REG_VALUE", (REGISTRY_FILE, "    path", "    timeout: 30000\n    path"), "timeout"),
    *(
        ("REG_SECRET_LITERAL", (REGISTRY_FILE, "    path", f"    {member}\n    path"), member[:5])
        for member in (
            "headers: { Authorization: Bearer abc }",
            'headers: { X-Api-Key: "${KEY:-}${TOKEN:-abc}" }',
            "environment: { KETTLE_PASSWORD: abc }",
            "args: [serve, --token=abc]",
            "args: [serve, --api-key, abc]",
        )
    ),
    (
        "REG_SECRET_LITERAL",
        (REGISTRY_FILE, "http://127.0.0.1:8765", "http://127.0.0.1:8765/?api_key=abc"),
        "api_key",
    ),
]


@pytest.mark.parametrize(("rule", "edit", "part"), ERRORS, ids=lambda value: str(value)[:30])
def test_a_broken_rule_is_reported_on_its_line(
    tmp_path: Path, rule: str, edit: tuple[str, str, str], part: str
):
    changes = edited(*edit)
    [(file, text)] = changes.items()
    found = [problem for problem in problems_of(tmp_path, changes) if problem.code == rule]
    assert found, f"{rule} is not reported"
    [problem] = found
    assert problem.is_error
    assert problem.file == str(tmp_path / "src" / file)
    assert problem.line == line_of(text, part) + part[:-1].count("\n")
    assert problem.column


@pytest.mark.parametrize(("rule", "edit", "part"), WARNINGS, ids=lambda value: str(value)[:30])
def test_a_doubtful_place_draws_a_warning_on_its_line_and_is_no_obstacle(
    tmp_path: Path, rule: str, edit: tuple[str, str, str], part: str
):
    changes = edited(*edit)
    if "kettle:pour" not in changes.get(SKILL_FILE, SKILL) or "pour/out" in edit[2]:
        changes[SKILL_FILE] = SKILL.replace("    - ref: kettle:pour\n      required: false\n", "")
    [problem] = problems_of(tmp_path, changes)
    assert (problem.code, problem.severity) == (rule, "warning")
    assert problem.line == line_of(changes[edit[0]], part)
    assert generate_all(tmp_path / "src", tmp_path / "out").ok


def test_a_secret_that_the_environment_holds_draws_nothing(tmp_path: Path):
    entry = """    headers: { Authorization: "Bearer ${KETTLE_KEY}", X-Tenant: kitchen }
    environment: { KETTLE_KEY: "${KETTLE_KEY}" }
    args: [--token, "${KETTLE_KEY}", "--key=${KETTLE_KEY}", --verbose]
    path"""
    assert problems_of(tmp_path, edited(REGISTRY_FILE, "    path", entry)) == []


def test_all_problems_of_all_files_are_reported_at_once(tmp_path: Path):
    broken = {
        SKILL_FILE: SKILL.replace("kettle:pour", "kettle:poor").replace("[tea]", "[Tea]"),
        "skills/kitchen/syntax.skill.yaml": "metadata: [",
        "skills/other/empty.skill.yaml": "{}",
        TOOLS_FILE: TOOLS.replace("degrees: 60", "degrees: warm"),
        INDEX_FILE: INDEX.replace("]", ", gone.tools.yaml]"),
        REGISTRY_FILE: SOURCES[REGISTRY_FILE].replace("  kettle:", "  teapot:"),
    }
    problems = problems_of(tmp_path, broken)
    assert {problem.code for problem in problems} == {
        "SKILL_VALUE",
        "SKILL_TOOL_UNKNOWN",
        "SKILL_YAML_SYNTAX",
        "SKILL_MISSING",
        "TOOL_ANSWER_MISMATCH",
        "TOOL_FILE_MISSING",
        "REG_SERVER_MISSING",
    }
    assert {problem.file for problem in problems} == {
        str(tmp_path / "src" / name) for name in broken if name != REGISTRY_FILE
    }
    places = [(problem.file, problem.line, problem.column) for problem in problems]
    assert places == sorted(places)  # type: ignore[type-var]
    assert sum(problem.code == "SKILL_MISSING" for problem in problems) == 4


def test_an_unknown_tool_comes_with_the_closest_names(tmp_path: Path):
    [problem] = problems_of(tmp_path, edited(SKILL_FILE, "kettle:pour", "ketle:pour"))
    assert problem.hint == "did you mean kettle:pour or kettle:boil?"


def test_a_manifest_id_is_taken_once(tmp_path: Path):
    copy = {"skills/other/copy.skill.yaml": SKILL.replace("notes.md", "../kitchen/notes.md")}
    [problem] = problems_of(tmp_path, copy)
    assert problem.code == "SKILL_DUPLICATE"
    assert f"{SKILL_FILE}, line 4" in problem.message


def test_of_a_tool_in_two_files_the_later_holds_with_a_warning(tmp_path: Path):
    later = TOOLS.replace("      boil:", "      brew:").replace("Pour the", "Pour all the")
    changes = {
        "tools/more.tools.yaml": later,
        INDEX_FILE: INDEX.replace("]", ", more.tools.yaml]"),
    }
    [problem] = problems_of(tmp_path, changes)
    assert (problem.code, problem.severity) == ("TOOL_DUPLICATE", "warning")
    assert "kettle:pour" in problem.message
    assert problem.file == str(tmp_path / "src/tools/more.tools.yaml")
    generate_all(tmp_path / "src", tmp_path / "out")
    config = json.loads((tmp_path / "out/stub/stub_config.json").read_bytes())
    tools = config["servers"]["kettle"]["tools"]
    assert set(tools) == {"boil", "brew", "pour"}
    assert tools["pour"]["description"] == "Pour all the water."


def test_tools_whose_names_meet_for_agents_are_refused(tmp_path: Path):
    twins = TOOLS.replace("      pour:", "      pour.out:") + "      pour_out: { description: x }\n"
    changes = {TOOLS_FILE: twins, **edited(SKILL_FILE, "kettle:pour", "kettle:pour.out")}
    assert [problem.code for problem in problems_of(tmp_path, changes)] == ["TOOL_NAME_COLLISION"]


def test_a_skill_cannot_use_two_servers_tools_of_one_name(tmp_path: Path):
    other = "  pot: { tools: { boil: { description: x } } }\n"
    changes = {
        TOOLS_FILE: TOOLS + other,
        REGISTRY_FILE: SOURCES[REGISTRY_FILE] + "  pot: { endpoint: 'http://127.0.0.1:1' }\n",
        **edited(SKILL_FILE, "kettle:pour", "pot:boil"),
    }
    assert [problem.code for problem in problems_of(tmp_path, changes)] == ["SKILL_TOOL_COLLISION"]


def test_a_tools_file_that_is_not_listed_draws_a_warning(tmp_path: Path):
    [problem] = problems_of(tmp_path, {"tools/new.tools.yaml": "{}"})
    assert (problem.code, problem.severity) == ("TOOL_FILE_UNLISTED", "warning")
    assert "new.tools.yaml" in problem.message


@pytest.mark.parametrize(
    "answer",
    [
        "response: { degrees: '{{ args.cups }}' }",  # takes the type of its value
        "response: { degrees: 5, label: 'for {{ cups }} at {{ now_iso }}' }",
        'responseTemplate: \'{"degrees": "{{ random_int(1, 6) }}"}\'',
        "{ errorMode: throw, errorCode: Dry, response: [free, form] }",
    ],
)
def test_answers_that_fit(tmp_path: Path, answer: str):
    rest = "".join(f"            {part}\n" for part in [answer] if not answer.startswith("{"))
    if answer.startswith("{"):
        members = answer.strip("{} ").split(", ", 2)
        rest = "".join(f"            {member}\n" for member in members)
    assert problems_of(tmp_path, edited(*case("strategy: always", rest))) == []


def test_missing_sources_are_problems(tmp_path: Path):
    [problem] = validate_sources(tmp_path / "nowhere")
    assert problem.code == "SKILL_SOURCE_MISSING"
    (tmp_path / "empty").mkdir()
    problems = validate_sources(tmp_path / "empty")
    assert [problem.code for problem in problems] == ["SKILL_SOURCE_MISSING"] * 3


def test_files_that_are_no_text_are_problems(tmp_path: Path):
    root = write_sources(tmp_path)
    (root / SKILL_FILE).write_bytes(b"kind: Skill\nmetadata: \xff\n")
    (root / TOOLS_FILE).write_bytes(b"#" * 1_100_000)
    found = {problem.code: problem for problem in validate_sources(root)}
    assert found.keys() == {"SKILL_FILE_ENCODING", "SKILL_FILE_SIZE"}
    assert found["SKILL_FILE_ENCODING"].line == 2


def test_a_link_out_of_the_sources_is_not_followed(tmp_path: Path):
    (tmp_path / "secret.md").write_text("secret")
    root = write_sources(tmp_path / "src")
    (root / "skills/kitchen/notes.md").unlink()
    (root / "skills/kitchen/notes.md").symlink_to(tmp_path / "secret.md")
    assert [problem.code for problem in validate_sources(root)] == ["SKILL_DATA_OUTSIDE"]


def test_a_single_tools_yaml_is_read_when_there_is_no_index(tmp_path: Path):
    root = write_sources(tmp_path, {"tools.yaml": TOOLS})
    (root / INDEX_FILE).unlink()
    (root / TOOLS_FILE).unlink()
    assert validate_sources(root) == []


@pytest.mark.parametrize("egress", ["none", "intranet"])
def test_a_tool_on_the_internet_that_a_skill_may_not_reach_draws_a_warning(
    tmp_path: Path, egress: str
):
    far = edited(REGISTRY_FILE, "http://127.0.0.1:8765", "https://kettles.example.com")
    skill = SKILL.replace("egress: none", f"egress: {egress}")
    found = [one for one in problems_of(tmp_path, {**far, SKILL_FILE: skill}) if one.line]
    assert {one.code for one in found} == {"SKILL_EGRESS_SHORT"}
    assert {one.severity for one in found} == {"warning"}
    assert {one.line for one in found} == {line_of(skill, f"egress: {egress}")}
    assert "kettles.example.com is on the internet" in found[0].message


@pytest.mark.parametrize(
    "address",
    ["http://10.0.0.7", "http://kettles", "http://k.internal", "${KETTLES:-https://k.example.com}"],
)
def test_a_tool_that_is_near_or_may_be_draws_none(tmp_path: Path, address: str):
    changes = edited(REGISTRY_FILE, "http://127.0.0.1:8765", address)
    assert not [p for p in problems_of(tmp_path, changes) if p.code == "SKILL_EGRESS_SHORT"]


@pytest.mark.parametrize("written", ["[%s]", "[%s, %s]", "[KETTLE_KEY, %s, 5]"])
def test_a_secret_in_the_place_of_its_name_is_shown_cut(tmp_path: Path, written: str):
    secret = "ghp_" + "q7" * 18
    changes = edited(SKILL_FILE, "[KETTLE_KEY]", written.replace("%s", secret))
    found = problems_of(tmp_path, changes)
    assert any("ghp_…" in one.message for one in found)
    assert "q7" not in json.dumps([one.to_dict() for one in found], ensure_ascii=False)
