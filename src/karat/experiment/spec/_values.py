"""Values of karat.yaml: every kind is checked where it is declared, by what reads it later."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self
from urllib.parse import parse_qsl, urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_serializer, model_validator

from karat.core.errors import KaratError
from karat.core.language import parse_all
from karat.corpus import Chunking
from karat.experiment.spec._yaml import Place
from karat.io.dataset_folder import is_dataset_id
from karat.measures.dialects import names_everywhere
from karat.models import EMBEDDERS, EmbedderSettings
from karat.models.hosts import host_of
from karat.retrieve import ENGINES
from karat.systems.environment import check_template, has_variables

Mistake = tuple[Place, str]
SECRET = re.compile(
    r"authorization|cookie|api[-_]?key|secret|password|passwd|credential|(access|auth|bearer)[-_]?token|^(x-)?token$"
    r"|(^|-)(key|token)$",
    re.IGNORECASE,
)
IN_CLEAR = (
    "is a secret in clear text. Write ${NAME} for it and set the environment variable NAME, so that it reaches no file."
)


class MisfitError(ValueError):
    """Values that do not fit together: what is wrong at each place, counted from the value that holds them."""

    def __init__(self, mistakes: Sequence[Mistake]) -> None:
        super().__init__("values that do not fit together")
        self.mistakes = tuple(mistakes)


@dataclass(frozen=True)
class Use:
    """One thing that a key names: code that is run, a model that is loaded from a folder, or a host that is asked."""

    place: Place
    kind: Literal["code", "model", "host"]
    name: str

    @property
    def refused(self) -> str:
        """What it would do, as the beginning of a sentence."""
        what = {"code": "would run the code of", "model": "would load the model in", "host": "would ask the host"}
        return f"{what[self.kind]} {self.name}"


def host_use(place: Place, address: str) -> Use:
    """The host of an address; what waits for the environment, or for a question, is shown as it is written."""
    parts = urlsplit(address)
    waits = "{" in parts.netloc or not parts.netloc
    return Use(place, "host", (parts.netloc or address) if waits else host_of(f"{parts.scheme}://{parts.netloc}"))


class KeysModel(BaseModel):
    """A mapping that knows its keys. `short` is the one whose value alone may stand for the mapping."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, hide_input_in_errors=True)
    short: ClassVar[str | None] = None

    def misfits(self) -> Iterator[Mistake]:
        """Keys that do not fit each other."""
        return iter(())

    def uses(self) -> Iterator[Use]:
        """What its values make karat run, load or ask, in the order of the keys."""
        for name in type(self).model_fields:
            value = getattr(self, name)
            placed = (
                [((name, i), one) for i, one in enumerate(value)] if isinstance(value, list) else [((name,), value)]
            )
            for place, one in placed:
                if isinstance(one, KeysModel):
                    yield from (replace(use, place=(*place, *use.place)) for use in one.uses())

    @model_validator(mode="after")
    def _fitting(self) -> Self:
        if mistakes := list(self.misfits()):
            raise MisfitError(mistakes)
        return self

    @model_serializer(mode="wrap")
    def _plain(self, whole: Callable[[Self], dict[str, Any]]) -> Any:
        """In plain values; None is left out where it says no more than that nothing is given."""
        if self.short is not None and self.model_fields_set == {self.short}:
            return getattr(self, self.short)
        fields = type(self).model_fields
        return {
            key: value for key, value in whole(self).items() if value is not None or fields[key].default is not None
        }


def read_by(reader: Callable[[str], object]) -> AfterValidator:
    """Holds a text to what reads it later; one that waits for the environment is right until that is known."""

    def checked(text: str) -> str:
        try:
            if not has_variables(text):
                reader(text)
        except KaratError as problem:
            raise ValueError(str(problem)) from None
        return text

    return AfterValidator(checked)


def _template(text: str) -> str:
    try:
        check_template(text)
    except KaratError as problem:
        raise ValueError(str(problem)) from None
    if not text.strip():
        raise ValueError("is empty. Write a value, or remove the key.")
    return text


def _listed(value: Any) -> Any:
    return [value] if value is not None and not isinstance(value, list) else value


def short_for(key: str) -> Callable[[Any], Any]:
    """Reads a value alone as a mapping with this key."""
    return lambda value: value if isinstance(value, dict | KeysModel) else {key: value}


def _once(values: list[Any]) -> list[Any]:
    twice = [i for i, value in enumerate(values) if value in values[:i]]
    if twice:
        raise MisfitError([((twice[0],), "stands here twice. Remove one.")])
    return values


def _mentioned(value: Any) -> Any:
    """Values of a filter as texts: 3 and "3" are the same."""
    if not isinstance(value, dict):
        return value
    return {name: [_plain(v) for v in _listed(values) or ()] for name, values in value.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | float) else value


def _number(value: Any) -> float | str:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"{_plain(value)} is neither a number nor a range. Write numbers like 0.5 or 0:1:0.1.")
    return value if isinstance(value, str) else float(value)


def _body(value: Any) -> Any:
    if isinstance(value, str):
        raise ValueError("is a text. Write it as keys and values, without quotes around the whole.")
    if not isinstance(value, dict | list):
        raise ValueError("is neither keys and values nor a list.")
    return value


