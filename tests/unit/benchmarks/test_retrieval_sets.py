"""The labelled sets of retrieval: fetched at their commits, measured beside peers, in one table."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from benchmarks import code_clones, document_questions, retrieval_sets
from benchmarks.clones import Clone, NotThere, fetched, file_of
from benchmarks.labelled import Found, Labelled, Scores, Span, measure, together

GONE = Clone("owner/gone", "0" * 40)
FUNCTIONS = {
    # The words of the first are in its body, those of the second are nowhere.
    "brew.go": """package tea

// Brew pours water over the leaves and waits.
func Brew(leaves int) int {
	water := leaves * 2
	return water
}
""",
    "tidy.go": """package tea

// Tidy counts saucers that nobody has washed.
func Tidy(n int) int {
	total := n + 1
	return total
}
""",
}
PAGE = """# When is it picked?

Nobody knows.

# How is the kettle kept?

The kettle is kept dry.
"""


@pytest.fixture(autouse=True)
def github(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that git takes for GitHub."""
    folder = tmp_path / "github"
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", f"url.{folder.as_uri()}/.insteadOf")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "https://github.com/")
    return folder


def published(folder: Path, files: Mapping[str, str]) -> str:
    """The commit of ``files`` in the repository ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    author = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    for command in (("init", "-q"), ("add", "."), (*author, "commit", "-qm", "more")):
        subprocess.run(["git", "-C", folder, *command], check=True)
    ran = subprocess.run(
        ["git", "-C", folder, "rev-parse", "HEAD"], check=True, capture_output=True, text=True
    )
    return ran.stdout.strip()


def test_a_commit_is_fetched_once_and_without_its_history(github: Path, tmp_path: Path) -> None:
    older, listed, newer = (published(github / "o" / "n", {"a.md": text}) for text in "123")
    folder = tmp_path / "clones"
    fetched(Clone("o/n", listed), folder)
    clone = folder / "o" / "n"
    assert file_of(clone, listed, "a.md") == b"2"
    assert [file_of(clone, one, "a.md") for one in (older, newer)] == [b"", b""]
    fetched(Clone("o/n", newer), folder)
    assert file_of(clone, newer, "a.md") == b"3"
    shutil.rmtree(github)
    fetched(Clone("o/n", listed), folder)


def test_what_cannot_be_fetched_is_named_with_its_commit(github: Path, tmp_path: Path) -> None:
    folder = tmp_path / "clones"
    with pytest.raises(NotThere, match=f"{GONE.commit} of https://github.com/owner/gone cannot be"):
        fetched(GONE, folder)
    listed = published(github / "owner" / "gone", {"a.md": "here again"})
    fetched(Clone("owner/gone", listed), folder)


def test_a_repository_around_the_clones_is_not_taken_for_one(tmp_path: Path) -> None:
    here = published(tmp_path / "around", {"a.md": "not this"})
    (tmp_path / "around" / "owner" / "gone").mkdir(parents=True)
    with pytest.raises(NotThere):
        fetched(Clone("owner/gone", here), tmp_path / "around")


async def test_right_is_a_piece_with_a_line_of_the_answer_among_the_first() -> None:
    questions = [Labelled("?", "a", 5, 7), Labelled("?", "a", 20, 20), Labelled("?", "b", 5, 7)]

    async def search(_question: str) -> list[Span]:
        return [("a", 7, 9), ("a", 1, 4), ("a", 18, 20), ("b", 1, 100)]

    assert (await measure(questions, search, 3)).hit_at_1 == 1 / 3
    assert (await measure(questions, search, 3)).recall == 2 / 3
    assert (await measure(questions, search, 4)).recall == 1


def found(count: int, first: int, right: int, took_ms: float) -> Found:
    """Of ``count`` questions the first ones are answered."""
    each = range(count)
    return Found(tuple(n < first for n in each), tuple(n < right for n in each), took_ms)


def test_scores_of_sets_count_by_their_questions() -> None:
    few = Scores(5, found(10, 5, 10, 3), {"x": found(10, 0, 2, 1), "y": found(10, 0, 6, 1)})
    many = Scores(5, found(30, 3, 18, 2), {"x": found(30, 0, 18, 1), "y": found(30, 0, 12, 2)})
    both = together([few, many])
    assert (both.questions, both.k, both.best_other) == (40, 5, "x")
    assert (both.ours.hit_at_1, both.ours.recall, both.ours.p95_ms) == (8 / 40, 28 / 40, 3)
    assert both.lead == pytest.approx(20)


def test_a_lead_is_doubted_by_the_questions_that_tell_the_two_apart() -> None:
    # 20 of 100 questions are answered by ours alone: their variance is 0.2 less its square.
    apart = Scores(5, found(100, 0, 60, 1), {"x": found(100, 0, 40, 1)})
    assert apart.lead == pytest.approx(20)
    assert apart.doubt == pytest.approx(100 * 1.96 * (0.2 * 0.8 / 100) ** 0.5)
    assert Scores(5, found(9, 0, 4, 1), {"x": found(9, 0, 4, 1)}).doubt == 0


def test_one_command_fetches_measures_and_names_what_it_could_not(
    github: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    functions = published(github / "owner" / "functions", FUNCTIONS)
    pages = published(github / "owner" / "pages", {"tea.md": PAGE})
    asked = document_questions.questions({"tea.md": PAGE}, "")
    items = {f"{one.path}#{one.first}": one.digest for one in asked}
    page = {"repository": "owner/pages", "commit": pages, "from": "", "files": ["tea.md"]}
    for module, listed in (
        (
            code_clones,
            {
                "typescript": [{"repository": GONE.repository, "commit": GONE.commit}],
                "go": [{"repository": "owner/functions", "commit": functions}],
            },
        ),
        (
            document_questions,
            {"tea": {**page, "questions": items}, "changed": {**page, "questions": {}}},
        ),
    ):
        lists = tmp_path / f"{module.__name__}.json"
        lists.write_text(json.dumps(listed), encoding="utf-8")
        monkeypatch.setattr(module, "_LIST", lists)
    figures = tmp_path / "figures.json"
    sets = [f"--set={name}" for name in ("typescript", "go", "tea", "changed")]
    others = ["--embedder", "none", "--json", str(figures)]
    assert retrieval_sets.main(["--clones", str(tmp_path / "clones"), *sets, *others]) == 1

    shown = capsys.readouterr()
    assert "not measured: typescript: " + GONE.commit in shown.err and "owner/gone" in shown.err
    assert "not measured: changed: " in shown.err
    rows = [line.split()[:5] for line in shown.out.splitlines()[2:]]
    assert rows == [
        ["go", "2", "10", "0.500", "0.500"],
        ["tea", "2", "5", "0.500", "0.500"],
        ["all", "code", "2", "10", "0.500"],
        ["all", "documents", "2", "5", "0.500"],
    ]
    found = json.loads(figures.read_text(encoding="utf-8"))
    assert found["sets"]["go"]["lead_points"] == 0
    assert {name: one["recall"] for name, one in found["sets"]["tea"]["peers"].items()} == {
        "plain FTS5": 0.5,
        "BM25": 0.5,
        "ripgrep": 0.5,
    }
    assert set(found["not_measured"]) == {"typescript", "changed"}


def test_a_set_that_is_not_there_is_refused_with_those_that_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        retrieval_sets.main(["--set", "cobol"])
    assert "no set is named cobol; there are known, unseen, typescript" in capsys.readouterr().err
