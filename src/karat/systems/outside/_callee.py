"""Callee: how an object of the user's is asked a question. Frameworks are told by class and methods, never imported."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from karat.core.conversation import HISTORY, messages_of
from karat.core.errors import UsageError
from karat.core.types import Question

_QUESTION = ("input", "question", "query", "user_input", "text", "prompt", "message")  # names that take a question
_METHODS = ("query", "invoke", "retrieve", "search", "ask", "run")  # by which other objects are asked, best first
_RETRIEVING = frozenset({"retrieve", "search"})  # methods whose texts are no answers

Call = Callable[[Question, int], Any]


@dataclass(frozen=True, kw_only=True)
class Callee:
    """What was recognised, and the call that asks it; what that returns may be awaited.

    `answers`: a text alone is its answer. `alone`: it keeps a state, and is asked one question at a time. `told` gives
    sentences on how it was asked. `history`: it is given the earlier turns of a conversation, as messages.
    """

    kind: str
    call: Call
    told: Callable[[], tuple[str, ...]] = tuple
    answers: bool = False
    alone: bool = False
    history: bool = False


def callee_of(target: Any, name: str) -> Callee:
    """How to ask an object; UsageError where there is no way, or several and none is usual."""
    if inspect.isclass(target) or inspect.ismodule(target):
        what, instead = ("class", "an object of it") if inspect.isclass(target) else ("module", "what in it is asked")
        raise UsageError(f"{name!r} is a {what}. Give {instead}, or a function.")
    family = next((root for cls in type(target).__mro__ if (root := _family(cls)) in _FAMILIES), None)
    if family is None and hasattr(target, "__haystack_input__"):
        family = "haystack"
    callee = None if family is None else _FAMILIES[family](target, name)
    return callee or _function(target, name) or _with_method(target, name)


def _family(cls: type) -> str:
    root = cls.__module__.partition(".")[0]
    return "langchain" if root.startswith(("langchain", "langgraph")) else root


def _langchain(target: Any, name: str) -> Callee | None:
    if hasattr(target, "_get_relevant_documents"):
        return Callee(kind="LangChain retriever", call=lambda question, k: target.invoke(question.text))
    if hasattr(target, "similarity_search"):
        return Callee(
            kind="LangChain vector store", call=lambda question, k: target.similarity_search(question.text, k=k)
        )
    if not hasattr(target, "invoke"):
        return None
    forms, history = _langchain_forms(target, name)
    call = _FirstThatWorks(target.invoke, forms)
    return Callee(kind="LangChain runnable", call=call, told=call.told, answers=True, history=history)


Form = Callable[[Question], Any]


def _langchain_forms(target: Any, name: str) -> tuple[list[Form], bool]:
    """In what forms a runnable may take a question: the one that its schema says, or each that is usual.

    And whether it takes the earlier turns with it.
    """
    try:
        schema = target.get_input_jsonschema()
    except Exception:  # a schema that cannot be made says nothing
        schema = {}
    names = [one for one in schema.get("properties", {}) if one != "root"]
    required = schema.get("required", names)
    if isinstance(state := getattr(target, "channels", None), Mapping):  # of a graph, which fills the rest itself
        names = [one for one in state if one.isidentifier() and not one.startswith("_")]
        required = [one for one in _QUESTION if one in names][:1]
    if schema.get("type") == "string":
        return [lambda question: question.text], False
    if "messages" in names:
        return [lambda q: {"messages": [*messages_of(q.history), {"role": "user", "content": q.text}]}], True
    if names:
        filled, past = _filled(names, required, name), [one for one in names if one in HISTORY]
        return [lambda q: {filled: q.text, **{one: messages_of(q.history) for one in past}}], bool(past)
    return [lambda question: question.text, *(lambda q, one=one: {one: q.text} for one in _QUESTION[:3])], False


def _llama_index(target: Any, name: str) -> Callee | None:
    if hasattr(target, "chat") and hasattr(target, "reset"):

        def chat(question: Question, k: int) -> Any:
            target.reset()  # what was asked before is no part of the question
            return target.chat(question.text)

        return Callee(kind="LlamaIndex chat engine", call=chat, answers=True, alone=True)
    if hasattr(target, "query"):

        def query(question: Question, k: int) -> Any:
            reply = target.query(question.text)
            return reply.get_response() if hasattr(reply, "get_response") else reply  # of one that streams

        return Callee(kind="LlamaIndex query engine", call=query, answers=True)
    if hasattr(target, "retrieve"):
        return Callee(kind="LlamaIndex retriever", call=lambda question, k: target.retrieve(question.text))
    if hasattr(target, "as_retriever"):
        raise UsageError(f"{name!r} is a LlamaIndex index. Give its as_retriever() or as_query_engine().")
    return None


def _haystack(target: Any, name: str) -> Callee | None:
    if hasattr(target, "walk") and hasattr(target, "inputs"):
        return _haystack_pipeline(target, name)
    sockets = getattr(target, "__haystack_input__", None)
    if sockets is None:
        return None
    parameters = [p for p in inspect.signature(target.run).parameters.values() if p.kind is not p.VAR_KEYWORD]
    required = [p.name for p in parameters if p.default is p.empty]
    taken = _filled([p.name for p in parameters], required, name, "Give a pipeline in which other components fill them")
    if hasattr(target, "warm_up"):
        target.warm_up()
    return Callee(
        kind="Haystack component", call=lambda question, k: target.run(**{taken: question.text}), answers=True
    )


def _haystack_pipeline(target: Any, name: str) -> Callee:
    """A pipeline: every input called a question or query gets it, and all that gives documents is asked for them."""
    taken: dict[str, list[str]] = {}
    for component, sockets in target.inputs().items():
        for socket, about in sockets.items():
            if socket in _QUESTION and (about["is_mandatory"] or socket in ("question", "query")):
                taken.setdefault(component, []).append(socket)
            elif about["is_mandatory"]:
                raise UsageError(
                    f"{name!r} is a Haystack pipeline that needs {component}.{socket}, which is no question. Give a "
                    "function that runs it, or connect that input."
                )
    if not taken:
        raise UsageError(f"{name!r} is a Haystack pipeline without an input for a question ({', '.join(_QUESTION)}).")
    outputs = target.outputs(include_components_with_connected_outputs=True)
    telling = {component for component, sockets in outputs.items() if "documents" in sockets}
    order = [component for component, _ in target.walk()]

    def run(question: Question, k: int) -> Any:
        data = {component: dict.fromkeys(sockets, question.text) for component, sockets in taken.items()}
        reply = target.run(data, include_outputs_from=telling)
        return {component: reply[component] for component in order if component in reply}

    return Callee(kind="Haystack pipeline", call=run, answers=True)


def _dspy(target: Any, name: str) -> Callee | None:
    signature = getattr(target, "signature", None)
    names = list(getattr(signature, "input_fields", ()))
    if not names and hasattr(type(target), "forward"):  # of an object it warns that nobody should
        parameters = list(inspect.signature(type(target).forward).parameters.values())[1:]  # less self
        listed = [p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
        names = [p.name for p in listed if p.default is p.empty] or [p.name for p in listed]
    if not names:
        return None
    taken = _filled(names, names, name)
    retrieves = not hasattr(target, "named_predictors")
    kind = "DSPy retriever" if retrieves else "DSPy module"
    return Callee(kind=kind, call=lambda question, k: target(**{taken: question.text}), answers=not retrieves)


_FAMILIES: Mapping[str, Callable[[Any, str], Callee | None]] = {
    "langchain": _langchain,
    "llama_index": _llama_index,
    "haystack": _haystack,
    "dspy": _dspy,
}


def _filled(
    names: Sequence[str], required: Iterable[str], name: str, remedy: str = "Give a function that fills them"
) -> str:
    """The one of some inputs that takes the question; UsageError where others must be filled, or none can be it."""
    wanted = [one for one in required if one not in HISTORY]
    taken = wanted[0] if len(wanted) == 1 else next((one for one in _QUESTION if one in (wanted or names)), None)
    more = [one for one in wanted if one != taken]
    if taken is None or more:
        raise UsageError(f"{name!r} takes {', '.join(more or names)}, and karat has a question. {remedy}.")
    return taken


class _FirstThatWorks:
    """Asks in the first of several forms that raises nothing, and then always in that; until then, in each."""

    def __init__(self, call: Callable[[Any], Any], forms: Sequence[Form]) -> None:
        self._call, self._forms, self._lock = call, list(forms), threading.Lock()

    def __call__(self, question: Question, k: int) -> Any:
        if len(self._forms) == 1:
            return self._call(self._forms[0](question))
        with self._lock:
            first: Exception | None = None
            for form in self._forms:
                try:
                    reply = self._call(form(question))
                except (TypeError, KeyError, ValueError, AttributeError) as error:
                    first = first or error
                    if not _is_of_form(first):
                        break
                else:
                    self._forms = [form]
                    return reply
            assert first is not None
            raise first

    def told(self) -> tuple[str, ...]:
        """In what form it takes a question, where that had to be found out."""
        form = self._forms[0](Question("", "...")) if len(self._forms) == 1 else None
        return () if form is None or isinstance(form, str) else (f"asked with {form}",)


def _is_of_form(error: Exception) -> bool:
    """Whether an error may come of the form in which a question was put, rather than of the question."""
    return not isinstance(error, ValueError) or any(word in str(error).lower() for word in ("dict", "mapping"))


def _with_method(target: Any, name: str) -> Callee:
    """An object that none of the frameworks made, asked by a method of its own."""
    methods = [method for one in _METHODS for method in (one, f"a{one}") if callable(getattr(target, method, None))]
    if not methods:
        if callable(target):
            return _of_function(target, name, f"{type(target).__name__} object")
        raise UsageError(
            f"{name!r} is {type(target).__name__}, which karat cannot ask. Give a function, an object with "
            f"{', '.join(_METHODS)}, a URL, an index, or results; or wrap it in a function."
        )
    method, *others = methods
    kind = f"{type(target).__name__} object, asked by {method}()"
    kind += f" (it has {', '.join(f'{one}()' for one in others)} too)" if others else ""
    callee = _of_function(getattr(target, method), f"{name}.{method}", kind)
    answers = method.removeprefix("a") not in _RETRIEVING
    return Callee(kind=kind, call=callee.call, answers=answers, history=callee.history)


def _function(target: Any, name: str) -> Callee | None:
    """A function, a method, or what else is called and is no object with methods."""
    if not (inspect.isroutine(target) or hasattr(target, "__wrapped__") or type(target).__name__ == "partial"):
        return None
    return _of_function(target, name, "async function" if inspect.iscoroutinefunction(target) else "function")


def _of_function(function: Any, name: str, kind: str) -> Callee:
    arguments, history = _arguments(function, name)

    def call(question: Question, k: int) -> Any:
        positional, keywords = arguments(question, k)
        return function(*positional, **keywords)

    return Callee(kind=kind, call=call, answers=True, history=history)


Arguments = Callable[[Question, int], tuple[tuple[Any, ...], dict[str, Any]]]


def _arguments(function: Any, target: str) -> tuple[Arguments, bool]:
    """How to call a function, by what it takes, and whether it takes the earlier turns of a conversation."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return lambda question, k: ((question.text, k), {}), False
    past = [p for p in parameters[1:] if p.name in HISTORY and p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    parameters = [p for p in parameters if p not in past]
    by_place = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    rest = not past and any(p.kind is p.VAR_POSITIONAL for p in parameters)
    named = any(p.name == "k" and p.kind is not p.POSITIONAL_ONLY for p in parameters)
    if (not by_place and not rest) or (by_place and by_place[0].name == "k"):
        raise UsageError(f"{target!r} takes no question. Its first parameter is the question's text, then k.")
    second = not named and (by_place[1].default is inspect.Parameter.empty if len(by_place) > 1 else rest)
    given = {p.name for p in by_place[: 1 + second]} | ({"k"} if named else set())
    more = [
        p.name
        for p in parameters
        if p.default is p.empty and p.name not in given and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]
    if more:
        raise UsageError(f"{target!r} needs more than a question and k: {', '.join(more)}. Give them defaults.")
    whole = bool(by_place) and by_place[0].annotation in (Question, "Question", "karat.core.types.Question")

    def arguments(question: Question, k: int) -> tuple[tuple[Any, ...], dict[str, Any]]:
        first = question if whole else question.text
        messages = messages_of(question.history)
        more: dict[str, Any] = {p.name: messages for p in past if messages or p.default is p.empty}
        if second and past and by_place[1].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD:  # maybe behind the history
            return (first,), {**more, by_place[1].name: k}
        return ((first, k) if second else (first,)), ({**more, "k": k} if named else more)

    return arguments, bool(past) or whole