def _folder_name(text: str) -> str:
    if not text.isprintable() or len(text) > 60:
        raise ValueError("must be at most 60 printable characters. Shorten it.")
    if text.startswith(".") or any(c in '/\\:*?"<>|' for c in text):
        raise ValueError(f"{text!r} cannot be part of a folder's name. Use letters, digits, - and _.")
    return text


def _address(url: str) -> str:
    if url.startswith("${"):
        return url
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise ValueError("is no address. Write it like http://localhost:8000/search.")
    if "@" in parts.netloc:
        raise ValueError("holds a user name or a password. Send them in headers, as ${NAME}.")
    for name, value in parse_qsl(parts.query):
        if SECRET.search(name) and "${" not in value:
            raise ValueError(f"the parameter {name!r} {IN_CLEAR}")
    return url


def _embedder(text: str) -> None:
    if (name := text.partition(":")[0]) not in EMBEDDERS:
        EMBEDDERS.get(name)


def _measure(text: str) -> None:
    if ":" not in text:  # else it is code of the user's, which is loaded by the run
        parse_all(text, k=1, names=names_everywhere())


OR_ONE_TEXT = BeforeValidator(_listed, json_schema_input_type=str | list[str])
ONCE = AfterValidator(_once)
Text = Annotated[str, AfterValidator(_template)]
Texts = Annotated[list[Text], OR_ONE_TEXT, Field(min_length=1)]
Slices = Annotated[list[Text], OR_ONE_TEXT]
Name = Annotated[Text, AfterValidator(_folder_name)]
Address = Annotated[Text, AfterValidator(_address)]
Chunkings = Annotated[list[Annotated[Text, read_by(Chunking.parse)]], OR_ONE_TEXT, Field(min_length=1), ONCE]
Engines = Annotated[list[Annotated[Text, read_by(ENGINES.get)]], OR_ONE_TEXT, Field(min_length=1), ONCE]
Measures = Annotated[list[Annotated[Text, read_by(_measure)]], OR_ONE_TEXT, Field(min_length=1)]
Cut = Annotated[int, Field(ge=1)]
Cuts = Annotated[list[Cut], BeforeValidator(_listed, json_schema_input_type=Cut | list[Cut]), Field(min_length=1)]
Number = Annotated[Any, AfterValidator(_number)]
Range = Annotated[
    list[Number],
    BeforeValidator(_listed, json_schema_input_type=float | str | list[float | str]),
    Field(min_length=1),
]
Filter = Annotated[
    dict[str, Annotated[list[Text], Field(min_length=1)]],
    BeforeValidator(_mentioned, json_schema_input_type=dict[str, Any]),
]
Body = Annotated[Any, BeforeValidator(_body, json_schema_input_type=dict[str, Any] | list[Any])]
Share = Annotated[float, Field(ge=0, le=1)]
Seconds = Annotated[float, Field(gt=0, le=86_400)]
Jobs = Annotated[int, Field(ge=1, le=256)]
Retries = Annotated[int, Field(ge=0, le=20)]
Price = Annotated[float, Field(ge=0)]


class EmbedderKeys(KeysModel):
    """An embedder with more than its name."""

    short = "name"
    name: Annotated[Text, read_by(_embedder)] = Field(
        description="wordllama, sbert[:FOLDER], multilingual, onnx:FOLDER or openai:MODEL."
    )
    query_prefix: str = Field("", description="Put before each query that is embedded.")
    passage_prefix: str = Field("", description="Put before each passage that is embedded.")
    base_url: Text | None = Field(None, description="Address of an OpenAI-compatible endpoint, for openai:MODEL.")
    key_env: Text = Field("OPENAI_API_KEY", description="The environment variable that holds the endpoint's key.")
    timeout_seconds: Seconds = Field(60.0, description="For one request to an endpoint.")
    retries: Retries = Field(5, description="Attempts after a request that failed.")

    def settings(self, rooted: Callable[[str], str] = str) -> EmbedderSettings:
        """The same for whoever embeds; `rooted` makes the path of a folder one that can be opened."""
        embedder = EmbedderSettings.parse(**{"text" if key == "name" else key: value for key, value in self})
        if embedder.target and embedder.name in ("onnx", "sbert"):
            return replace(embedder, target=rooted(embedder.target))
        return embedder

    def uses(self) -> Iterator[Use]:
        return embedder_uses((), self.settings())


def embedder_uses(place: Place, embedder: EmbedderSettings) -> Iterator[Use]:
    """The host that an embedder asks, and the folder that it is loaded from."""
    if embedder.address is not None:
        yield host_use(place, embedder.address)
    if embedder.folder is not None:
        yield Use(place, "model", embedder.label)


EmbedderValue = Annotated[EmbedderKeys, BeforeValidator(short_for("name"), json_schema_input_type=str | EmbedderKeys)]
Embedders = Annotated[
    list[EmbedderValue],
    BeforeValidator(_listed, json_schema_input_type=str | EmbedderKeys | list[str | EmbedderKeys]),
    Field(min_length=1),
    ONCE,
]


def rooted(folder: Path, text: str) -> Path:
    """A path of karat.yaml, from the folder it stands in."""
    return Path(text) if is_dataset_id(text) else folder / os.path.expanduser(text)
