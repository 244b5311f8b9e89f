"""Lists of additions and prefixes, phrasings, and one rewriter after the other."""

import json

import pytest

from karat.core.errors import InputError, UsageError
from karat.retrieve.rewrite import (
    REWRITERS,
    Change,
    Rewriter,
    Rewritten,
    queries_with_owner,
    rewrite_all,
    rewriter_named,
)
from karat.retrieve.rewriters.expand import Expand
from karat.retrieve.rewriters.phrasings import Phrasings


def no_texts():
    raise AssertionError("the corpus was asked for")


@pytest.fixture
def written(tmp_path):
    """Writes a file and gives its path."""

    def write(content, name="list.txt"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def test_the_registry_holds_the_rewriters():
    assert [entry.name for entry in REWRITERS] == ["expand", "hyde", "phrasings", "rephrase", "spell", "translate"]
    assert isinstance(Expand({}), Rewriter)
    with pytest.raises(UsageError, match=r"unknown rewriter 'spel'. Did you mean spell\?"):
        rewriter_named("spel", no_texts)


def test_additions_follow_a_query_that_holds_their_term_as_whole_words(written):
    path = written("# abbreviations\nSAR => search and rescue, rescue team\nnight watch => dog watch # shift\n\n")
    expand = rewriter_named(f"expand:{path}", no_texts)
    assert expand.rewrite("Who leads sar?") == Rewritten(
        "Who leads sar?",
        ("Who leads sar? search and rescue rescue team",),
        (Change("expand", "SAR", "search and rescue"), Change("expand", "SAR", "rescue team")),
    )
    assert expand.rewrite("a Night  WATCH!").queries == ("a Night  WATCH! dog watch",)
    for other in ("the sari", "watch at night", "night shift", "nightwatch", "sa r", ""):
        assert expand.rewrite(other) == Rewritten(other, (other,))


def test_an_addition_that_stands_in_the_query_is_not_added():
    expand = Expand({"SAR": ("search and rescue", "team"), "team": ("crew",)})
    assert expand.rewrite("SAR search and rescue").queries == ("SAR search and rescue team",)


def test_prefixes_make_further_phrasings_of_the_expanded_query(written):
    expand = Expand.load(written("\ufeffdefinition of\r\nprocedure for\r\nSAR => rescue\r\ndefinition of\r\n"))
    assert expand.prefixes == ("definition of", "procedure for")
    done = expand.rewrite("SAR")
    assert done.queries == ("SAR rescue", "definition of SAR rescue", "procedure for SAR rescue")
    assert done.changes[1] == Change("expand", "SAR", "definition of SAR rescue")


def test_a_term_of_two_lines_gets_the_additions_of_both(written):
    assert Expand.load(written("a => b\na => c, b\n")).additions == {"a": ("b", "c")}


def test_russian_and_hindi_terms(written):
    expand = Expand.load(written("ДГУ => дизель-генератор\nवि.अ. => विशेष अधिकारी\n"))
    assert expand.rewrite("Где дгу?").queries == ("Где дгу? дизель-генератор",)
    assert expand.rewrite("वि.अ. कौन है").queries == ("वि.अ. कौन है विशेष अधिकारी",)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("=> x", "line 2: '=> x' is neither a rule nor a prefix"),
        ("!! => x", "line 2: '!! => x' is neither"),
        ("x =>", "line 2: 'x =>' is neither"),
        ("x => a,,b", "line 2: 'x => a,,b' is neither"),
        ("x => a => b", "line 2: 'x => a => b' is neither"),
        ("x -> a", "line 2: 'x -> a' is neither a rule nor a prefix"),
        ("x = a", "neither a rule nor a prefix"),
        ("x\ta", "neither a rule nor a prefix"),
        ("***", "line 2: '\\*\\*\\*' is neither"),
    ],
)
def test_a_bad_line_is_refused_by_its_number(written, line, words):
    with pytest.raises(InputError, match=f"list.txt {words}|{words}"):
        Expand.load(written(f"definition of\n{line}\n"))


