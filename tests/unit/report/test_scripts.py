"""Scripts: modules joined in the order they need each other, what joining would break refused, markup nowhere."""

import re
from importlib.resources import files

import pytest

from karat.report.render.html._scripts import joined, module_of
from karat.report.render.html.served import asset

ASSETS = files("karat.report.render.html") / "assets"
MODULES = sorted(file.name for file in ASSETS.iterdir() if file.name.endswith(".js"))


def text_of(name):
    return (ASSETS / name).read_text(encoding="utf-8")


def test_modules_stand_behind_what_they_import():
    texts = {
        "a.js": '// A.\nimport { b } from "./b.js";\nimport { c } from "./c.js";\nb(c);\n',
        "b.js": 'import { c } from "./c.js";\nexport function b(x) {}\n',
        "c.js": "export const c = 1;\n",
    }
    script = joined("a.js", texts.__getitem__)
    assert script == '(() => {\n"use strict";\nconst c = 1;\n\nfunction b(x) {}\n\n// A.\nb(c);\n})();\n'


@pytest.mark.parametrize(
    ("texts", "why"),
    [
        ({"a.js": 'import { b } from "./b.js";\n', "b.js": 'import { a } from "./a.js";\n'}, "import each other"),
        ({"a.js": 'import { b } from "./b.js";\nconst x = 1;\n', "b.js": "export const b = 1;\nconst x = 2;\n"},
         "x is declared in b.js and in a.js"),
        ({"a.js": 'import { c } from "./b.js";\n', "b.js": "const c = 1;\n"}, "imports c from b.js, which does not"),
        ({"a.js": "const x = 1;\nconst x = 2;\n"}, "x is declared twice"),
        ({"a.js": 'import * as b from "./b.js";\n'}, "not a form"),
        ({"a.js": 'import { b as c } from "./b.js";\n', "b.js": "export const b = 1;\n"}, "b as c"),
        ({"a.js": "export default 1;\n"}, "not a form"),
        ({"a.js": "const { x } = y;\n"}, "not a form"),
        ({"a.js": 'f();\nimport { b } from "./b.js";\n', "b.js": "export const b = 1;\n"}, "at the top"),
    ],
)  # fmt: skip
def test_what_joining_would_break_is_refused(texts, why):
    with pytest.raises(ValueError, match=re.escape(why)):
        joined("a.js", texts.__getitem__)


@pytest.mark.parametrize("entry", ["start.js", "view.js"])
def test_the_pages_modules_can_be_joined(entry):
    assert "import" not in re.sub(r"//.*|await import", "", joined(entry, text_of)).split('"use strict"')[0]


@pytest.mark.parametrize("name", MODULES)
def test_every_name_of_a_module_is_its_own_or_imported_and_used(name):
    modules = {one: module_of(one, text_of(one)) for one in MODULES}
    module = modules[name]
    for home, names in module.imports.items():
        assert {*names} <= modules[home].exported
        assert [one for one in names if not re.search(rf"\b{one}\b", module.body)] == []


@pytest.mark.parametrize("name", MODULES)
def test_no_text_becomes_markup_or_code(name):
    banned = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser|createContextualFragment|srcdoc|javascript:"  # noqa: E501
    assert re.findall(banned, text_of(name)) == []
    makers = re.findall(r"document\.createElement(?:NS)?\(", text_of(name))
    assert len(makers) == (2 if name == "dom.js" else 0)
    assert len(text_of(name).splitlines()) <= 400


@pytest.mark.parametrize("name", MODULES)
def test_every_module_is_served_as_it_is(name):
    content, kind = asset(name)
    assert content == text_of(name).encode()
    assert kind.startswith("text/javascript")


def test_all_modules_together_are_small():
    assert sum(len(file.read_bytes()) for file in ASSETS.iterdir()) < 200_000
