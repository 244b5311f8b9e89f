"""How objects are asked: what they are recognised as, how the question is put, what is refused and why."""

import asyncio
from functools import partial
from types import SimpleNamespace as Made

import pytest

from karat.core.errors import UsageError
from karat.core.types import Question
from karat.systems.outside._callee import callee_of

Q = Question("q1", "how long?")


def of_framework(module, **members):
    """An object of a class that a framework's module defines."""
    return type("Thing", (), {"__module__": module, **members})()


def asked(target, k=3):
    callee = callee_of(target, "mine")
    return callee.kind, callee.call(Q, k)


def runnable(schema, invoke, **more):
    return of_framework(
        "langchain_core.runnables", get_input_jsonschema=lambda self: schema, invoke=lambda self, x: invoke(x), **more
    )


def same(value):
    return value


def test_functions_objects_and_what_they_are_called():
    assert asked(lambda text: text) == ("function", "how long?")
    assert asked(partial(lambda top, text, k: (text, k, top), "t")) == ("function", ("how long?", 3, "t"))

    class Mine:
        def retrieve(self, text, k):
            return [text, k]

        def query(self, text):
            return text

    assert asked(Mine()) == ("Mine object, asked by query() (it has retrieve() too)", "how long?")
    assert asked(Mine().retrieve) == ("function", ["how long?", 3])
    assert asked(Made(aretrieve=lambda text: text)) == ("SimpleNamespace object, asked by aretrieve()", "how long?")
    assert callee_of(Mine(), "mine").answers
    assert not callee_of(Made(retrieve=same), "mine").answers

    class Called:
        def __call__(self, text):
            return text

    assert asked(Called()) == ("Called object", "how long?")


def test_an_async_function_is_one():
    async def search(text):
        return text

    kind, awaitable = asked(search)
    assert (kind, asyncio.run(awaitable)) == ("async function", "how long?")


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        (int, "is a class. Give an object of it"),
        (asyncio, "is a module. Give what in it is asked"),
        (7, "'mine' is int, which karat cannot ask. Give a function"),
        (Made(run=lambda: 1), "'mine.run' takes no question"),
        (lambda text, k, client: text, "needs more than a question and k: client"),
        (of_framework("llama_index.core.indices", as_retriever=same), "Give its as_retriever() or as_query_engine()"),
    ],
)
def test_what_cannot_be_asked_says_why(target, reason):
    with pytest.raises(UsageError) as refused:
        callee_of(target, "mine")
    assert reason in str(refused.value)


def test_langchain():
    retriever = of_framework(
        "langchain_core.retrievers", _get_relevant_documents=same, invoke=lambda self, text: [text]
    )
    assert asked(retriever) == ("LangChain retriever", ["how long?"])
    store = of_framework("langchain_community.x", similarity_search=lambda self, text, k: [text, k])
    assert asked(store) == ("LangChain vector store", ["how long?", 3])


@pytest.mark.parametrize(
    ("schema", "given"),
    [
        ({"type": "string"}, "how long?"),
        ({"properties": {"question": {}}, "required": ["question"]}, {"question": "how long?"}),
        ({"properties": {"topic": {}}, "required": ["topic"]}, {"topic": "how long?"}),
        ({"properties": {"input": {}, "chat_history": {}}, "required": ["input", "chat_history"]},
         {"input": "how long?", "chat_history": []}),
        ({"properties": {"messages": {}}}, {"messages": [{"role": "user", "content": "how long?"}]}),
    ],
)  # fmt: skip
def test_a_runnable_is_given_what_its_schema_says(schema, given):
    assert asked(runnable(schema, same)) == ("LangChain runnable", given)


@pytest.mark.parametrize(
    ("state", "given"),
    [
        (("__start__", "question", "context", "answer", "branch:to:search"), {"question": "how long?"}),
        (("messages", "question"), {"messages": [{"role": "user", "content": "how long?"}]}),
    ],
)
def test_a_graph_is_given_the_question_and_fills_the_rest_of_its_state(state, given):
    schema = {"properties": dict.fromkeys(state), "required": list(state)}
    graph = runnable(schema, same, channels=dict.fromkeys(state))
    assert asked(graph) == ("LangChain runnable", given)
    with pytest.raises(UsageError, match="takes topic, draft, and karat has a question"):
        callee_of(runnable(schema, same, channels=dict.fromkeys(("__start__", "topic", "draft"))), "mine")


def test_a_runnable_without_a_schema_is_asked_as_it_can_take_it():
    tried = []

    def invoke(value):
        tried.append(value)
        return value["question"]

    callee = callee_of(runnable({"properties": {"root": {}}}, invoke), "mine")
    assert [callee.call(Q, 3), callee.call(Q, 3)] == ["how long?", "how long?"]
    assert tried == ["how long?", {"input": "how long?"}, {"question": "how long?"}, {"question": "how long?"}]


