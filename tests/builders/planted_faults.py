"""Test sets with known faults: a made-up corpus, clean questions on it, and faults planted in known numbers.

It shares nothing with the audit but the nouns of karat. Loaded by path, since tests are no package.
"""

import random
from dataclasses import dataclass, field, replace

from karat.core.docs import Chunk, Chunks
from karat.core.types import Gold, Question, TestSet

# what is told, asked in its words, asked in other words, and of what the value is made; {e} is the machine
EN = {
    "load": ("The rated load of the {e} is {v}.", "What is the rated load of the {e}?",
             "How heavy may goods get before the {e} gives way?", "{n} kilograms"),
    "check": ("Inspectors examine the {e} every {v}.", "How often do inspectors examine the {e}?",
              "After what stretch of time is the {e} looked over again?", "{s} weeks"),
    "seller": ("The {e} was bought from {v} after long talks about the price.", "From which firm was the {e} bought?",
               "Which supplier sold us the {e}?", "{name} and Sons"),
    "place": ("The {e} stands in {v} beside the northern gate.", "In which hall does the {e} stand?",
              "Where would a visitor walk to see the {e}?", "hall {s}"),
    "grease": ("The bearings of the {e} are greased with {v}.", "With what are the bearings of the {e} greased?",
               "Which lubricant keeps the {e} turning smoothly?", "{stuff} paste"),
    "noise": ("At full speed the {e} reaches a noise level of {v}.",
              "What noise level does the {e} reach at full speed?",
              "How loud is it when you are working next to the {e}?", "{s} decibels"),
    "keeper": ("The keeper of the {e} is {v}, who also signs the log.", "Who is the keeper of the {e}?",
               "Whom should I call if I have trouble with the {e}?", "{person}"),
    "course": ("Operators of the {e} need a course of {v}.", "How long a course do operators of the {e} need?",
               "What training must I finish to be allowed on the {e}?", "{s} hours"),
    "lamp": ("The warning lamp of the {e} glows {v} when the pressure falls.",
             "In which colour does the warning lamp of the {e} glow?",
             "What shade of light signals danger on the {e}?", "{colour}"),
    "warranty": ("The maker gives a warranty of {v} on the {e}.", "How long is the warranty on the {e}?",
                 "Until when would repairs to the {e} cost us nothing?", "{s} months"),
    "start": ("Before the {e} is started, {v} must be shut by hand.",
              "What must be shut by hand before the {e} is started?",
              "Which part has to be closed if I want to set the {e} in motion?", "the {stuff} valve"),
    "spare": ("Spare belts for the {e} are kept in {v}.", "Where are spare belts for the {e} kept?",
              "I tore the band of the {e}; in what box is another one?", "locker {n}"),
}  # fmt: skip
RU = {
    "load": ("Номинальная нагрузка установки {e} составляет {v}.", "Какова номинальная нагрузка установки {e}?",
             "Сколько весит самый тяжёлый груз, который выдержит {e}?", "{n} килограммов"),
    "check": ("Инспекторы осматривают установку {e} каждые {v}.", "Как часто инспекторы осматривают установку {e}?",
              "Через какой срок {e} снова проверят?", "{s} недель"),
    "seller": ("Установка {e} куплена у фирмы {v} после долгих переговоров.", "У какой фирмы куплена установка {e}?",
               "Какой поставщик продал нам {e}?", "{name}"),
    "place": ("Установка {e} стоит в цехе {v} возле северных ворот.", "В каком цехе стоит установка {e}?",
              "Куда пойти посетителю, чтобы увидеть {e}?", "{s}"),
    "grease": ("Подшипники установки {e} смазывают пастой {v}.", "Какой пастой смазывают подшипники установки {e}?",
               "Что помогает {e} крутиться плавно?", "{stuff}"),
    "noise": ("На полной скорости установка {e} достигает шума {v}.",
              "Какого шума достигает установка {e} на полной скорости?", "Насколько громко работать рядом с {e}?",
              "{s} децибел"),
    "keeper": ("За установку {e} отвечает {v}, он же подписывает журнал.", "Кто отвечает за установку {e}?",
               "Кому звонить, если {e} сломается?", "{person}"),
    "course": ("Операторам установки {e} нужен курс длиной {v}.", "Какой длины курс нужен операторам установки {e}?",
               "Какое обучение пройти, чтобы меня допустили к {e}?", "{s} часов"),
    "warranty": ("Изготовитель даёт на установку {e} гарантию {v}.",
                 "Какую гарантию даёт изготовитель на установку {e}?", "До каких пор ремонт {e} будет бесплатным?",
                 "{s} месяцев"),
    "spare": ("Запасные ремни для установки {e} хранят в шкафу {v}.",
              "В каком шкафу хранят запасные ремни для установки {e}?", "Порвалась лента у {e}, где взять другую?",
              "{n}"),
}  # fmt: skip
FILLER = {
    "en": ("The floor around it is painted every spring.", "Visitors keep behind the yellow line.",
           "A copy of this sheet hangs by the door.", "Dust is swept away at the end of each shift.",
           "Nobody eats or drinks nearby.", "The old drawings were lost in a flood."),
    "ru": ("Пол вокруг неё красят каждую весну.", "Гости остаются за жёлтой чертой.",
           "Копия этого листа висит у двери.", "Пыль убирают в конце смены.", "Рядом нельзя есть и пить.",
           "Старые чертежи пропали во время паводка."),
}  # fmt: skip
AGAIN = {
    "en": ("As the yearly digest repeats: {s}", "{s} This was confirmed in spring.", "From the list of the year. {s}"),
    "ru": ("Как повторяет годовой обзор: {s}", "{s} Весной это подтвердили.", "Из перечня за год. {s}"),
}
NOUNS = ("crane", "press", "lathe", "boiler", "winch", "mixer", "furnace", "pump", "saw", "loom")
COLOURS = ("crimson", "amber", "violet", "turquoise", "scarlet", "emerald", "ivory", "indigo")
CONSONANTS, VOWELS = "bdfgklmnprstvz", "aeiou"
RU_CONSONANTS, RU_VOWELS = "бвгдклмнпрст", "аеиоу"


