from island import documents, search
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnablePassthrough

import karat


def retrieve(asked):
    return [Document(documents[name], metadata={"source": name}) for name in search(asked["question"], 5)]


prompt = ChatPromptTemplate.from_template("Answer {question} from {context}")
model = FakeListChatModel(responses=["At eight and at sixteen o'clock."])
chain = RunnablePassthrough.assign(context=retrieve).assign(answer=prompt | model | (lambda said: said.content))

report = karat.evaluate("questions.jsonl", chain)
print(report)
