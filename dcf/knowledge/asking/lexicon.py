"""The words that questions are made of: a table from words to concepts.

A concept stands for all the words of its line; words of a phrase are joined by ``_``. Words get
their usual endings by rule, irregular forms stand in the table. What stands in no line is not
understood, and a question with such a word is not answered.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

_TABLE: Final = """
: a an the this that these those its they them their there here i we me us our my you your is are
: was were be been being am do does did done has have had having can could and so then also just
: only please pls plz tell give get got let what which who's whos what's whats wich when's some any
: up over go goes went gone come came s t ve re very really actually currently ever far now how_do
: how_does how_did to of in on at for with from about as or show list display find print describe
: explain detail every_one all so_far something anything thing kind type many name
: various respective how into end ended ends take took takes taken within among during hey hi ok
: okay thanks thank want see look through so_often we_have there_are usually typical
: typically normally on_average mean average median information info know question out state_of
: using_the happen_to exactly main overall together like_to know_about own ones one belong handle
: hit occurring overview_of under via till_now to_date by_now get_to do_to as_a involved involve
: because_of
: keep keeps kept keep_on keeps_on again hello hey_there dear_all hmm hm uh um
: i'm_new_here i_am_new_here i'm_new i_am_new new_here i_wonder i_was_wondering i_am_wondering
: i'm_wondering wondering whether my_boss the_boss my_manager my_colleague my_team asks_me
: wants_to_know
: want_to_know would_like_to i'd_like_to would_you could_you can_you tell_me_if know_if check_if
: see_if
: sorry_to_bother_you sorry to_bother_you quickly_check quickly_tell quickly_show
: weird_one strange_one odd_one
: check_who check_which check_what check_whether please_check
: i_have_no_idea no_idea any_idea no_clue any_clue i_don't_know i_do_not_know
: i_don't_understand i_do_not_understand help_me_understand can't_figure_out do_you_know yeah
: yes so_yeah
: feel feels seem seems appear appears look_like_it
everything: everything whatever all_that all_of_it
it: it
each: each every by per split_by grouped_by group_by broken_down_by for_each
run: run ran execution job every_run
fail: fail failure break broke broken crash wrong go_wrong goes_wrong went_wrong going_wrong bad
fail: badly unsuccessful not_succeed not_successful did_not_succeed didn't_succeed not_work
fail: error_out blow_up blows_up blew_up blown_up blowing_up die died dying explode fall_over
fail: fell_over
fail: bomb bombed went_down go_down goes_down went_south fall_apart fell_apart break_down broke_down
succeed: succeed success successful successfully pass well right fine complete completed
error: error exception fault
skill: skill
version: version release
agent: agent worker
task: task step task_type kind_of_task type_of_task kinds_of_task job_type task_types
workflow: workflow process
tier: tier
model: model llm
day: day daily date
companion: companion
specialization: specialization specialisation speciality specialty
session: session
delegate: delegate delegation delegated_task delegated_tasks tasks_delegated hand_over
outcome: outcome result
count: most_common most_frequent how_many how_often number_of count amount_of how_many_times
count: total_number common commonly often frequent frequently frequency occurrence how_frequently
count: times
rate: rate share percentage percent ratio proportion how_well success_rate quality perform
rate: performance how_does_it_do
reliable: reliable reliability reliably dependable stable
failure_rate: failure_rate error_rate failure_rates error_rates
most: most highest greatest largest maximum biggest max mostly
least: least lowest fewest smallest minimum
best: best recommend should_i_use should_we_use should_use to_use top
worst: worst unreliable most_unreliable poorest weakest flakiest
slow: slow slowest longest most_time longest_running take_long takes_long long_running
fast: fastest quickest shortest least_time
dear: most_expensive dearest costliest priciest
cheap: cheapest least_expensive
most_failures: most_failures most_errors highest_number_of_failures
duration: duration how_long how_fast how_much_time run_time runtime latency average_time mean_time
duration: how_many_time how_much_long time_needed how_quick how_slow speed time_taken
duration: processing_time
cost: cost spend spent spending expensive money price pay paid expense dollar usd how_much_money
much: how_much total altogether in_total sum
why: why reason cause root_cause how_come behind due_to what_makes explanation_of
why_fail: what_went_wrong what_goes_wrong what_broke what_is_wrong what's_wrong whats_wrong
help: help fix solve resolve remedy repair cure workaround solution
happen: happen occur story take_place summary summarize summarise
first: first earliest oldest first_time initially
last: last latest newest most_recent most_recently last_time recent
when: when
since_when: since_when how_long_has how_long_have
begin: begin began begun start
change: change different differ difference introduce regress regression
before: before
after: after
rank: rank ranking ranked
where: where
recently: recently lately
worse: worse
better: better
more: more
than: than
between: between
trend: trend develop development over_time getting become became becoming improve evolve evolution
trend: going_up going_down more_and_more degrade decline progress rising rise drop
slower: slower longer feels_slow feel_slow seems_slow looks_slow too_slow getting_slow gotten_slow
faster: faster quicker
less: less
compare: compare comparison versus vs against
like: like similar alike resemble comparable same_as similar_to look_like such_as
chosen: chosen choose chose pick select selected selection choice prefer decide speaks_for
chosen: and_not_another instead_of_another decision not_the_old_one not_the_older_one not_the_old
chosen: not_the_previous_one not_the_other_one instead_of_the_old_one instead_of_the_other_one
chosen: over_the_old_one over_the_other_one rather_than_the_old_one
planner: planner
use: use used using
work: work
retry: retry retries retried tries attempt how_many_tries
who: who
need: need require
person: person people persons which_approver what_approver each_approver every_approver
person: per_approver approvers
tool: tool
call: call called calling
approve: approve approval sign_off signed_off signs_off approver authorize authorise authorization
approve: authorisation green_light gave_the_ok given_the_ok
possible: can_approve could_approve to_approve need_approval needs_approval need_an_approval
possible: needs_an_approval to_be_approved need_the_approval needs_the_approval can_use could_use
possible: can_call could_call
reject: reject rejection turn_down turned_down declined decline
took_part: took_part take_part takes_part participate participant member
insight: insight advice advise lesson learn learned learnt lessons_learned guideline finding
insight: recommendation known_about lessons_learnt
pattern: pattern
measure: measure measured
analysis: analysis analyses found
graph: graph knowledge_graph
size: how_big how_large size how_full statistic stats overview stat
graph_size: what_do_you_know how_much_is_in_the_graph in_the_graph
"""
_ENDINGS = ("", "s", "es", "ed", "d", "ing")
_SHORTEST = 4
_BY_EAR = ("aeiou", "csz")
"""Letters of a group are taken for each other."""
_SHORTEST_BY_EAR = 6
"""A word of fewer letters is not taken for another one that was typed wrongly."""
_WORD = re.compile(r"<\d+>|[a-z0-9][\w.@/'-]*[a-z0-9]|[a-z0-9]|\$")


@dataclass(frozen=True, slots=True)
class Piece:
    """A word or phrase of a question as it was typed, and its concept: "" for what says nothing of
    its own, None for what is not understood."""

    said: str
    concept: str | None


def pieces_in(text: str) -> list[Piece]:
    """The words of ``text`` (lower case), the longest phrases first; ``<0>`` stays as it is."""
    said = _WORD.findall(text)
    return list(_pieces([word.removesuffix("'s") for word in said], said))


def _pieces(words: Sequence[str], said: Sequence[str]) -> Iterator[Piece]:
    table, longest = _table()
    at = 0
    while at < len(words):
        for size in range(min(longest, len(words) - at), 0, -1):
            # "what's wrong" is a phrase of its own; "alice's" is alice.
            for phrase in ("_".join(said[at : at + size]), "_".join(words[at : at + size])):
                if phrase in table:
                    break
            else:
                continue
            yield Piece(" ".join(said[at : at + size]), table[phrase])
            at += size
            break
        else:
            yield Piece(said[at], None if said[at][0] != "<" else said[at])
            at += 1


def mended(pieces: Sequence[Piece]) -> list[Piece]:
    """``pieces`` with the concepts of words in which one letter is missing, or two are swapped."""
    return [_mended(one) if one.concept is None else one for one in pieces]


def _mended(piece: Piece) -> Piece:
    if len(piece.said) < _SHORTEST or not piece.said.isalpha():
        return piece
    found = _mistyped().get(piece.said)
    if found is None:
        found = _by_ear(piece.said)
    return piece if found is None else Piece(piece.said, found)


def _by_ear(said: str) -> str | None:
    """The concept of the words that sound like ``said``: one letter is another that is taken for it
    when people write as they speak, or one is there twice. None where there are none, or they
    differ."""
    table, _ = _table()
    if len(said) < _SHORTEST_BY_EAR:
        return None
    others = {
        said[:at] + other + said[at + 1 :]
        for at, letter in enumerate(said)
        for group in _BY_EAR
        if letter in group
        for other in group
    }
    others |= {said[:at] + said[at + 1 :] for at in range(1, len(said)) if said[at] == said[at - 1]}
    concepts = {table[other] for other in others if other in table}
    return next(iter(concepts)) if len(concepts) == 1 else None


@cache
def _table() -> tuple[Mapping[str, str], int]:
    """Word or phrase -> concept, and how many words the longest phrase has."""
    table: dict[str, str] = {}
    given: dict[str, str] = {}
    for line in _TABLE.strip().splitlines():
        concept, _, words = line.partition(":")
        given |= dict.fromkeys(words.split(), concept)
    for word, concept in given.items():
        for form in _forms(word):
            table.setdefault(form, concept)
    # What stands in the table itself goes before what a rule makes of another word.
    table |= given
    return table, max(word.count("_") for word in table) + 1


def _forms(word: str) -> Iterator[str]:
    """``word`` with the endings that it may have."""
    yield from (word + ending for ending in _ENDINGS)
    if word.endswith("e"):
        yield f"{word[:-1]}ing"
    if word.endswith("y"):
        yield from (f"{word[:-1]}ies", f"{word[:-1]}ied")
    yield from (word + word[-1] + ending for ending in ("ed", "ing"))


@cache
def _mistyped() -> Mapping[str, str]:
    """Words of the table with one letter missing within, or two neighbours swapped -> concept;
    where that makes a word of the table, or one of two concepts, it is none."""
    table, _ = _table()
    found: dict[str, set[str]] = {}
    for word, concept in table.items():
        if len(word) > _SHORTEST and word.isalpha():
            for at in range(1, len(word) - 1):
                found.setdefault(word[:at] + word[at + 1 :], set()).add(concept)
                swapped = word[: at - 1] + word[at] + word[at - 1] + word[at + 1 :]
                found.setdefault(swapped, set()).add(concept)
    return {
        word: next(iter(concepts))
        for word, concepts in found.items()
        if len(concepts) == 1 and word not in table
    }