def test_a_runnable_that_needs_more_is_refused():
    with pytest.raises(UsageError, match="takes language, and karat has a question"):
        callee_of(runnable({"properties": {"question": {}, "language": {}}}, same), "mine")


def test_an_error_on_the_first_question_spoils_no_form():
    calls = []

    def invoke(value):
        calls.append(value)
        if len(calls) == 1:
            raise ValueError("rate limit")
        return value

    callee = callee_of(runnable({}, invoke), "mine")
    with pytest.raises(ValueError, match="rate limit"):
        callee.call(Q, 3)
    assert [callee.call(Q, 3), calls] == ["how long?", ["how long?"] * 2]
    never = callee_of(runnable({}, lambda value: value["nothing"]), "mine")
    for _ in range(2):
        with pytest.raises(TypeError):
            never.call(Q, 3)


def test_the_form_that_was_found_is_told():
    callee = callee_of(runnable({}, lambda value: value["question"]), "mine")
    assert callee.told() == ()
    callee.call(Q, 3)
    assert callee.told() == ("asked with {'question': '...'}",)


def test_llama_index():
    engine = of_framework("llama_index.core.x", query=lambda self, text: text, retrieve=same)
    assert asked(engine) == ("LlamaIndex query engine", "how long?")
    retriever = of_framework("llama_index.core.x", retrieve=lambda self, text: [text])
    assert asked(retriever) == ("LlamaIndex retriever", ["how long?"])
    streaming = of_framework("llama_index.core.x", query=lambda self, text: Made(get_response=lambda: f"{text} so"))
    assert asked(streaming) == ("LlamaIndex query engine", "how long? so")
    said = []
    chat = of_framework("llama_index.core.x", chat=lambda self, text: said.append(text) or list(said),
                        reset=lambda self: said.clear())  # fmt: skip
    callee = callee_of(chat, "mine")
    assert [callee.call(Q, 3), callee.call(Q, 3)] == [["how long?"]] * 2  # no question hears those before it
    assert callee.alone


def pipeline(inputs, outputs=None, order=(), replies=None):
    seen = []

    def run(self, data, include_outputs_from):
        seen.append((data, include_outputs_from))
        return replies or {}

    made = of_framework(
        "haystack.core.pipeline", inputs=lambda self: inputs, walk=lambda self: [(name, None) for name in order],
        outputs=lambda self, include_components_with_connected_outputs: outputs or {}, run=run,
    )  # fmt: skip
    return made, seen


def test_a_haystack_pipeline_gets_the_question_wherever_it_is_wanted():
    needed, optional = {"is_mandatory": True}, {"is_mandatory": False}
    made, seen = pipeline(
        {"embedder": {"text": needed}, "builder": {"question": optional, "template": optional}},
        {"retriever": {"documents": {}}, "llm": {"replies": {}}},
        ["embedder", "retriever", "llm"],
        {"llm": {"replies": ["so"]}, "retriever": {"documents": []}},
    )
    kind, reply = asked(made)
    assert (kind, list(reply)) == ("Haystack pipeline", ["retriever", "llm"])  # in the order of the pipeline
    given = {"embedder": {"text": "how long?"}, "builder": {"question": "how long?"}}
    assert seen == [(given, {"retriever"})]


def test_a_haystack_pipeline_that_needs_more_is_refused():
    with pytest.raises(UsageError, match=r"needs retriever\.query_embedding, which is no question"):
        callee_of(pipeline({"retriever": {"query_embedding": {"is_mandatory": True}}})[0], "mine")
    with pytest.raises(UsageError, match="without an input for a question"):
        callee_of(pipeline({})[0], "mine")


def test_a_haystack_component():
    class Retriever:
        __haystack_input__ = object()

        def run(self, query, top_k=None):
            return {"documents": [query]}

    class ByVector:
        __haystack_input__ = object()

        def run(self, query_embedding, text):
            return {}

    assert asked(Retriever()) == ("Haystack component", {"documents": ["how long?"]})
    with pytest.raises(UsageError, match=r"takes query_embedding.*Give a pipeline"):
        callee_of(ByVector(), "mine")


def test_dspy():
    class Module:
        __module__ = "dspy.primitives.module"

        def named_predictors(self):
            return []

        def forward(self, question):
            return question

        def __call__(self, **given):
            return given

    assert asked(Module()) == ("DSPy module", {"question": "how long?"})
    predict = Module()
    predict.signature = Made(input_fields={"context": 1, "question": 2})
    with pytest.raises(UsageError, match="takes context, and karat has a question"):
        callee_of(predict, "mine")


def test_forward_of_a_dspy_module_is_not_touched_as_that_warns():
    class Module:
        __module__ = "dspy.primitives"

        def __getattribute__(self, name):
            assert name != "forward"
            return super().__getattribute__(name)

        def forward(self, question):
            return question

        def named_predictors(self):
            return []

        def __call__(self, **given):
            return given

    assert asked(Module()) == ("DSPy module", {"question": "how long?"})
