import numpy as np
from island import documents, embed, embed_one

import karat

names, vectors = list(documents), np.array(embed(documents.values()))


def search(question, k):
    best = np.argsort(-(vectors @ embed_one(question)))
    return [names[place] for place in best[:k]]


report = karat.evaluate("questions.jsonl", search)
print(report)
