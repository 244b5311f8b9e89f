import dspy
import numpy as np
from island import documents, embed

import karat

names = list(documents)
retriever = dspy.retrievers.Embeddings(list(documents.values()), lambda texts: np.array(embed(texts)), k=5)

system = karat.system(retriever, hits=lambda found: [names[place] for place in found.indices])
report = karat.evaluate("questions.jsonl", system)
print(report)