def word(rng, language="en", syllables=3):
    consonants, vowels = (RU_CONSONANTS, RU_VOWELS) if language == "ru" else (CONSONANTS, VOWELS)
    return "".join(rng.choice(consonants) + rng.choice(vowels) for _ in range(syllables)) + rng.choice(consonants)


@dataclass
class World:
    """A corpus and clean questions on it; `told` is the sentence behind each question."""

    language: str
    chunks: list
    questions: list
    told: dict = field(default_factory=dict)
    docs: object = None

    @property
    def table(self):
        return Chunks.ordered(self.chunks)

    @property
    def testset(self):
        return TestSet(self.questions, name="planted")


def world(seed, language="en", docs=40, per_doc=1, kinds=("literal", "paraphrase")):
    """Documents on machines, each machine with every fact in a random order, three or four facts a chunk."""
    rng = random.Random(f"{seed}-{language}")
    facts = RU if language == "ru" else EN
    made = World(language, [], [])
    used = set()
    for d in range(docs):
        doc, number = f"{'listok' if language == 'ru' else 'sheet'}-{d:02}.md", 0
        for _ in range(per_doc):
            machine = _machine(rng, language, used)
            names = rng.sample(sorted(facts), len(facts))
            for start in range(0, len(names), 4):
                id_, lines = f"{doc}#{number:02}", []
                number += 1
                for name in names[start : start + 4]:
                    tells, literal, other, value = facts[name]
                    v = _value(rng, value, language)
                    sentence = tells.format(e=machine, v=v)
                    sentence = sentence[0].upper() + sentence[1:]
                    lines.append(sentence)
                    for kind, asks in (("literal", literal), ("paraphrase", other)):
                        if kind in kinds and rng.random() < (0.5 if per_doc == 1 else 0.25):
                            q = Question(f"c{len(made.questions):04}", asks.format(e=machine), answers=(v,),
                                         gold=(Gold(chunk=id_),), kind=kind)  # fmt: skip
                            made.questions.append(q)
                            made.told[q.id] = sentence
                            break
                    if rng.random() < 0.4:
                        lines.append(rng.choice(FILLER[language]))
                made.chunks.append(Chunk(id_, doc, " ".join(lines), title=machine))
    return made


