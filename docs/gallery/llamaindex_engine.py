from island import documents, search
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, TextNode

import karat


class Search(BaseRetriever):
    def _retrieve(self, query):
        names = search(query.query_str, 5)
        return [NodeWithScore(node=TextNode(text=documents[name], metadata={"file_name": name})) for name in names]


engine = RetrieverQueryEngine.from_args(Search(), llm=MockLLM(max_tokens=8))

report = karat.evaluate("questions.jsonl", engine)
print(report)
