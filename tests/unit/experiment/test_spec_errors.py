"""Mistakes in karat.yaml: each is told with its line, what is wrong and what to write."""

import pytest

from karat.core.errors import InputError, UsageError
from karat.experiment.spec import option_values, spec_of

BASE = "corpus: docs\ntestset: qa.json\n"
HTTP = "systems:\n  - http:\n      url: http://h/s\n      body: {q: '{question}'}\n      ids: $.hits[*].id\n"


def told(text):
    with pytest.raises(InputError) as caught:
        spec_of(text)
    assert caught.value.__cause__ is None
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("systms: [rrf]", "karat.yaml line 3, systms: unknown key. Did you mean systems?"),
        ("systems: [rrf]\nzzz: 1", "line 4, zzz: unknown key. Known here: name, corpus, reading, pool, index, "),
        ("systems:\n  - rrf\n  - engine: hybrid\n    alpah: 0.3", "line 6, systems[1].alpah: unknown key. Did you mea"),
        ("systems: [{preset: rrf, nam: x}]", "systems[0].nam: unknown key. Did you mean name?"),
        ("systems: [rrf]\npool: {jbs: 3}", "line 4, pool.jbs: unknown key. Did you mean jobs?"),
        ("systems: [rrf]\npool: {address: auto}", "line 4, pool: an address and resources are for Ray"),
        ("systems: [rrf]\npool: {by: ray, resources: {embd: {gpu: 1}}}", "pool: resources are given for 'embd', which"),
        ("sweep: {alfa: 0:1:0.1}", "line 3, sweep.alfa: unknown key. Did you mean alpha?"),
        ("systems: [rrf]\nbudgets: {timeout: 3}", "line 4, budgets.timeout: unknown key. Did you mean timeout_seconds"),
        ("systems: [rrf]\nembedder: {name: wordllama, prefix: x}", "embedder.prefix: unknown key. Did you mean query_"),
        ("systems: [{engine: faiss:x, embedder: {nam: y}}]", "systems[0].embedder.nam: unknown key. Did you mean name"),
        ("systems: [dense_hevy]", "line 3, systems[0]: unknown preset 'dense_hevy'. Did you mean dense_heavy?"),
        ("systems: [{preset: balance}]", "systems[0].preset: unknown preset 'balance'. Did you mean balanced?"),
        ("systems: [{alpha: .5}]", "names no system. A system has exactly one of preset, engine, results, call, http."),
        ("systems: [{presett: rrf}]", "names no system: 'presett' is no key. Did you mean preset?"),
        ("systems: [{preset: rrf, call: 'a:b'}]", "has both preset and call. A system has exactly one of"),
        ("systems: [3]", "line 3, systems[0]: 3 is not a text."),
        ("systems: rrf", "line 3, systems: 'rrf' is not a list."),
        ("systems:", "line 3, systems: is empty."),
        ("systems: []", "systems: names nothing to compare."),
        ("systems: [rrf, rrf]", "systems[1]: two systems are called 'rrf' (the other is systems[0])."),
        ("systems: [rrf, {engine: bm25, name: rrf}]", "systems[1].name: two systems are called 'rrf'"),
        ("systems: [{engine: hybrid, alpha: 1.5}]", "systems[0].alpha: 1.5 cannot be: it must be at most 1"),
        ("systems: [{engine: hybrid, alpha: -0.1}]", "systems[0].alpha: -0.1 cannot be: it must be at least 0"),
        ("systems: [{engine: hybrid, alpha: true}]", "systems[0].alpha: true is not a number."),
        ("systems: [{engine: hybrid, alpha: '${A}'}]", "alpha: '${A}' is not a number. ${...} works in texts only."),
        ("systems: [{engine: bm25, alpha: 0.5}]", "systems[0].alpha: has no effect with engine bm25. Remove it."),
        ("systems: [{preset: rrf, normalise: minmax}]", "normalise: has no effect with rrf fusion. Remove it."),
        ("systems: [{preset: balanced, alpha: 0.5}]", "systems[0].alpha: unknown key."),
        ("systems: [{preset: balanced, rerank_depth: 5}]", "rerank_depth: has no effect"),
        ("systems: [{engine: hybrid, fusion: rff}]", "systems[0]: unknown fusion 'rff'. Did you mean rrf?"),
        ("systems: [{engine: hybrid, normalise: maks}]", "normalise='maks' is unknown"),
        ("systems: [{engine: hybrid, legs: [dense]}]", "a hybrid fuses two engines or more"),
        ("systems: [{preset: rrf, rewrite: [hide]}]", "systems[0]: unknown rewriter 'hide'. Did you mean hyde?"),
        ("systems: [{preset: rrf, rewrite: ['rephrase:x']}]", "systems[0]: rephrase:x: write how many phrasings"),
        ("systems: [{preset: rrf, rewrite: [hyde]}]", "systems[0]: asks a chat model to rewrite or rerank, and none"),
        ("systems: [{preset: rrf, rerank: chat}]", "systems[0]: asks a chat model to rewrite or rerank, and none"),
        ("systems: [rrf]\nanswer: {by: http, http: {url: http://h/a, ids: $.i}}", "answer.http.ids: has no effect"),
        ("systems: [rrf]\nanswer: {by: http, http: {url: http://h/a, answer: 'x['}}", "answer.http.answer: "),
        ("systems: [rrf]\nanswer: {by: http, http: {url: http://h/a, body: {q: 1}}}", "answer.http: sends no question"),
        ("systems: [rrf]\nanswer: {by: http, http: {url: h/a}}", "answer.http.url: is no address."),
        ("systems: [rrf]\nanswer: {by: http, http: {url: http://h, headers: {X-Api-Key: a}}}", "X-Api-Key: is a secr"),
        ("systems: [{engine: bm52}]", "systems[0]: searches 'bm52', which is not built."),
        ("engines: [bm25]\nsystems: [balanced]", "systems[0]: searches 'dense', which is not built. Add it to engines"),
        ("systems: [{engine: 'fais:x'}]", "systems[0].engine: unknown store 'fais'. Did you mean faiss?"),
        ("systems: [{engine: hybrid, depth: 0}]", "systems[0].depth: 0 cannot be: it must be at least 1."),
        ("systems: [{call: search}]", "systems[0].call: 'search' names no function. Write module:function"),
        ("systems: [{call: 'm:a b'}]", "names no function"),
        ("systems: [rrf]\nk: 0", "line 4, k: 0 cannot be: it must be at least 1."),
        ("systems: [rrf]\nk: [5, 2.5]", "k[1]: 2.5 is not a whole number."),
        ("systems: [rrf]\nk: []", "line 4, k: is empty."),
        ("systems: [rrf]\nmeasures: [Recal@5]", "measures[0]: unknown measure 'Recal'. Did you mean Recall?"),
        ("systems: [rrf]\nmain: F1@k", "main: 'F1@k': which k?"),
        ("systems: [rrf]\nmain: nDGC@5", "line 4, main: unknown measure 'nDGC'. Did you mean nDCG?"),
        ("systems: [rrf]\ndialect: healthcar", "dialect: unknown dialect 'healthcar'. Did you mean healthcare?"),
        ("systems: [rrf]\nmatch: exct", "match: unknown matcher 'exct'. Did you mean exact?"),
        ("systems: [rrf]\npages: phisical", "pages: 'phisical' is not known. Did you mean physical? There are physica"),
        ("systems: [rrf]\nrepeats: twice", "repeats: 'twice' is not known. There are once, collapse, count."),
        ("systems: [rrf]\nrel: 0", "rel: 0 cannot be: it must be at least 1."),
        ("systems: [rrf]\nseed: x", "seed: 'x' is not a whole number."),
        ("systems: [rrf]\ntitles: yes", "titles: 'yes' is not true or false."),
        ("systems: [rrf]\nchunk: tokns:5", "chunk: unknown chunker 'tokns'. Did you mean tokens?"),
        ("systems: [rrf]\nchunk: [page, page]", "chunk[1]: stands here twice."),
        ("systems: [rrf]\nembedder: wordlama", "embedder: unknown embedder 'wordlama'. Did you mean wordllama?"),
        ("systems: [rrf]\nengines: [bm25, dens]", "engines[1]: unknown engine 'dens'. Did you mean dense?"),
        ("systems: [rrf]\nsettings: {bm52: {k1: 1}}", "settings.bm52: is no engine that is built."),
        ("systems: [rrf]\noutputs: [htm]", "outputs[0]: 'htm' is not known. Did you mean html?"),
        ("systems: [rrf]\nbudgets: {jobs: 0}", "budgets.jobs: 0 cannot be: it must be at least 1."),
        ("systems: [rrf]\nbudgets: {timeout_seconds: 0}", "timeout_seconds: 0 cannot be: it must be more than 0"),
        ("systems: [rrf]\nname: a/b", "name: 'a/b' cannot be part of a folder's name."),
        ("systems: [rrf]\nname: ''", "name: is empty."),
        ("systems: [rrf]\nname: 5", "name: 5 is not a text. Put it in quotes."),
        ("systems: [rrf]\nname: a${b", "name: a ${ without its }."),
        ("systems: [rrf]\nname: ${1 b}", "name: ${...} names a variable of the environment"),
        ("systems: [rrf]\nwhere: {half: }", "where.half: is empty."),
        ("systems: [rrf]\nindex: x", "index: stands beside corpus."),
        ("sweep: {}", "sweep: names nothing to vary."),
        ("sweep: {alpha: 0:2:0.5}", "sweep.alpha: alpha=1.5 is not between 0 (sparse only) and 1 (dense only)."),
        ("sweep: {alpha: 1:0:0.1}", "sweep.alpha: alpha: the range '1:0:0.1' runs backwards."),
        ("sweep: {alpha: [0.5, true]}", "sweep.alpha[1]: true is neither a number nor a range."),
        ("sweep: {k: 0}", "sweep.k: k=0: a cut-off is a whole number of 1 or more."),
        ("sweep: {fusion: rff}", "sweep.fusion: unknown fusion 'rff'. Did you mean rrf?"),
        ("sweep: {fusion: rrf, alpha: 0.5}", "sweep.alpha: has no effect without the fusion weighted."),
    ],
)  # fmt: skip
def test_a_mistake_is_told(more, said):
    assert said in told(BASE + more + "\n")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "karat.yaml: is empty. Write one with `karat init DOCS TESTSET`."),
        ("- a\n", "karat.yaml: holds no keys."),
        ("corpus: d\nsystems: [rrf]\n", "testset: is missing. Add it."),
        ("testset: q\nsystems: [rrf]\n", "line 2, systems[0]: searches documents, and none are named. Add corpus"),
        ("testset: q\nsweep: {alpha: 0.5}\n", "sweep: searches documents, and none are named."),
        ("testset: q\nindex: i\nchunk: page\nsystems: [rrf]\n", "line 3, chunk: has no effect on an index that stands"),
    ],
)
def test_a_mistake_of_the_whole_is_told(text, said):
    assert said in told(text)