def _machine(rng, language, used):
    while True:
        name = word(rng, language, rng.choice((2, 3))).capitalize()
        if name not in used:
            used.add(name)
            return f"«{name}»" if language == "ru" else f"{name} {rng.choice(NOUNS)}"


def _value(rng, shape, language):
    return shape.format(
        n=rng.randrange(100, 9900), s=rng.randrange(11, 99), colour=rng.choice(COLOURS),
        stuff=word(rng, language), name=word(rng, language, 3).capitalize(),
        person=f"{word(rng, language, 2).capitalize()} {word(rng, language, 3).capitalize()}",
    )  # fmt: skip


# faults: each takes a question, the world and a generator, and returns the question with the fault (or None: not here)


def literal_paraphrase(q, made, rng):
    """A question in the words of the text under the name of another kind, at times with a few words around it."""
    kind = rng.choice(("paraphrase", "scenario"))
    if made.docs is None:
        if q.kind != "literal":
            return None
        low = q.text[0].lower() + q.text[1:]
        around = (
            ("{t}", "{t}", "Я сегодня дежурю и должен срочно понять: {l}", "Начальник спрашивает, {l}")
            if made.language == "ru"
            else ("{t}", "{t}", "I am on shift tonight and the foreman asks: {l}", "Quick one from the workshop, {l}")
        )
        return replace(q, text=rng.choice(around).format(t=q.text, l=low), kind=kind)
    quote = made.told[q.id].rstrip(".")
    if len(quote.split()) < 6:
        return None
    text = rng.choice(("Is it true that {s}?", "Why is it said that {s}?", "{s}, is that so?"))
    return replace(q, text=text.format(s=quote[0].lower() + quote[1:]), kind=kind)


def near_duplicate(q, made, rng):
    """Another case, order, number or mark, a word more, a word less, a slip of the pen."""
    text = q.text.rstrip("?").rstrip()
    low = text[0].lower() + text[1:]
    words = low.split()
    slip = max(words, key=len)
    slipped = low.replace(slip, slip[:3] + slip[2:])
    half = len(words) // 2
    turned = f"{' '.join(words[half:])}: {' '.join(words[:half])}?"
    if made.language == "ru":
        made_ = rng.choice(
            (q.text.upper(), f"Подскажите, пожалуйста, {low}?", f"{text} сейчас?", f"Скажите, {low}", turned,
             f"{slipped}?", f"Так {low}?!", f"{text} на самом деле?")
        )  # fmt: skip
    else:
        made_ = rng.choice(
            (q.text.upper(), f"Could you please tell me {low}?", f"Please tell me: {low}!", low.replace(" the ", " "),
             turned, f"So, {low}?", f"I want to know {low}.", f"{text} nowadays?", f"{slipped}?", f"{low}s?",
             f"Hello, {low}, thanks")
        )  # fmt: skip
    return replace(q, text=made_, kind=rng.choice((q.kind, "scenario")))


def contradiction(q, made, rng):
    return replace(q, gold=(_other_gold(q, made, rng),))


def wrong_gold(q, made, rng):
    return replace(q, gold=(_other_gold(q, made, rng),))


def _other_gold(q, made, rng):
    mine = {(gold.doc, gold.chunk, gold.page) for gold in q.gold}
    while True:
        chunk = rng.choice(made.chunks)
        if made.docs is None:
            if chunk.doc != q.gold[0].chunk.partition("#")[0]:
                return Gold(chunk=chunk.id)
        elif not any(chunk.doc.endswith(doc or "") for doc, _, page in mine if page is None or _on(chunk, page)):
            return Gold(chunk=chunk.id)


def _on(chunk, page):
    return page in map(str, chunk.pages)


def missing_second_gold(q, made, rng):
    """The same is told once more, in a document of its own, which the gold does not name."""
    if not q.answers:
        return None
    if made.docs is not None and (len(q.gold) > 1 or q.answers[0].lower() not in made.told[q.id].lower()):
        return None
    machine = next((chunk.title for chunk in made.chunks if chunk.id == q.gold[0].chunk), None)
    filler, again = FILLER[made.language], rng.choice(AGAIN[made.language])
    text = " ".join((rng.choice(filler), again.format(s=made.told[q.id]), rng.choice(filler)))
    title = machine if made.docs is None else None
    made.chunks.append(Chunk(f"digest-{q.id}.md#00", f"digest-{q.id}.md", text, title=title))
    return q


