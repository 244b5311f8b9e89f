"""Spelling by the words of a corpus, in English, Russian and Hindi."""

import subprocess
import sys

import pytest

from karat.core.errors import InputError
from karat.retrieve.rewrite import Change, Rewritten, rewriter_named
from karat.retrieve.rewriters.spell import Spell

TEXTS = [
    "The generator stands in the engine room; the night-watch lasts six hours.",
    "Nobody enters the engine room alone. Where the fuel is kept, nobody smokes (e.g. in tent 4a).",
    "Генератор стоит в машинном отделении станции. Ночная вахта длится шесть часов.",
    "रात की पहरेदारी छह घंटे की होती है। जनरेटर इंजन कक्ष में है।",
    "Der Äpfelkorb steht in der Küche.",
    "東京都の場所",
]
SPELL = Spell.build(TEXTS)


@pytest.mark.parametrize(
    ("query", "corrected", "before", "after", "distance"),
    [
        ("Where is the genrator?", "Where is the generator?", "genrator", "generator", 1),
        ("genraotr", "generator", "genraotr", "generator", 2),
        ("engnie", "engine", "engnie", "engine", 1),
        ('"Genrator," he said', '"Generator," he said', "Genrator", "Generator", 1),
        ("GENRATOR!", "GENERATOR!", "GENRATOR", "GENERATOR", 1),
        ("gEnrator", "generator", "gEnrator", "generator", 1),
        ("the genrator's place", "the generator's place", "genrator", "generator", 1),
        ("night-wacth", "night-watch", "wacth", "watch", 1),
        ("  two\twacth  ", "  two\twatch  ", "wacth", "watch", 1),
        ("Где стоит генератр?", "Где стоит генератор?", "генератр", "генератор", 1),
        ("ночная вохта", "ночная вахта", "вохта", "вахта", 1),
        ("जनरटर कहाँ है?", "जनरेटर कहाँ है?", "जनरटर", "जनरेटर", 1),
        ("where is the генератр", "where is the генератор", "генератр", "генератор", 1),
    ],
)
def test_an_unknown_term_becomes_the_closest_of_the_corpus(query, corrected, before, after, distance):
    assert SPELL.rewrite(query) == Rewritten(query, (corrected,), (Change("spell", before, after, distance),))


@pytest.mark.parametrize(
    "query",
    [
        "the generator",
        "generators and engines",  # inflections of words in the corpus
        "сколько вахт на станциях",
        "kitchen",  # nothing near
        "engxyz",  # six letters: two edits are too many
        "rom tnt",  # three letters
        "42nd engin3 2nnight",  # not of letters alone
        "about which while",  # stop words, some near words of the corpus
        "doesn't",
        "где когда будет который",
        "東京都庁の場所",  # no spaces between its words
        "nightwatch",  # as the tokeniser joins it
        "",
        " ?! ",
    ],
)
def test_what_is_left_alone(query):
    assert SPELL.rewrite(query) == Rewritten(query, (query,))


def test_a_stop_word_of_its_language_is_no_error():
    spell = Spell({"whale": 3, "куда": 1, "тогдй": 1})
    assert spell.rewrite("while тогда").changes == ()
    assert spell.rewrite("whele").queries == ("whale",)


def test_a_piece_that_the_corpus_joins_is_not_taken_apart():
    assert Spell({"cozintrate": 1, "zintrane": 3}).rewrite("to co-zintrate").changes == ()
    assert Spell({"zintrane": 3}).rewrite("to co-zintrate").queries == ("to co-zintrane",)


def test_several_terms_of_a_query():
    done = SPELL.rewrite("Genrator, engien and GENRATOR")
    assert done.queries == ("Generator, engine and GENERATOR",)
    assert [str(change) for change in done.changes] == [
        "spell: Genrator → Generator (1 edit)",
        "spell: engien → engine (1 edit)",
        "spell: GENRATOR → GENERATOR (1 edit)",
    ]


def test_an_inflection_by_the_language_of_the_query():
    """One corpus word is near, but another has the same stem: this is no error."""
    spell = Spell({"zinters": 1, "zintar": 9, "вахта": 1, "вахтол": 9})
    assert spell.rewrite("zinter вахтой").changes == ()
    assert spell.nearest("zinter") == ("zintar", 1)
    assert spell.nearest("вахтой") == ("вахтол", 1)
    german = Spell({"häuser": 1, "mausern": 5})
    assert german.rewrite("wo sind die Hauser und die Häusern").changes == ()


def test_a_common_english_word_is_no_slip_for_another():
    spell = Spell({"contain": 9, "moved": 5, "pulls": 2, "cattain": 1})
    assert spell.rewrite("has the captain removed pills").changes == ()
    assert spell.rewrite("the captian").queries == ("the cattain",)