def test_systems_of_others_need_no_documents():
    spec_of("testset: q\nsystems: [{results: r.jsonl}, {call: 'm:f'}, {engine: 'faiss:store'}]\n")


def test_several_mistakes_are_told_at_once_by_line():
    text = BASE + "systems: [rrf]\nk: 0\nrel: 0\nseed: -1\nmian: F1@5\n"
    assert told(text) == (
        "karat.yaml line 4, k: 0 cannot be: it must be at least 1. "
        "Also line 5, rel: 0 cannot be: it must be at least 1. "
        "Also line 6, seed: -1 cannot be: it must be at least 0. And 1 more."
    )


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("url: http://h/s", "url: ftp://h/s", "systems[0].http.url: is no address."),
        ("url: http://h/s", "url: http://me:pw@h/s", "http.url: holds a user name or a password."),
        ("url: http://h/s", "url: 'http://h/s?api_key=s3cret'", "http.url: the parameter 'api_key' is a secret in cle"),
        ("url: http://h/s", "url: http://h/s\n      method: PATCH", "http.method: 'PATCH' is not known."),
        ("url: http://h/s", "url: http://h/s\n      headers: {Authorization: Bearer s3cret}", "headers.Authorization:"),
        ("url: http://h/s", "url: http://h/s\n      headers: {x-api-key: s3cret}", "headers.x-api-key: is a secret in"),
        ("url: http://h/s", "url: http://h/s\n      headers: {'a b': c}", "http.headers: 'a b' is no name of a header"),
        ("url: http://h/s", "url: http://h/s\n      headers: {Authorization: [s3cret]}", "the value is not a text"),
        ("url: http://h/s", "url: http://h/s\n      method: GET", "http.body: is not sent with GET."),
        ("{q: '{question}'}", "{q: '{question}', deep: [{password: s3cret}]}", "http.body.deep[0].password: is a secr"),
        ("{q: '{question}'}", "{q: x}", "systems[0].http: sends no question."),
        ("{q: '{question}'}", "'{q: s3cret}'", "http.body: is a text. Write it as keys and values"),
        ("{q: '{question}'}", "3", "http.body: is neither keys and values nor a list."),
        ("ids: $.hits[*].id", "ids: $..id", "http.ids: cannot read the path '$..id'"),
        ("ids: $.hits[*].id", "scores: $.s", "systems[0].http: says where scores stand, and not of what."),
        ("ids: $.hits[*].id", "idds: $.s", "http.idds: unknown key. Did you mean ids?"),
    ],
)  # fmt: skip
def test_mistakes_of_an_endpoint_are_told_and_no_secret_with_them(old, new, said):
    text = told("testset: q\n" + HTTP.replace(old, new))
    assert said in text
    assert "s3cret" not in text


def test_the_option_that_lacks_a_model_is_the_one_that_was_given():
    with pytest.raises(UsageError, match=r"^--price-batch is for a chat model, and none is named"):
        option_values({}, model=None, jobs=None, price_batch=0.5)