def retold_second_gold(q, made, rng):
    """The same, told in other words than those of gold and question."""
    if made.docs is not None or q.kind != "literal" or made.language == "ru":
        return None
    machine = next(chunk.title for chunk in made.chunks if chunk.id == q.gold[0].chunk)
    other = next(asks for _, literal, asks, _ in EN.values() if literal.format(e=machine) == q.text)
    before, after = rng.sample(FILLER["en"], 2)
    text = f"{before} {other.format(e=machine)} Good to know: {q.answers[0]}. {after}"
    made.chunks.append(Chunk(f"faq-{q.id}.md#00", f"faq-{q.id}.md", text))
    return q


def answer_from_beside(q, made, rng):
    """A wrong answer that stands in the gold, as the answer to something else."""
    others = [o.answers[0] for o in made.questions if o.gold == q.gold and o.answers != q.answers and o.answers]
    return replace(q, answers=(rng.choice(others),)) if others and made.docs is None else None


def gold_beside(q, made, rng):
    """Another chunk of the same document."""
    if made.docs is not None:
        return None
    doc = q.gold[0].chunk.partition("#")[0]
    others = [c.id for c in made.chunks if c.doc == doc and c.id != q.gold[0].chunk]
    return replace(q, gold=(Gold(chunk=rng.choice(others)),))


def unsupported_answer(q, made, rng):
    """The answer of another question; yes and no answer anything."""
    others = [o for o in made.questions if o.answers and set(o.answers) != set(q.answers)]
    taken = rng.choice(others).answers[0]
    if not q.answers or taken.split()[0].strip(",").lower() in ("yes", "no", "nobody"):
        return None
    return replace(q, answers=(taken,))


def leaked_answer(q, made, rng):
    if not q.answers or q.answers[0].split()[0].strip(",:").lower() in ("yes", "no"):
        return None
    text, a = q.text.rstrip("?").rstrip(), q.answers[0]
    if made.language == "ru":
        forms = ("{t}, не {a}?", "{t} и почему это {a}?", "{t}, если известно, что это {a}?")
    else:
        forms = ("{t}, given that it is {a}?", "{t}, and why is it {a}?", "Since it is {a}: {t}?", "{t} ({a})?")
    return replace(q, text=rng.choice(forms).format(t=text, a=a))


def passage_reference(q, made, rng):
    text = q.text.rstrip("?").rstrip()
    low = text[0].lower() + text[1:]
    if made.language == "ru":
        forms = ("Согласно тексту, {l}?", "{t}, как сказано в этом документе?", "{t} в приведённом отрывке?",
                 "Исходя из данного фрагмента, {l}?", "{t}, по словам автора текста?", "Судя по тексту, {l}?",
                 "{t}, как указано выше в тексте?", "В тексте: {l}?")  # fmt: skip
    else:
        forms = ("According to the passage, {l}?", "{t}, as described in this document?", "{t} in the text above?",
                 "Based on the given context, {l}?", "In this excerpt, {l}?", "{t} according to the text?",
                 "What does the author say about this: {l}?", "{t}, as mentioned above?", "From the paragraph, {l}?",
                 "Given the provided text, {l}?", "{t}, as the passage states?")  # fmt: skip
    return replace(q, text=rng.choice(forms).format(t=text, l=low))


def leftover(q, made, rng):
    n = rng.randrange(1, 30)
    forms = ("{n}) {t}", "{n}. {t}", "Question: {t}", "Question {n}: {t}", "Q{n}: {t}", "Вопрос {n}: {t}", "«{t}»",
             '"{t}"', "- {t}", "**{t}**", "**Question:** {t}", "Here is the question: {t}",
             "{t}\nAnswer: see above", "[{n}] {t}", "Вопрос: {t}",
             "#{n} {t}", "Paraphrase: {t}", '{{"question": "{t}"}}', "Q: {t}", "({n}) {t}")  # fmt: skip
    return replace(q, text=rng.choice(forms).format(n=n, t=q.text))


