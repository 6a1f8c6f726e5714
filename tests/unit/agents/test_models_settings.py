"""Names and settings of models: what wins, and what is wrong, said at once and without a key."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from dcf.agents.models import (
    ModelName,
    ModelNotConfigured,
    Models,
    NamedModel,
    Pace,
    model_problems,
    named_model,
    parse_name,
    read_call_settings,
    read_prices,
)
from dcf.problem import Problem
from dcf_agents.installation import extra_command

SECRET = "sk-do-not-show-me"


def codes(environment: dict[str, str], *, installed: bool = True) -> list[tuple[str, str | None]]:
    found = model_problems(environment, lambda _package: installed)
    assert SECRET not in "".join(map(str, found))
    return [(problem.code, problem.file) for problem in found]


def test_the_narrowest_setting_wins() -> None:
    everything = {
        "DCF_MODEL": "openai:general",
        "DCF_MODEL_WORKER": "openai:worker",
        "AMSP_TIER_2_MODEL": "openai:tier",
    }
    assert named_model(everything, tier=2) == NamedModel("openai:tier", "AMSP_TIER_2_MODEL")
    assert named_model(everything, tier=1) == NamedModel("openai:worker", "DCF_MODEL_WORKER")
    assert named_model(everything, role="planner") == NamedModel("openai:general", "DCF_MODEL")
    assert named_model({"DCF_MODEL": " "}) == NamedModel("rehearsal", None)


@pytest.mark.parametrize(
    ("text", "provider", "model"),
    [
        ("openai:gpt-5", "openai", "gpt-5"),
        (" Ollama : qwen3:4b ", "ollama", "qwen3:4b"),
        ("rehearsal", "rehearsal", "rehearsal"),
        ("transcript:a/b.jsonl", "transcript", "a/b.jsonl"),
    ],
)
def test_a_name_is_a_provider_and_what_it_serves(text: str, provider: str, model: str) -> None:
    assert parse_name(text) == ModelName(provider, model)


@pytest.mark.parametrize(
    ("text", "code", "hint"),
    [
        ("opnai:gpt-5", "MODEL_PROVIDER", "did you mean openai?"),
        ("gpt-5", "MODEL_NAME", "openai:gpt-5-mini"),
        ("openai:", "MODEL_NAME", "openai:gpt-5-mini"),
        ("openai", "MODEL_NAME", "openai:gpt-5-mini"),
        ("", "MODEL_NAME", "openai:gpt-5-mini"),
    ],
)
def test_a_wrong_name_says_what_was_meant(text: str, code: str, hint: str) -> None:
    problem = parse_name(text)
    assert isinstance(problem, Problem)
    assert problem.code == code
    assert hint in problem.hint


def test_all_that_is_wrong_is_said_at_once_under_the_settings_name(tmp_path: Path) -> None:
    environment = {
        "DCF_MODEL": "opnai:x",
        "DCF_MODEL_PLANNER": "anthropic:claude",
        "AMSP_TIER_0_MODEL": "compatible:x",
        "AMSP_TIER_1_MODEL": "transcript:nowhere.jsonl",
        "DCF_MODEL_TIMEOUT": "soon",
        "DCF_MODEL_PRICES": str(tmp_path / "none.yaml"),
        "OPENAI_API_KEY": SECRET,
    }
    assert codes(environment) == [
        ("MODEL_PROVIDER", "DCF_MODEL"),
        ("MODEL_KEY", "DCF_MODEL_PLANNER"),
        ("MODEL_URL", "AMSP_TIER_0_MODEL"),
        ("MODEL_TRANSCRIPT", "AMSP_TIER_1_MODEL"),
        ("MODEL_SETTING", "DCF_MODEL_TIMEOUT"),
        ("MODEL_PRICES", str(tmp_path / "none.yaml")),
    ]


def test_files_and_styles_that_settings_name_are_looked_at(tmp_path: Path) -> None:
    environment = {
        "DCF_MODEL": f"transcript:{tmp_path / 'none.jsonl'}",
        "DCF_MODEL_TOOLS": "spoken",
        "DCF_MODEL_PRICES": str(tmp_path / "none.yaml"),
        "DCF_MODEL_RECORD": str(tmp_path / "none" / "t.jsonl"),
    }
    assert codes(environment) == [
        ("MODEL_TRANSCRIPT", "DCF_MODEL"),
        ("MODEL_SETTING", "DCF_MODEL_TOOLS"),
        ("MODEL_PRICES", environment["DCF_MODEL_PRICES"]),
        ("MODEL_SETTING", "DCF_MODEL_RECORD"),
    ]
    assert read_call_settings(environment)[0].tools == "native"


@pytest.mark.parametrize(
    "url", ["127.0.0.1:8000", "ftp://host", "http://", "http://[::1", "http://u:p@h/v1"]
)
def test_an_address_is_http_and_has_no_password(url: str) -> None:
    environment = {"DCF_MODEL": "compatible:x", "DCF_MODEL_BASE_URL": url}
    assert codes(environment) == [("MODEL_URL", "DCF_MODEL")]


def test_a_missing_key_is_named_and_a_missing_package_too() -> None:
    key, package = (
        model_problems({"DCF_MODEL": "google:gemini"}, lambda _: True),
        model_problems({"DCF_MODEL": "ollama:qwen3"}, lambda _: False),
    )
    assert [problem.message for problem in key] == [
        "models of google need a key, and GOOGLE_API_KEY or GEMINI_API_KEY is not set"
    ]
    assert [problem.hint for problem in package] == [extra_command("openai")]


def test_the_key_of_a_compatible_server_is_named_not_given() -> None:
    environment = {"DCF_MODEL": "compatible:x", "DCF_MODEL_BASE_URL": "http://127.0.0.1:1/v1"}
    assert codes(environment) == []
    assert codes({**environment, "DCF_MODEL_KEY_NAME": "KEY_OF_MINE", "KEY_OF_MINE": SECRET}) == []
    # A key where a name belongs is not repeated to anybody.
    assert codes({**environment, "DCF_MODEL_KEY_NAME": SECRET}) == [("MODEL_KEY", "DCF_MODEL")]
    with_password = {**environment, "DCF_MODEL_BASE_URL": f"http://u:{SECRET}@127.0.0.1/v1"}
    assert codes(with_password) == [("MODEL_URL", "DCF_MODEL")]


@pytest.mark.parametrize("name", ["openai:x", "anthropic:x", "nobody:x", "transcript:none.jsonl"])
def test_what_cannot_be_asked_fails_a_task_by_name(name: str) -> None:
    with pytest.raises(ModelNotConfigured) as caught:
        Models({}).of(name)
    assert caught.value.error == "DCF.ModelNotConfigured"


@pytest.mark.parametrize("name", ["openai:x", "anthropic:x", "google:x", "ollama:x"])
def test_every_provider_has_a_client(name: str) -> None:
    keys = {f"{provider}_API_KEY": SECRET for provider in ("OPENAI", "ANTHROPIC", "GOOGLE")}
    model = Models(keys).of(name)
    assert model.model_name == "x"
    assert SECRET not in repr(model)


def test_numbers_have_limits() -> None:
    settings, problems = read_call_settings(
        {"DCF_MODEL_TIMEOUT": "0", "DCF_MODEL_RETRIES": "-1", "DCF_MODEL_MAX_TOKENS": "nan"}
    )
    assert [problem.file for problem in problems] == [
        "DCF_MODEL_TIMEOUT",
        "DCF_MODEL_RETRIES",
        "DCF_MODEL_MAX_TOKENS",
    ]
    assert (settings.timeout_s, settings.retries, settings.max_tokens) == (120.0, 4, 4096)


def test_waits_double_up_to_the_longest_and_half_of_them_is_chance() -> None:
    pace = Pace(first_s=1, longest_s=10)
    assert [pace.wait_s(n, None, lambda: 1.0) for n in range(6)] == [1, 2, 4, 8, 10, 10]
    assert [pace.wait_s(n, None, lambda: 0.0) for n in range(3)] == [0.5, 1, 2]
    assert pace.wait_s(5000, 3.0, lambda: 1.0) == 13


def test_a_price_file_of_ones_own_stands_before_ours(tmp_path: Path) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text(
        "models:\n"
        "  openai:gpt-5-mini: {input: 1, output: 2}\n"
        "  compatible:*: {input: 0.5, output: 1.5, above: {tokens: 10, input: 5}}\n"
    )
    table, problems = read_prices(file)
    assert problems == []
    mini, other, untouched = map(
        table.of, ("openai:gpt-5-mini", "compatible:anything", "openai:gpt-5")
    )
    assert mini is not None and other is not None and untouched is not None
    assert mini.cost(1_000_000, 500_000) == 2
    assert other.cost(10, 0) == Decimal("0.000005")
    assert other.cost(11, 0) == Decimal("0.000055")
    assert untouched.cost(1_000_000, 0) == Decimal("1.25")
    assert table.of("openai:unheard-of") is None


def test_cached_input_costs_its_own_price_and_the_most_counts_nothing_as_cached() -> None:
    price = read_prices()[0].of("openai:gpt-5")
    assert price is not None
    assert price.cost(1_000_000, 0, cached=1_000_000) == Decimal("0.125")
    assert price.most(1_000_000, 1_000_000) == Decimal("11.25")


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("[]", "/models"),
        ("models: {x: 1}", "/models/x"),
        ("models: {x: {input: -1, output: 1}}", "/models/x/input"),
        ("models: {x: {input: .nan, output: 1}}", "/models/x/input"),
        ("models: {x: {input: yes, output: 1}}", "/models/x/input"),
        ("models: {x: {input: 1}}", "/models/x/output"),
        ("models: {x: {input: 1, output: 1, outputs: 1}}", "/models/x/outputs"),
        ("models: {x: {input: 1, output: 1, above: {input: 2}}}", "/models/x/above"),
        ("models: {x: {input: 1, output: 1, above: {tokens: yes}}}", "/models/x/above"),
        ("models: {x: {input: 1, output: 1, above: {tokens: -1}}}", "/models/x/above"),
        ("models: {x: {input: 1, output: 1, above: {tokens: 1, in: 2}}}", "/models/x/above/in"),
        ("models: {x: {input: 1e999999, output: 1}}", "/models/x/input"),
        ("models: {x: {input: 2026-13-45, output: 1}}", ""),
        ("[" * 3000, ""),
        ("currency: EUR\nmodels: {}", ""),
    ],
)
def test_a_wrong_price_is_a_problem_with_its_place(text: str, path: str, tmp_path: Path) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text(text)
    _, problems = read_prices(file)
    assert [(problem.code, problem.path) for problem in problems] == [("MODEL_PRICES", path)]
