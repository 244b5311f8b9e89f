import asyncio

from island import search

import karat


async def ask(question, k):
    await asyncio.sleep(0.01)  # a service of yours that is awaited
    return search(question, k)


report = karat.evaluate("questions.jsonl", ask)
print(report)
