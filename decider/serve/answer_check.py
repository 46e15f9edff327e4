"""Rows whose answers can be told right from wrong.

`RepeatedRows` serves any engine: the same row must be answered alike each time. `NumberedRows`
serves the stand-in engine, whose answer to a row is known beforehand. Both find answers that were
lost, doubled or swapped between rows; neither judges the model. Knows rows and answers; no servers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from decider.engine.rows import Row, Slot
from decider.serve.traffic import RowName

OPTIONS = 4
"""Options of the one slot of each row, which is read at its last token."""

TOKENS_BELOW = 256
"""Tokens of repeated rows are below this: every vocabulary has that many."""

NUMBERS = 2**24
"""Check values are whole multiples of 1/NUMBERS, which float32 holds exactly."""

EXAMPLES = 5

FlatAnswer = npt.NDArray[np.float64]


class SentRow(NamedTuple):
    """A row under way, and what it was asked for as."""

    name: RowName
    row: Row


@dataclass
class Tally:
    """How the answers compared, in rows.

    Attributes:
        right: answers found to be right.
        wrong: answers found to be another row's, or no answer at all.
        unverified: answers with nothing to compare them with.
        alike: rows whose right answer is so near another row's that a swap of the two would not be
            seen.
        examples: a sentence on each of the first wrong answers.
    """

    right: int = 0
    wrong: int = 0
    unverified: int = 0
    alike: int = 0
    examples: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """The tally as plain JSON values."""
        return asdict(self)


class AnswerCheck(Protocol):
    """Makes rows and judges their answers."""

    def row(self, name: RowName) -> SentRow:
        """A row of that length, to be sent."""
        ...

    def see(self, sent: SentRow, answer: Any) -> None:
        """Take note of the answer to `sent`: for each slot, the probabilities of its options."""
        ...

    def tally(self) -> Tally:
        """How the answers seen so far compared."""
        ...


class RepeatedRows(AnswerCheck):
    """Rows of random tokens, the same for the same name, whose answers must agree.

    The first answer to a row is what the later ones are compared with. A row answered once is
    unverified.

    Args:
        seed: of the tokens.
        tolerance: how far a probability may move between two answers to one row; see
            `decider.engine.engine.FLOAT32_TOLERANCE`.
    """

    def __init__(self, seed: int, tolerance: float) -> None:
        self._seed = seed
        self._tolerance = tolerance
        self._rows: dict[RowName, Row] = {}
        self._first: dict[RowName, FlatAnswer] = {}
        self._answered: dict[RowName, int] = {}
        self._tally = Tally()

    def row(self, name: RowName) -> SentRow:
        row = self._rows.get(name)
        if row is None:
            generator = np.random.default_rng((self._seed, *name))
            tokens = generator.integers(TOKENS_BELOW, size=name.tokens).tolist()
            row = self._rows[name] = _row(tokens)
        return SentRow(name, row)

    def see(self, sent: SentRow, answer: Any) -> None:
        name = sent.name
        found = flat_answer(answer)
        if found is None:
            _note_wrong(self._tally, f"{_described(name)}: no probabilities: {answer!r:.80}")
            return
        first = self._first.setdefault(name, found)
        self._answered[name] = self._answered.get(name, 0) + 1
        if first is found:
            return
        if np.abs(first - found).max() <= self._tolerance:
            self._tally.right += 1
        else:
            text = f"{_described(name)}: {_shown(found)} now, {_shown(first)} before"
            _note_wrong(self._tally, text)

    def tally(self) -> Tally:
        once = sum(count == 1 for count in self._answered.values())
        repeated = len(self._answered) - once
        counted = asdict(self._tally)
        counted.update(right=self._tally.right + repeated, unverified=once, alike=self._alike())
        return Tally(**counted)

    def _alike(self) -> int:
        """Sorted by the first option, only neighbours can be alike."""
        answers = np.array(sorted(map(tuple, self._first.values())))
        alike = np.zeros(len(answers), dtype=bool)
        for index in range(len(answers)):
            after = answers[index + 1 :]
            near = after[
                : np.searchsorted(after[:, 0], answers[index, 0] + self._tolerance, "right")
            ]
            same = np.flatnonzero((np.abs(near - answers[index]) <= self._tolerance).all(axis=1))
            alike[index + 1 + same] = True
            alike[index] |= bool(len(same))
        return int(alike.sum())


class NumberedRows(AnswerCheck):
    """Rows that carry a number each, for an engine that answers with `numbered_answer`."""

    def __init__(self) -> None:
        self._sent = 0
        self._tally = Tally()

    def row(self, name: RowName) -> SentRow:
        row = _row([self._sent, *[0] * (name.tokens - 1)])
        self._sent += 1
        return SentRow(name, row)

    def see(self, sent: SentRow, answer: Any) -> None:
        expected = numbered_answer(sent.row)[0]
        found = flat_answer(answer)
        if found is not None and np.array_equal(found, expected):
            self._tally.right += 1
        else:
            text = f"row number {sent.row.tokens[0]}: {answer!r:.80} instead of {_shown(expected)}"
            _note_wrong(self._tally, text)

    def tally(self) -> Tally:
        return Tally(**asdict(self._tally))


def numbered_answer(row: Row) -> list[npt.NDArray[np.float32]]:
    """What the stand-in engine says of a row, for each slot: a value of its number and length.

    Two of `NUMBERS` successive rows of one length never have the same.
    """
    scrambled = (row.tokens[0] * 2_654_435_761 + len(row.tokens) * 40_503) % NUMBERS
    answers = []
    for _, options in row.slots:
        answer = np.zeros(options, dtype=np.float32)
        answer[:2] = scrambled / NUMBERS, 1 - scrambled / NUMBERS
        answers.append(answer)
    return answers


def flat_answer(answer: Any) -> FlatAnswer | None:
    """The probabilities of the one slot of a row; None where they are not that."""
    try:
        (slot,) = answer
        found = np.asarray(slot, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    good = found.shape == (OPTIONS,) and bool((found >= 0).all()) and math.isfinite(found.sum())
    return found if good and abs(found.sum() - 1) < 0.01 else None


def _row(tokens: Sequence[int]) -> Row:
    return Row(tokens, (Slot(len(tokens) - 1, OPTIONS),))


def _note_wrong(tally: Tally, example: str) -> None:
    tally.wrong += 1
    if len(tally.examples) < EXAMPLES:
        tally.examples.append(example)


def _described(name: RowName) -> str:
    return f"row {name.variant} of {name.tokens} tokens"


def _shown(answer: npt.NDArray[Any]) -> str:
    return "[" + ", ".join(f"{value:.6f}" for value in answer.tolist()) + "]"
