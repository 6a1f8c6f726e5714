"""Texts of every script are cut into words that an index finds."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcf.search import segmented, spoken, words
from dcf.search.index_file import Stemmer

# What Lucene's CJKAnalyzer gives (its tests TestCJKAnalyzer and TestCJKBigramFilter), stop words
# apart: overlapping pairs, one character alone for itself, width of letters made one.
LUCENE = [
    ("多くの学生が試験に落ちた。", "多く くの の学 学生 生が が試 試験 験に に落 落ち ちた"),
    ("一二三四五六七八九十", "一二 二三 三四 四五 五六 六七 七八 八九 九十"),
    ("一 二三", "一 二三"),
    ("ｶﾀｶﾅ", "カタ タカ カナ"),
    ("ﾋﾞｯｸﾞ", "ビッ ッグ"),
    ("안녕하세요", "안녕 녕하 하세 세요"),
    ("Ｔｅｓｔ １２３４", "Test 1234"),
    ("あいうえおabcかきくけこ", "あい いう うえ えお abc かき きく くけ けこ"),
]


@pytest.mark.parametrize(("text", "cut"), LUCENE)
def test_chinese_japanese_and_korean_are_cut_as_lucene_does(text: str, cut: str) -> None:
    assert words(text) == cut.split()


# Characters as UAX 29 has them: a mark above or below belongs to its letter.
STACKED = [
    ("กินข้าว", "กิน นข้ ข้า าว"),
    ("ភាសាខ្មែរ", "ភាសា សាខ្មែ ខ្មែរ"),
    ("ລາວ ລ", "ລາ າວ ລ"),
    ("ปี๒๕๖๗", "ปี ๒๕๖๗"),
]


@pytest.mark.parametrize(("text", "cut"), STACKED)
def test_scripts_with_marks_are_cut_between_whole_characters(text: str, cut: str) -> None:
    assert words(text) == cut.split()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Αθήνα", "Αθηνα"),
        ("ёлка", "елка"),
        ("مُحَمَّد", "محمد"),
        ("الكتاب", "كتاب"),
        ("أحمد", "احمد"),
        ("ﻣﺤﻤﺪ", "محمد"),
        ("\u1112\u1161\u11ab국", "한국"),
        ("か\u3099く", "がく"),
        ("👍🏽", "👍"),
        ("❤️", "❤"),
        # As Lucene's ASCIIFoldingFilter has them.
        ("Straße", "Strasse"),
        ("Łukasz", "Lukasz"),
        ("smørrebrød", "smorrebrod"),
        ("œuvre", "oeuvre"),
        ("ﬁnance", "finance"),
        ("Việt", "Vie\u0323\u0302t"),
        ("й", "и\u0306"),
        ("Ver\u00adsuch", "Versuch"),
        ("क्\u200dया", "क्या"),
        ("\u0958लम", "कलम"),
        ("เเม่", "แม่"),
        ("น\u0e4d\u0e49\u0e32", "น้ำ"),
    ],
)
def test_spellings_of_one_word_are_one_word(one: str, other: str) -> None:
    assert words(one) == words(other) != []


def test_pictures_are_words_and_different_ones_are_different() -> None:
    party, heart, german, french = (words(one) for one in ("🎉", "❤️", "🇩🇪", "🇫🇷"))
    assert [len(one) for one in (party, heart, german, french)] == [1, 1, 1, 1]
    assert len({*party, *heart, *german, *french}) == 4
    assert words("👩‍👧") == words("👩 👧")


@pytest.mark.parametrize(
    "text",
    [
        "charge_payment, twice",
        "naïve café – “so”",
        "Höhe № 5",
        "हिन्दी भाषा",
        "Việt Nam",
        "привет мир",
        "© 2024™",
    ],
)
def test_a_text_of_other_scripts_stays_as_it_is(text: str) -> None:
    assert segmented(text) == text


_texts = st.text(
    st.sampled_from(
        "aB9é _-.,ếёά猫東京日ひらがカナｶﾞー한국ก่านี่เ\u0e4dßı\u00ad\u200c\u093c"
        "ລາខ្មែមြန်हिन्दीمُحَالـ🎉❤\ufe0f👍🏽🇩🇪\u200d\u3099。、"
    ),
    max_size=24,
)


@given(_texts)
def test_an_index_cuts_as_words_does(text: str) -> None:
    with closing(sqlite3.connect(":memory:")) as made:
        made.execute(
            "CREATE VIRTUAL TABLE t USING fts5 (x,"
            " tokenize = \"porter unicode61 categories 'L* N* M*'\")"
        )
        made.execute("CREATE VIRTUAL TABLE v USING fts5vocab (t, instance)")
        made.execute("INSERT INTO t VALUES (?)", (segmented(text),))
        held = [row[0] for row in made.execute("SELECT term FROM v ORDER BY offset")]
    assert list(dict.fromkeys(held)) == list(Stemmer().stems(words(text)))


@given(_texts)
def test_what_is_cut_is_not_cut_again(text: str) -> None:
    assert words(segmented(text)) == words(text)
    assert words(spoken(spoken(text))) == words(spoken(text))