@pytest.mark.parametrize(
    ("term", "word", "meant"),
    [
        ("latch", "watch", False),
        ("watcg", "watch", True),
        ("awtch", "watch", True),  # swapped
        ("enerator", "generator", True),  # one edit of a longer term
        ("benerator", "generator", True),
        ("enertor", "generator", False),
        ("postage", "voltage", False),
    ],
)
def test_the_first_letter_stays_but_for_a_swap_or_one_edit_of_a_longer_term(term, word, meant):
    assert (Spell({word: 1}).nearest(term) is not None) == meant


def test_ties_go_to_the_most_frequent_then_to_the_alphabet():
    assert Spell({"zabder": 2, "zasder": 5, "zafder": 5, "zalder": 1}).nearest("zaxder") == ("zafder", 1)
    assert Spell({"watching": 1, "watchings": 9}).nearest("wathcing") == ("watching", 1)


def test_only_words_of_the_same_script():
    assert Spell({"сорок": 1, "copy": 1}).nearest("copo") == ("copy", 1)
    assert Spell({"соро": 1}).nearest("coро") is None  # a Latin c and o before Cyrillic letters


@pytest.mark.parametrize(
    ("term", "word", "distance"),
    [("abcd", "abdc", 1), ("abcd", "abc", 1), ("abcd", "abcde", 1), ("abcd", "abed", 1), ("abcdefg", "badcefg", 2)],
)
def test_an_edit_adds_drops_replaces_or_swaps(term, word, distance):
    assert Spell({word: 1}).nearest(term) == (word, distance)


def test_counts_are_those_of_the_corpus():
    spell = Spell.build(["Night-watch, night watch; NIGHT a.b 4a x² नमस्ते"])
    assert spell.counts == {
        "nightwatch": 1, "night": 3, "watch": 2, "ab": 1, "a": 1, "b": 1, "नमस्ते": 1,
    }  # fmt: skip


def test_a_joined_word_at_the_end_of_a_text():
    assert Spell.build(["a night-watch"]).counts == {"a": 1, "nightwatch": 1, "night": 1, "watch": 1}


def test_lone_surrogates_do_no_harm(tmp_path):
    spell = Spell.build(["generator \ud800bad generator"])
    spell.save(tmp_path / "words")
    assert spell.counts["generator"] == 2
    assert spell.rewrite("genrator \udfff").queries == ("generator \udfff",)


def test_saved_and_loaded(tmp_path):
    path = tmp_path / "words.txt"
    SPELL.save(path)
    again = Spell.load(path)
    assert again.counts == SPELL.counts
    again.save(tmp_path / "again.txt")
    assert (tmp_path / "again.txt").read_bytes() == path.read_bytes()
    lines = path.read_text(encoding="utf-8").split("\n")
    assert lines[0] == f"karat spell 1\t{len(SPELL.counts)}"
    assert lines[1:-1] == sorted(lines[1:-1], key=lambda line: line.partition("\t")[0])
    assert "engine\t2" in lines
    assert rewriter_named(f"spell:{path}", lambda: pytest.fail("not needed")).counts == SPELL.counts
    assert rewriter_named("spell", lambda: TEXTS).counts == SPELL.counts


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "is empty"),
        ("word\t3\n", "is no list of words"),
        ("karat spell 2\t1\na\t1\n", "is no list of words"),
        ("karat spell 1\t2\na\t1\n", "2 words are announced, 1 whole"),
        ("karat spell 1\t1\na\t1", "is cut short"),
        ("karat spell 1\t1\na\t1\nb\t1", "is cut short or changed"),
        ("karat spell 1\t1\na\n", "line 2: 'a' is no word with a count"),
        ("karat spell 1\t1\na\t²\n", "line 2"),
        ("karat spell 1\t1\n\t1\n", "line 2"),
    ],
)
def test_a_foreign_or_broken_list_is_named_as_such(tmp_path, content, words):
    path = tmp_path / "words"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=words):
        Spell.load(path)


def test_rapidfuzz_and_the_stemmer_wait_for_an_unknown_term():
    code = (
        "import sys\nfrom karat.retrieve.rewriters.spell import Spell\n"
        "s = Spell.build(['the night watch'])\ns.rewrite('night watch')\n"
        "print(sorted({'rapidfuzz', 'Stemmer'} & set(sys.modules)))\n"
        "s.rewrite('wacth')\nprint(sorted({'rapidfuzz', 'Stemmer'} & set(sys.modules)))"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told.split("\n")[:2] == ["[]", "['Stemmer', 'rapidfuzz']"]