def other_language(q, made, rng):
    topic = next((chunk.title for chunk in made.chunks if chunk.id == q.gold[0].chunk), None) or "Lantern"
    if made.language == "ru":
        forms = ("What is known about {e} and where is it written down?", "Who keeps {e} in order and how often?",
                 "Was ist über {e} bekannt und wo steht das geschrieben?")  # fmt: skip
    else:
        forms = ("Что известно про {e} и где это записано?", "Кто следит за {e} и как часто?",
                 "Was ist über {e} bekannt und wo steht das geschrieben?",
                 "Wie oft wird {e} von den Leuten geprüft und warum?",
                 "Que sait-on de {e} et pourquoi est-ce dans la liste ?", "¿Qué se sabe de {e} y dónde está escrito?",
                 "{e} के बारे में क्या पता है और कौन बताएगा?")  # fmt: skip
    return replace(q, text=rng.choice(forms).format(e=topic))


def empty(q, made, rng):
    return replace(q, text=rng.choice(("", "   ", "?", "...", "\n", "—")))


def one_word(q, made, rng):
    return replace(q, text=rng.choice(q.text.rstrip("?").split()) + rng.choice(("", "?")))


def too_long(q, made, rng):
    around = " ".join(rng.choice(made.chunks).text for _ in range(4))
    return replace(q, text=f"{q.text} {around} {' '.join(['more'] * 60)}")


def not_a_question(q, made, rng):
    texts = {
        "ru": ("Это очень важная установка.", "Спасибо за внимание к установке.", "Сведения об этой установке."),
        "en": ("The machine in the northern corner.", "Thanks for reading this sheet carefully.",
               "Some facts about safety, continued.", "Good luck with the exam tomorrow."),
    }  # fmt: skip
    return replace(q, text=rng.choice(texts[made.language]))


# fault -> (how it is planted, the check that finds it, whether the faulty question is added beside the clean one)
FAULTS = {
    "literal paraphrase": (literal_paraphrase, "literal_paraphrases", False),
    "near-duplicate": (near_duplicate, "near_duplicates", True),
    "duplicate with other gold": (contradiction, "contradictions", True),
    "missing second gold": (missing_second_gold, "unjudged_chunks", False),
    "second gold in other words": (retold_second_gold, "unjudged_chunks", False),
    "unsupported answer": (unsupported_answer, "unsupported_answers", False),
    "wrong answer from the gold": (answer_from_beside, "unsupported_answers", False),
    "leaked answer": (leaked_answer, "leaked_answers", False),
    "passage reference": (passage_reference, "passage_references", False),
    "leftover numbering or label": (leftover, "leftovers", False),
    "other language": (other_language, "other_language", False),
    "wrong gold": (wrong_gold, "wrong_gold", False),
    "wrong gold in the same document": (gold_beside, "wrong_gold", False),
    "empty question": (empty, "malformed", False),
    "one word": (one_word, "malformed", False),
    "too long": (too_long, "malformed", False),
    "no question": (not_a_question, "malformed", False),
}


def plant(made, seed, each):
    """Plants `each` faults of every kind: fault -> ids of faulty questions, and the ids of questions left clean."""
    rng = random.Random(f"plant-{seed}")
    free = [q for q in made.questions if q.answerable and q.gold]
    rng.shuffle(free)
    base, planted, touched = list(made.questions), {}, set()
    changed, added = {}, []
    for fault, (put, _, beside) in FAULTS.items():
        planted[fault] = set()
        for q in list(free):
            if len(planted[fault]) == each:
                break
            faulty = put(q, made, rng)
            if faulty is None:
                continue
            free.remove(q)
            touched.add(q.id)
            if beside:
                faulty = replace(faulty, id=f"{q.id}-again")
                added.append(faulty)
            else:
                changed[q.id] = faulty
            planted[fault].add(faulty.id)
    made.questions = [changed.get(q.id, q) for q in base] + added
    clean = {q.id for q in base} - touched
    return planted, clean


def with_holes(made, seed, holes):
    """Takes out every question about some documents: the names of these, and of the rest."""
    rng = random.Random(f"holes-{seed}")
    docs = sorted({chunk.doc for chunk in made.chunks})
    gone = set(rng.sample(docs, holes))
    made.questions = [q for q in made.questions if q.gold[0].chunk.partition("#")[0] not in gone]
    return gone, set(docs) - gone
