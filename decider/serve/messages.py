"""The JSON of requests and answers.

What pydantic refuses here is malformed; sizes and what the model takes are for admission. This file
knows no engine and no HTTP.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    FailFast,
    Field,
    StringConstraints,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    field_validator,
)

from decider.serve.text import Question


def _whole(value: Any) -> Any:
    """In JSON 4.0 is an integer too."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _tokens(values: Any, validate: ValidatorFunctionWrapHandler) -> Any:
    """All at once, and one by one only where that fails: a request may hold many tokens."""
    try:
        return validate(values)
    except ValidationError:
        if not isinstance(values, list):
            raise
        return validate([_whole(value) for value in values])


# Not bounded here: of two bounds, here and at a field, only one would hold.
Whole = Annotated[int, Field(strict=True), BeforeValidator(_whole)]
Token = Annotated[int, Field(strict=True, ge=0)]
Tokens = Annotated[list[Token], FailFast(), Field(min_length=1), WrapValidator(_tokens)]
Label = Annotated[str, StringConstraints(strict=True, min_length=1)]


class Message(BaseModel):
    """What all requests share: a field that nobody knows is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class SlotMessage(Message):
    """A question put to a row."""

    position: Whole = Field(ge=0, description="Index of the token whose hidden state is read.")
    options: Whole = Field(ge=2, description="How many options the answer has.")


class RowMessage(Message):
    """One token sequence to score."""

    tokens: Tokens = Field(description="Token ids.")
    slots: Annotated[list[SlotMessage], FailFast()] = Field(min_length=1)


class ScoreRequest(Message):
    """Rows of tokens, answered together."""

    rows: Annotated[list[RowMessage], FailFast()] = Field(min_length=1)


class ScoreAnswer(BaseModel):
    """For each row, for each of its slots, the probability of each option."""

    answers: list[list[list[float]]]


class YesNo(Message):
    """A question that is answered by yes or no."""

    type: Literal["yes_no"]
    text: Label

    def question(self) -> Question:
        """The question and its options."""
        return Question(self.text, ("yes", "no"))


class Choice(Message):
    """A question whose answer is one of its options."""

    type: Literal["choice"]
    text: Label
    options: list[Label] = Field(min_length=2, json_schema_extra={"uniqueItems": True})

    @field_validator("options")
    @classmethod
    def _all_different(cls, options: list[str]) -> list[str]:
        if len(set(options)) < len(options):
            raise ValueError("options must differ from each other")
        return options

    def question(self) -> Question:
        """The question and its options."""
        return Question(self.text, self.options)


class Scale(Message):
    """A question whose answer is a whole number from 1 to `levels`."""

    type: Literal["scale"]
    text: Label
    levels: Whole = Field(ge=2, le=1_000, description="The highest answer.")

    def question(self) -> Question:
        """The question and its options."""
        return Question(self.text, [str(level) for level in range(1, self.levels + 1)])


class DecideRequest(Message):
    """A context and questions about it, answered in one row."""

    context: Annotated[str, StringConstraints(strict=True)]
    questions: Annotated[
        list[Annotated[YesNo | Choice | Scale, Field(discriminator="type")]], FailFast()
    ] = Field(min_length=1)


class Decision(BaseModel):
    """The answer to one question: its likeliest option, and the probability of each."""

    answer: str
    probabilities: dict[str, float]


class DecideAnswer(BaseModel):
    """The answers, in the order of the questions, and the tokens they took to ask."""

    answers: list[Decision]
    tokens: int


class Problem(BaseModel):
    """Why a request was not answered.

    Where rows failed, each alone, `answers` holds those of the others, with null for the failed
    ones, and `failures` the reasons by the index of the row.
    """

    model_config = ConfigDict(extra="allow")

    detail: str = Field(description="What is wrong, where, and the limit if there is one.")


class Health(BaseModel):
    """Whether requests are answered: captured, batching, and the engine alive."""

    healthy: bool
    reason: str | None = Field(description="Why not.")
