import dspy
from island import documents, search

import karat


class Rag(dspy.Module):
    def forward(self, question):
        names = search(question, 5)
        texts = [documents[name] for name in names]
        return dspy.Prediction(retrieved=names, context=texts, answer=texts[0])  # your predictor answers


report = karat.evaluate("questions.jsonl", Rag())
print(report)
