"""Records that are pieces of documents."""

from karat.corpus import read


def test_an_id_beside_another_document_is_a_piece_of_it(tmp_path):
    path = tmp_path / "chunks.jsonl"
    path.write_text('{"id": "c0", "doc_id": "pump.pdf", "text": "four bar"}\n{"id": "d", "doc_id": "d", "text": "x"}\n')
    assert [(doc.id, doc.part_of) for doc in read(path).docs] == [("c0", "pump.pdf"), ("d", None)]