@pytest.mark.parametrize("load", [Expand.load, Phrasings.load], ids=["expand", "phrasings"])
def test_files_that_cannot_be_read(load, written, tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        load(tmp_path / "missing")
    with pytest.raises(InputError, match="is a folder"):
        load(tmp_path)
    with pytest.raises(InputError, match=r"list\.txt line 2: .*UTF-8"):
        load(written(b"definition\ncaf\xe9\n"))
    with pytest.raises(InputError, match=r"holds no rule|is empty"):
        load(written("\n"))
    with pytest.raises(InputError, match="is no path: it holds a NUL"):
        load("a\0b")


@pytest.mark.parametrize("name", ["expand", "phrasings"])
def test_a_list_must_be_named(name):
    with pytest.raises(UsageError, match=f"Write {name}:FILE"):
        rewriter_named(name, no_texts)


def test_phrasings_of_a_question_given_in_a_file(written):
    rows = [
        {"question": "How long is a watch?", "phrasings": ["duration of a watch", "How long is a watch?"]},
        {"question": "Где генератор?", "phrasings": ["расположение генератора"]},
        {"question": "how long is a watch", "phrasings": ["watch hours"]},
    ]
    path = written("\n".join(json.dumps(row) for row in rows) + "\n\n")
    phrasings = rewriter_named(f"phrasings:{path}", no_texts)
    done = phrasings.rewrite("how long is a WATCH?")
    assert done.queries == ("how long is a WATCH?", "duration of a watch", "How long is a watch?", "watch hours")
    assert [change.after for change in done.changes] == list(done.queries[1:])
    assert phrasings.rewrite("где генератор").queries == ("где генератор", "расположение генератора")
    assert phrasings.rewrite("another") == Rewritten("another", ("another",))


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "line 2: not valid JSON"),
        ("[1]", "line 2: an object with named fields was expected"),
        ('{"question": "??", "phrasings": ["a"]}', 'line 2: the field "question" holds no words'),
        ('{"question": "a"}', 'line 2: the field "phrasings"'),
        ('{"question": "a", "phrasings": []}', 'line 2: the field "phrasings"'),
        ('{"question": "a", "phrasings": "b"}', 'line 2: the field "phrasings"'),
        ('{"question": "a", "phrasings": ["b", 3]}', 'line 2: the field "phrasings"'),
        ('{"question": "a", "phrasings": ["b", " "]}', 'line 2: the field "phrasings"'),
        ("[" * 100_000, "line 2: the JSON is nested too deeply"),
    ],
)
def test_a_bad_record_is_refused_by_its_number(written, line, words):
    with pytest.raises(InputError, match=words):
        Phrasings.load(written('{"question": "a", "phrasings": ["b"]}\n' + line))


def test_queries_and_their_owners():
    queries, owner = queries_with_owner(
        [Rewritten("a", ("a", "b")), Rewritten("c", ("c",)), Rewritten("d", ("d", "e"))]
    )
    assert queries == ["a", "b", "c", "d", "e"]
    assert owner.tolist() == [0, 0, 1, 2, 2]
    assert queries_with_owner([])[1].tolist() == []


def test_one_rewriter_after_the_other():
    """Each takes every query of the one before; a change made in several of them is told once."""
    first = Phrasings({"watch": ("watch", "shift watch")})
    second = Expand({"watch": ("guard",)})
    (done,) = rewrite_all([first, second], ["watch"])
    assert done.original == "watch"
    assert done.queries == ("watch guard", "shift watch guard")
    assert done.changes == (Change("phrasings", "watch", "shift watch"), Change("expand", "watch", "guard"))
    same = Phrasings({"watch": ("watch guard",)})
    assert rewrite_all([same, second], ["watch"])[0].queries == ("watch guard",)
    assert rewrite_all([], ["watch"]) == [Rewritten("watch", ("watch",))]


def test_a_change_reads_as_one_line():
    assert str(Change("spell", "wacth", "watch", 1)) == "spell: wacth → watch (1 edit)"
    assert str(Change("spell", "genratr", "generator", 2)) == "spell: genratr → generator (2 edits)"
    assert str(Change("expand", "SAR", "rescue")) == "expand: SAR → rescue"
