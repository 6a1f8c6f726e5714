"""What public runbooks become, against hand-made labels: ``python -m benchmarks.runbooks FOLDER``.

FOLDER has ``fitted/``, ``untouched/``, ``fresh/`` and ``near/`` with the files that
``runbooks.json`` lists by repository, path, commit and digest; what is missing is named with where
to fetch it. The digest of "owner/name/path" chose between the first two (an even first digit:
fitted), so that nobody did. Texts of other owners, collected and labelled when the reader was
there, are ``fresh``. Other texts of repositories of the untouched half, labelled by somebody who
saw neither the reader nor that half, are ``near``. Who builds the reader looks at no text of the
untouched half, and `--show` explains none.

How to label, so that others label alike. Lines count from 1, also those of front matter.

1. Read as the operator who has to do it tonight, and label what the text says, not what it should.
2. ``steps``: what somebody or something does. One item, or one sentence with an action, is a step;
   "do A and B" in a sentence is one, two conditions with an action each in a sentence are two. A
   command block belongs to the sentence before it. A heading is a step where it names what to do
   ("2. Remove the project"), and its items are inside of it (``2.1``, ``parent``); "Diagnosis" or
   "Mitigation" is none. Items that say only what to look for, or who, belong to their step; a
   question that one has to find the answer to is a step.
3. ``words``: at most eight that stand in those lines, so that a person finds them; no more text.
4. ``kind``: command (a command stands there), task (an agent could do it), manual (a person, a
   user interface, hardware), decision (something is judged, nothing done), approval, wait, loop,
   end.
5. ``order``: direct pairs that have to hold: numbered lists, sentences that follow one another,
   and the last step of a phase before the first one of the next. Not between alternatives, rows
   of a policy, or items of a checklist that may be done in any order.
6. ``branches``: each condition that decides what is done next, with the words and lines that say
   it, ``from`` the step after which it is known (left out where there is none), and ``to`` the
   first step then, ``end``, ``escalate`` (somebody else takes over), or ``*`` where it changes how
   and not what (a priority, an amount). What follows when it does not hold is not labelled.
7. ``jumps``: back, forward or "same as above" to a step of this text. Another document is none.
8. ``loops``: "for each", "all of the", "repeat until", with the steps of the ``body``.
9. ``ends``: what the text names: stop, abort, denied (failed); open a case, transfer (escalated);
   resolved, nothing to do, complete (ok). The end after the last step goes without saying.
10. ``approvals``: somebody has to agree first: a review, a confirmation by a user, "asks".
11. ``inputs``: placeholders, parameters, and what the prerequisites say one must know, by the name
    in the source without its marks, where it stands first. Values that the text gives are none.
12. ``guardrails``: must, must not, never, only, warnings. ``prose``: meaning, impact, background,
    references. ``restated``: a diagram or summary of steps that are labelled elsewhere.
13. ``commands``: fenced or literal blocks of commands; destructive where one deletes, stops or
    overwrites something. Example output is prose.
14. ``optional``: where careful people would differ. Neither asked for, nor wrong.

Right is what overlaps a label's lines (``runbook_scores``); "not invented" is the share of what was
made that a label asks for. "executable or manual" counts steps, "lost" sentences of texts whose
lines mean something (not DOCX).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.runbook_outcome import Labels, Lines, Outcome, labels_from, outcome_from
from benchmarks.runbook_scores import Score, scores
from benchmarks.runbook_sentences import lost, sentences

_LIST = Path(__file__).with_suffix(".json")
_HALVES = ("fitted", "untouched", "fresh", "near")
_SECONDS = 120
LABELLED = ("steps", "order", "branches", "jumps", "loops", "ends", "approvals", "inputs")
COUNTED_INVENTIONS = ("steps", "branches", "ends", "approvals")


@dataclass(frozen=True, slots=True)
class Scored:
    """One text with its outcome."""

    name: str
    half: str
    kind: str
    outcome: Outcome
    scores: Mapping[str, Score]
    """Empty where nobody labelled the text."""
    sentences: int
    lost: Sequence[Lines]


@dataclass(frozen=True, slots=True)
class Share:
    """So many of so many, beside a target."""

    measure: str
    right: int
    of: int
    target: float | None = None

    def __str__(self) -> str:
        share = f"{self.right / self.of:.0%}" if self.of else "–"
        return f"{share} ({self.right}/{self.of})"


def main() -> int:
    """Print a table; 1 where a text is missing or not as listed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, help="has fitted/, untouched/, fresh/, near/")
    parser.add_argument("--half", choices=_HALVES, help="leave the others out")
    parser.add_argument(
        "--outcomes", type=Path, metavar="FOLDER", help="read NAME.json there, run no product"
    )
    parser.add_argument("--kinds", action="store_true", help="a table by kind of text, too")
    parser.add_argument("--show", metavar="NAME", help="what is wrong with a text (none untouched)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    options = parser.parse_args()
    listed = [
        text
        for text in json.loads(_LIST.read_text(encoding="utf-8"))
        if options.half in (None, text["half"])
    ]
    console = Console(width=140)
    absent = [problem for text in listed if (problem := _problem(options.folder, text))]
    for problem in absent:
        console.print(problem, highlight=False, soft_wrap=True)
    if options.show:
        listed = [text for text in listed if text["file"] == options.show]
        if not listed or listed[0]["half"] == "untouched":
            parser.error(
                f"--show explains listed texts that are not untouched; {options.show} is none"
            )
    texts = [text for text in listed if _problem(options.folder, text) is None]
    scored = [_scored(options.folder, text, options.outcomes) for text in texts]
    if options.show:
        for one in scored:
            console.print_json(json.dumps(_wrong(one)))
        return 1 if absent else 0
    halves = [half for half in _HALVES if options.half in (None, half)]
    columns = {half: list(shares(one for one in scored if one.half == half)) for half in halves}
    console.print(_table(columns))
    if options.kinds:
        console.print(_by_kind(scored))
    if options.json is not None:
        figures = {half: [_plain(share) for share in columns[half]] for half in halves}
        options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    return 1 if absent else 0


def outcome_of(path: Path) -> Outcome:
    """What the product makes of a runbook; an outcome that does not validate where it fails."""
    asked = [sys.executable, "-m", "dcf.cli", "plan", "--from-sop", str(path), "--json"]
    try:
        answered = subprocess.run(
            asked, capture_output=True, text=True, check=False, timeout=_SECONDS
        )
        return outcome_from(json.loads(answered.stdout))
    except (subprocess.TimeoutExpired, ValueError):
        return Outcome(validates=False)


def shares(scored: Iterable[Scored]) -> Iterator[Share]:
    """The rows of the table, with the targets of issue 29."""
    texts = list(scored)
    validating = sum(one.outcome.validates for one in texts)
    yield Share("validates", validating, len(texts), 0.95)
    for kind in LABELLED:
        found = [one.scores[kind] for one in texts if one.scores]
        right = sum(score.right for score in found)
        yield Share(kind, right, sum(score.wanted for score in found), 0.85)
        if kind in COUNTED_INVENTIONS:
            made = sum(score.made for score in found)
            invented = sum(len(score.invented) for score in found)
            yield Share(f"{kind}, not invented", made - invented, made)
    steps = [step for one in texts for step in one.outcome.steps]
    known = sum(step.how != "unknown" for step in steps)
    yield Share("steps executable or manual", known, len(steps), 0.60)
    gone, all_of_them = sum(len(one.lost) for one in texts), sum(one.sentences for one in texts)
    yield Share("sentences lost", gone, all_of_them, 0)
    unasked = sum(one.outcome.commands_run_unasked for one in texts)
    yield Share("commands run unasked", unasked, len(texts), 0)


def _problem(folder: Path, text: Mapping[str, Any]) -> str | None:
    """What is the matter with a listed file, and where to fetch it."""
    path = folder / text["half"] / text["file"]
    source = (
        f"fetch {text['path']} of https://github.com/{text['repository']} at {text['commit']}"
        f" into {path}"
    )
    if not path.is_file():
        return f"missing: {source}"
    if hashlib.sha256(path.read_bytes()).hexdigest() != text["sha256"]:
        return f"not as listed: {source}"
    return None


def _scored(folder: Path, text: Mapping[str, Any], outcomes: Path | None) -> Scored:
    path = folder / text["half"] / text["file"]
    outcome = outcome_of(path) if outcomes is None else _kept(outcomes / f"{path.name}.json")
    labels: Labels | None = labels_from(text["labels"]) if "labels" in text else None
    if path.suffix == ".docx":
        all_of_them, gone = [], []
    else:
        content = path.read_text(encoding="utf-8")
        all_of_them = sentences(content, path.suffix)
        gone = lost(content, path.suffix, outcome.sentences)
    return Scored(
        text["file"],
        text["half"],
        text["kind"],
        outcome,
        {} if labels is None else scores(labels, outcome),
        len(all_of_them),
        gone,
    )


def _kept(path: Path) -> Outcome:
    """An outcome that was written before; none is one that does not validate."""
    if not path.is_file():
        return Outcome(validates=False)
    return outcome_from(json.loads(path.read_text(encoding="utf-8")))


def _table(columns: Mapping[str, Sequence[Share]]) -> Table:
    table = Table("measure", "target", *columns, box=None)
    for row in zip(*columns.values(), strict=True):
        target = row[0].target
        bound = "" if target is None else f"≥ {target:.0%}" if target else "0"
        table.add_row(row[0].measure, bound, *map(str, row))
    return table


def _by_kind(scored: Sequence[Scored]) -> Table:
    """Texts of a kind in all halves, by what most says whether they are read."""
    measures = ("validates", "steps", "branches", "inputs", "steps executable or manual")
    table = Table("kind", "texts", *measures, "sentences lost", box=None)
    for kind in sorted({one.kind for one in scored}):
        texts = [one for one in scored if one.kind == kind]
        found = {share.measure: str(share) for share in shares(texts)}
        cells = [found[measure] for measure in (*measures, "sentences lost")]
        table.add_row(kind, str(len(texts)), *cells)
    return table


def _plain(share: Share) -> dict[str, Any]:
    return {
        "measure": share.measure,
        "right": share.right,
        "of": share.of,
        "target": share.target,
    }


def _wrong(one: Scored) -> dict[str, Any]:
    """What is missing, invented and lost of a text."""
    wrong = {
        kind: {"missing": list(score.missing), "invented": [f"line {at}" for at in score.invented]}
        for kind, score in one.scores.items()
        if score.missing or score.invented
    }
    return {"text": one.name, **wrong, "lost": [f"line {each.line}" for each in one.lost]}


if __name__ == "__main__":
    sys.exit(main())
