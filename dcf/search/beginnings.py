"""How words begin: what the forms of one word have in common, in most languages but English.

The index cuts English words down to stems. Stemmers of other languages ask which language a text is
in, of which a question of three words tells little. The first letters ask nothing, and find a part
of the compounds too (``Kontinente`` and ``Kontinentalplatte``). They are added to the words, not
put in their place: a question that is taken for English, or a text, is searched as if English.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import regex

from dcf.search.words import STOP_WORDS

# With four or six the right one of 240 passages was as often among the first ten; with six less
# often the first.
_LETTERS = 5
# A letter that nobody writes: no beginning is taken for a word, nor cut down to a stem.
_MARK = "ˑ"
# Words of a text that tell whether it is English.
_TELLING = 500
# Scripts that are cut into pairs of characters have no beginnings.
_LONG = regex.compile(
    r"(?V1)[[\p{L}\p{M}]--[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Bopomofo}"
    r"\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]]{5,}"
)
_LATIN = regex.compile(r"\p{Latin}")
# Of languages in Latin letters those words that bind others. What is a word of English too, or is
# a name, is left out: it would tell nothing.
_BINDING = """
    aber als auch auf aus bei beim das dein dem der du ein eine einem einen einer eines er es für
    haben hat ich ihr ist mein meine mich mir nach nicht oder sich sie sind und uns unser unsere
    viele vom von vor wann warum welche welchem welchen welcher welches wem wen wer werden wie
    wieviel wir wird wurde wurden zu zum zur über
    een het hoe hoeveel maar met mijn niet ook voor waar welke werd wie wordt zijn
    af att av det ett fra från för hur hva hvad hvem hvor hvordan hvorfor ikke inte med och og som
    till vad vem är
    al cada como cual cuando cuanto cuál cuándo cuánto cuántos cómo de del desde donde dónde el en
    entre era es está fue fueron la las lo los mi mis más para pero por porque que quien quién qué
    se ser son su sus también un una y ya
    ao com da das dos em foi mais meu minha na nas nos não onde os ou pela pelo qual quando que quem
    seu sua são um uma
    au aux avec ce cette combien comment dans des du elle est et il ils je le les leur ma mais mes
    mon nous où par pourquoi quand quel quelle quelles quels qui quoi sont sur une vous était
    che chi cosa dalla dei del della delle di dove e gli il mio nel nella perché quale quali quanti
    sono è
    care ce cine cu când cât câte din este fi fost la pe pentru sau sunt unde în și
    co czy dla gdzie ile jak je jest kde kdo kdy kiedy kolik kto nie od pro się są w z za že
    az egy hogy hol ki mikor mit nem és
    ali benim bir bu da daha de gibi hangi ile için kaç kim nasil ne neden nerede olan olarak ve
    apa dalam dan dari dengan di ini itu siapa untuk yang
    ei ja joka kuka mikä milloin missä oli
"""
_ENGLISH_TOO = """
    a al am an as dan de do dove e era has he her i ile in is la me met mi mit no od on pro
    son so sur van was will
"""
# Words of Vietnamese are of one syllable and of one form.
_VIETNAMESE = regex.compile("[ơưạ-ỹ]")
_OF_VIETNAMESE = "bao cho các có của gì không là này nào nhiêu những trong và ở"
_FOREIGN = frozenset(_BINDING.split()) - frozenset(_ENGLISH_TOO.split())
_WITHOUT = STOP_WORDS - frozenset(_ENGLISH_TOO.split()) | frozenset(_OF_VIETNAMESE.split())


def beginnings(words: Sequence[str], *, in_doubt: bool = False) -> list[str]:
    """How the longer ones of the ``words`` of a text begin, marked, where they are not English; of
    words that tell nothing of their language only ``in_doubt``.

    >>> beginnings(["Was", "kosten", "die", "Fahrkarten", "für", "uns"])
    ['kosteˑ', 'fahrkˑ']
    >>> beginnings(["What", "does", "ticket", "cost"])
    []
    """
    told = sum(_told(word.lower()) for word in words[:_TELLING])
    return list(_marked(words, foreign=told > 0 or (in_doubt and told == 0)))


def _marked(words: Sequence[str], *, foreign: bool) -> Iterator[str]:
    for word in words:
        if len(word) < _LETTERS or (not foreign and word.isascii()):
            continue
        if _LONG.fullmatch(word) and (foreign or not _LATIN.match(word)):
            yield f"{word[:_LETTERS].lower()}{_MARK}"


def _told(word: str) -> int:
    """1 for a word of a language in Latin letters whose words have several forms, -1 for one of
    English or Vietnamese, 0 for what may be any."""
    if word in _WITHOUT:
        return -1
    if word.isascii() or word in _FOREIGN:
        return int(word in _FOREIGN)
    if _VIETNAMESE.search(word):
        return -1
    return int(_LATIN.match(word) is not None)
