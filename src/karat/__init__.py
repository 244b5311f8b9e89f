"""karat: how much of what a retrieval-augmented system retrieved and said is gold."""
