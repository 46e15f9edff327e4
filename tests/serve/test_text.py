from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decider.serve.text import (
    ByteTokenizer,
    FileTokenizer,
    Marker,
    Question,
    open_tokenizer,
    question_row,
)

BYTES = ByteTokenizer(1_024)
CONTEXT, QUESTION, OPTION, ANSWER = (BYTES.markers[marker].tolist() for marker in Marker)


def spelt(text: str) -> list[int]:
    return list(text.encode())


@given(st.text(), st.lists(st.tuples(st.text(), st.lists(st.text(), max_size=4)), max_size=4))
def test_a_row_is_the_context_and_then_each_question_with_a_slot_at_its_end(
    context: str, asked: list[tuple[str, list[str]]]
) -> None:
    row = question_row(context, [Question(*question) for question in asked], BYTES)
    expected = CONTEXT + spelt(context)
    ends = []
    for text, options in asked:
        expected += QUESTION + spelt(text)
        for option in options:
            expected += OPTION + spelt(option)
        expected += ANSWER
        ends.append((len(expected) - 1, len(options)))
    assert list(row.tokens) == expected
    assert list(row.slots) == ends


def test_no_text_can_spell_a_marker() -> None:
    assert sorted(CONTEXT + QUESTION + OPTION + ANSWER) == [256, 257, 258, 259]
    assert BYTES.encode("".join(map(chr, range(2_000)))).max() < 256


def test_a_vocabulary_too_small_for_bytes_is_refused() -> None:
    ByteTokenizer(260)
    with pytest.raises(ValueError, match="needs 260 tokens; the vocabulary has 259"):
        ByteTokenizer(259)


def save_tokenizer(folder: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    words = [
        "[UNK]",
        "<|end|>",
        "red",
        "blue",
        "Question",
        "Answer",
        ":",
        "-",
        "<",
        "|",
        "end",
        ">",
    ]
    made = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({word: number for number, word in enumerate(words)}, "[UNK]")
    )
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    made.add_special_tokens(["<|end|>"])
    made.enable_truncation(2)
    made.save(str(folder / "tokenizer.json"))


def test_a_checkpoint_s_own_tokenizer_is_used_where_it_has_one(tmp_path: Path) -> None:
    assert isinstance(open_tokenizer(str(tmp_path), 1_024), ByteTokenizer)
    save_tokenizer(tmp_path)
    tokenizer = open_tokenizer(str(tmp_path), 1_024)
    assert isinstance(tokenizer, FileTokenizer)
    row = question_row("red blue", [Question("blue", ["red", "blue"])], tokenizer)
    names = ["red", "blue", "Question", ":", "blue", "-", "red", "-", "blue", "Answer", ":"]
    assert list(row.tokens) == [tokenizer.encode(name)[0] for name in names]
    assert list(row.slots) == [(10, 2)]


def test_a_text_cannot_smuggle_in_a_special_token(tmp_path: Path) -> None:
    save_tokenizer(tmp_path)
    tokenizer = open_tokenizer(str(tmp_path), 1_024)
    assert 1 not in tokenizer.encode("red <|end|> blue")


def test_a_tokenizer_that_does_not_fit_is_refused_with_its_file(tmp_path: Path) -> None:
    save_tokenizer(tmp_path)
    with pytest.raises(ValueError, match=r"tokenizer\.json: 12 tokens; the model has 11"):
        open_tokenizer(str(tmp_path), 11)
    (tmp_path / "tokenizer.json").write_text("{", encoding="utf-8")
    with pytest.raises(ValueError, match=r"tokenizer\.json: no readable tokenizer"):
        open_tokenizer(str(tmp_path), 1_024)
