"""Text to rows: a tokenizer, and how a context and its questions are laid out.

One row holds the context and then each question with its options, so that the context is read once;
each question's slot is at the last token of its `ANSWER` marker. A question therefore sees the
context and the questions before it. This file knows no HTTP and no engine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from decider.engine import Row, Slot

Tokens = npt.NDArray[np.int64]

TOKENIZER_FILE = "tokenizer.json"
FIRST_MARKER = 256


class Marker(Enum):
    """What stands between the texts of a row, and how a tokenizer without markers spells it."""

    CONTEXT = ""
    QUESTION = "\nQuestion: "
    OPTION = "\n- "
    ANSWER = "\nAnswer:"


@dataclass(frozen=True)
class Question:
    """A question and the options of its answer, two or more."""

    text: str
    options: Sequence[str]


class Tokenizer(Protocol):
    """Turns text into tokens.

    Attributes:
        name: what it is, for people.
        markers: the tokens of each marker.
    """

    name: str
    markers: Mapping[Marker, Tokens]

    def encode(self, text: str) -> Tokens:
        """The tokens of a text; markers that it spells are text too."""
        ...


class ByteTokenizer:
    """A token for each byte of the UTF-8 text, and tokens 256 to 259 for the markers.

    Raises:
        ValueError: the vocabulary does not hold these 260 tokens.
    """

    name = "bytes of UTF-8, markers from 256"

    def __init__(self, vocabulary_size: int) -> None:
        needed = FIRST_MARKER + len(Marker)
        if vocabulary_size < needed:
            raise ValueError(
                f"the byte-level tokenizer needs {needed} tokens; the vocabulary has "
                f"{vocabulary_size}: put a {TOKENIZER_FILE} into the checkpoint folder"
            )
        self.markers: Mapping[Marker, Tokens] = {
            marker: np.array([FIRST_MARKER + place]) for place, marker in enumerate(Marker)
        }

    def encode(self, text: str) -> Tokens:
        return np.frombuffer(text.encode(), dtype=np.uint8).astype(np.int64)


class FileTokenizer:
    """The tokenizer of a checkpoint; markers are spelt as text.

    Args:
        path: a `tokenizer.json`.
        vocabulary_size: of the model.

    Raises:
        ValueError: the file cannot be read, or has more tokens than the model.
    """

    def __init__(self, path: Path, vocabulary_size: int) -> None:
        from tokenizers import Tokenizer as Loaded

        try:
            self._tokenizer: Any = Loaded.from_file(str(path))
        except Exception as error:  # the library raises no narrower class
            raise ValueError(f"{path}: no readable tokenizer: {error}") from None
        if (size := self._tokenizer.get_vocab_size()) > vocabulary_size:
            raise ValueError(f"{path}: {size} tokens; the model has {vocabulary_size}")
        self._tokenizer.encode_special_tokens = True  # a text cannot smuggle them in
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self.name = str(path)
        self.markers: Mapping[Marker, Tokens] = {
            marker: self.encode(marker.value) for marker in Marker
        }

    def encode(self, text: str) -> Tokens:
        encoded = self._tokenizer.encode(text, add_special_tokens=False)
        return np.array(encoded.ids, dtype=np.int64)


def open_tokenizer(model: str, vocabulary_size: int) -> Tokenizer:
    """The tokenizer in the checkpoint folder `model`, or the byte-level one where there is none.

    Raises:
        ValueError: neither fits the model; the message names the file.
    """
    path = Path(model) / TOKENIZER_FILE
    if path.is_file():
        return FileTokenizer(path, vocabulary_size)
    return ByteTokenizer(vocabulary_size)


def question_row(context: str, questions: Sequence[Question], tokenizer: Tokenizer) -> Row:
    """The row that asks all questions about the context, a slot for each in their order.

    Raises:
        UnicodeEncodeError: a text holds half of a surrogate pair.
    """
    pieces = [tokenizer.markers[Marker.CONTEXT], tokenizer.encode(context)]
    slots = []
    length = sum(map(len, pieces))
    for question in questions:
        asked = list(_asked(question, tokenizer))
        length += sum(map(len, asked))
        pieces += asked
        slots.append(Slot(length - 1, len(question.options)))
    return Row(np.concatenate(pieces), slots)  # type: ignore[arg-type]


def _asked(question: Question, tokenizer: Tokenizer) -> Iterator[Tokens]:
    yield tokenizer.markers[Marker.QUESTION]
    yield tokenizer.encode(question.text)
    for option in question.options:
        yield tokenizer.markers[Marker.OPTION]
        yield tokenizer.encode(option)
    yield tokenizer.markers[Marker.ANSWER]
