"""Trace formats: recognised by their columns, read line by line, refused with file, line, value."""

from __future__ import annotations

import io
import json
import re
from typing import TextIO, cast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from decider import trace_formats
from decider.trace_formats import FORMAT_NAMES, FORMATS, MOST_TOKENS, Columns, Lines, read_rows

AZURE = "TIMESTAMP,ContextTokens,GeneratedTokens"
BURSTGPT = "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type"
SESSIONS = (
    "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type"
)
PLAIN = Columns("t", "n")


def read(
    text: str, format_name: str = "auto", columns: Columns | None = None
) -> list[tuple[float, int, int]]:
    """(seconds, line, tokens) of each row."""
    steps, rows = read_rows(Lines(io.StringIO(text), "a.trace"), format_name, columns)
    return [(row.time / steps, row.line, row.tokens) for row in rows]


def test_azure_of_2023_has_dates_without_zone_in_steps_of_100_ns() -> None:
    text = f"{AZURE}\r\n1970-01-01 00:00:01.5000009,4808,10\r\n1970-01-01 00:01:00,3180,8"
    assert read(text) == [(1.5, 2, 4_808), (60.0, 3, 3_180)]


def test_azure_of_2024_has_dates_with_a_zone() -> None:
    text = f"{AZURE}\n1970-01-01 00:00:00.009930+00:00,2162,5\n1970-01-01 01:00:00+01:00,7,5\n"
    assert read(text) == [(0.00993, 2, 2_162), (0.0, 3, 7)]


def test_burstgpt_is_read_with_and_without_sessions() -> None:
    assert read(f"{BURSTGPT}\n5,ChatGPT,472,18,490,Conversation log\n") == [(5.0, 2, 472)]
    assert read(f"{SESSIONS}\n5,s1,2.5,GPT-4,472,0,472,API log\n") == [(5.0, 2, 472)]


def test_mooncake_has_milliseconds() -> None:
    line = '{"timestamp": 3052, "input_length": 7234, "output_length": 794, "hash_ids": [0, 28]}'
    assert read(f"{line}\n\n{line}") == [(3.052, 1, 7_234), (3.052, 3, 7_234)]


def test_any_csv_or_jsonl_is_read_by_named_columns() -> None:
    assert read(' t , x,n\n1.5,"a, b",20\n', columns=PLAIN) == [(1.5, 2, 20)]
    assert read('{"x": [], "n": 20, "t": 1.5}', columns=PLAIN) == [(1.5, 1, 20)]
    assert read("t,n\n1e3,20.0\n", "csv", Columns("t", "n", "milliseconds")) == [(1.0, 2, 20)]
    assert read('{"t": "2", "n": "20"}', "jsonl", PLAIN) == [(2.0, 1, 20)]


@pytest.mark.parametrize(
    ("time", "value"),
    [
        ("seconds", "86400.25"),
        ("milliseconds", "86400250"),
        ("microseconds", "86400250000"),
        ("nanoseconds", "86400250000000"),
        ("date", "1970-01-02T00:00:00.25Z"),
    ],
)
def test_every_way_to_write_a_time_means_the_same(time: str, value: str) -> None:
    assert read(f"t,n\n{value},1\n", columns=Columns("t", "n", time)) == [(86_400.25, 2, 1)]


def test_blank_lines_are_passed_over_and_counted() -> None:
    assert read("\ufeff\n  \nt,n\n\n1,2\n   \n3,4\n\n", columns=PLAIN) == [(1.0, 5, 2), (3.0, 7, 4)]


def test_a_trace_with_a_header_only_has_no_rows() -> None:
    assert read(f"{AZURE}\n") == []


@pytest.mark.parametrize("text", ["", "\n\n", "\ufeff", " \t\r\n\x0b\n"])
def test_an_empty_file_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"a\.trace:\d: the file is empty"):
        read(text)


@pytest.mark.parametrize(
    "first",
    [
        "a,b,c",
        "Timestamp,ContextTokens,GeneratedTokens",  # neither of the two CSV formats
        f"{AZURE},Timestamp,Model,Request tokens,Response tokens",  # both
        '{"timestamp": 1.5, "input_length": 5}',  # of seconds or of milliseconds?
        # A cousin of Mooncake's with the same names and seconds.
        '{"chat_id": 1, "timestamp": 1.5, "input_length": 5, "output_length": 2, "hash_ids": []}',
        "[1, 2]",
        "PK\x03\x04\x00",
    ],
)
def test_columns_that_are_not_surely_one_format_are_refused_with_the_choices(first: str) -> None:
    with pytest.raises(ValueError, match=r"a\.trace:1: .*azure, burstgpt, mooncake\) or name"):
        read(f"{first}\n1,2,3\n")


def test_a_named_format_needs_only_the_columns_that_are_read() -> None:
    assert read('{"timestamp": 1500, "input_length": 5, "x": 0}', "mooncake") == [(1.5, 1, 5)]
    assert read("Request tokens,Timestamp\n7,2\n", "burstgpt") == [(2.0, 2, 7)]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("t,m\n1,2\n", r"a\.trace:1: column 'n' is missing; found .*'t', 'm'"),
        ("t,n,n\n1,2,3\n", r"a\.trace:1: column 'n' stands twice"),
        ('{"t": 1}', r"a\.trace:1: column 'n' is missing"),
    ],
)
def test_a_missing_or_double_column_is_refused(text: str, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        read(text, columns=PLAIN)


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ("1", "1 fields under 3 column names: '1'"),
        ("1,2,3,4", "4 fields under 3 column names"),
        (",2,", "'t' has no value"),
        ("1,,", "'n' has no value"),
        ("1,-2,", "'-2' is not a whole number of tokens, 0 to 2,147,483,647"),
        ("1,2.5,", "'2.5' is not a whole number"),
        ("1,1_0,", "'1_0' is not a whole number"),
        ("1,nan,", "'nan' is not a whole number"),
        ("1,2147483648,", "'2147483648' is not a whole number"),
        ("1," + "9" * 500 + ",", r"\.\.\. is not a whole number"),
        ("x,2,", "time 'x' is not a plausible number of seconds; times may be written as sec"),
        ("nan,2,", "time 'nan' is not"),
        ("-inf,2,", "time '-inf' is not"),
        ("1_0,2,", "time '1_0' is not"),
        ("1e13,2,", "time '1e13' is not"),
        ("2023-11-16 18:17:03,2,", "time '2023-11-16 18:17:03' is not"),
        ('1,2,"a"b', "not CSV: ',' expected after '\"'"),
    ],
)
def test_a_bad_csv_row_is_refused_with_file_line_and_value(row: str, fault: str) -> None:
    with pytest.raises(ValueError, match=rf"^a\.trace:3: .*{fault}"):
        read(f"t,n,x\n1,2,3\n{row}\n", columns=PLAIN)


def test_an_open_quote_is_refused_where_the_file_ends() -> None:
    with pytest.raises(ValueError, match=r"^a\.trace:4: not CSV: unexpected end of data"):
        read('t,n\n1,"2\n3,4\n', columns=PLAIN)


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ("1,2", "not JSON: Extra data"),
        ('{"t": 1, "n": 2', "not JSON: Expecting"),
        ("[" * 100_000, r"not JSON: .*\[\.\.\."),
        ("[1, 2]", r"not a JSON object: '\[1, 2\]"),
        ("null", "not a JSON object"),
        ('{"t": 1}', "'n' has no value"),
        ('{"t": 1, "n": null}', "'n' has no value"),
        ('{"t": 1, "n": true}', "True is not a whole number"),
        ('{"t": 1, "n": [2]}', r"\[2\] is not a whole number"),
        ('{"t": 1, "n": 1e400}', "inf is not a whole number"),
        ('{"t": 1, "n": NaN}', "nan is not a whole number"),
        ('{"t": false, "n": 2}', "time False is not"),
        ('{"t": {}, "n": 2}', r"time \{\} is not"),
        ('{"t": 1' + "0" * 400 + ', "n": 2}', r"time 1000.*\.\.\. is not"),
    ],
)
def test_a_bad_json_row_is_refused_with_file_line_and_value(row: str, fault: str) -> None:
    with pytest.raises(ValueError, match=rf"^a\.trace:2: .*{fault}"):
        read(f'{{"t": 1, "n": 2}}\n{row}\n', columns=PLAIN)


def test_a_number_is_no_date() -> None:
    with pytest.raises(ValueError, match=r"a\.trace:2: time '1\.5' is not an ISO 8601 date"):
        read("t,n\n1.5,2\n", columns=Columns("t", "n", "date"))
    with pytest.raises(ValueError, match=r"a\.trace:1: time 5 is not an ISO 8601 date"):
        read('{"t": 5, "n": 2}', columns=Columns("t", "n", "date"))


def test_an_unknown_way_to_write_times_is_refused_with_the_choices() -> None:
    with pytest.raises(ValueError, match="time 'hours' is not one of seconds, milliseconds"):
        Columns("t", "n", "hours")


def test_a_line_without_end_does_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_formats, "LONGEST_LINE", 100)
    with pytest.raises(ValueError, match=r"a\.trace:2: a line of more than 100 characters"):
        read("t,n\n" + "1" * 101, columns=PLAIN)
    assert read("t,n\n1," + "0" * 96 + "2\n", columns=Columns("t", "t")) == [(1.0, 2, 1)]


def test_a_file_open_for_bytes_is_refused() -> None:
    with pytest.raises(ValueError, match=r"a\.trace:1: the file is open for bytes; open it as te"):
        read_rows(Lines(cast(TextIO, io.BytesIO(b"t,n\n1,2\n")), "a.trace"), "auto", PLAIN)


def test_every_format_is_named_and_described() -> None:
    assert FORMAT_NAMES == ("auto", "azure", "burstgpt", "mooncake", "csv", "jsonl")
    for known in FORMATS.values():
        assert known.description
        assert {known.columns.arrival, known.columns.tokens} <= known.required


@given(
    st.lists(
        st.tuples(st.floats(-1e9, 1e9), st.integers(0, MOST_TOKENS), st.text(max_size=8)),
        max_size=8,
    ),
    st.sampled_from(["csv", "jsonl"]),
)
def test_what_was_written_is_read(rows: list[tuple[float, int, str]], container: str) -> None:
    rows = [(time, tokens, re.sub(r"[\r\n]", "", text)) for time, tokens, text in rows]
    if container == "csv":
        quoted = ['"' + text.replace('"', '""') + '"' for *_, text in rows]
        lines = [f"{t!r},{q},{n}" for (t, n, _), q in zip(rows, quoted, strict=True)]
        text = "\n".join(["t,x,n", *lines])
    else:
        text = "\n".join(json.dumps({"t": t, "x": x, "n": n}) for t, n, x in rows)
    if text:
        found = read(text, columns=PLAIN)
        assert [(time, tokens) for time, _, tokens in found] == [(t, n) for t, n, _ in rows]


fragments = st.lists(
    st.sampled_from(
        ["t,n", "1,2", "\n", "\r", ",", '"', "{", "}", '{"t": 1, "n": 2}', "[", "\x00", "\ufeff"]
    )
    | st.text(max_size=5)
).map("".join)


@given(fragments, st.sampled_from(FORMAT_NAMES), st.booleans())
@example("\x0b\n", "jsonl", True)
@example('{"t": 1, "n": 2}\n\x0b\n', "jsonl", True)
def test_malformed_text_gives_sound_rows_or_an_error_that_names_the_line(
    text: str, format_name: str, named: bool
) -> None:
    columns = PLAIN if named and format_name not in FORMATS else None
    if columns is None and format_name in ("csv", "jsonl"):
        return
    fault, found = "", []
    try:
        found = read(text, format_name, columns)
    except ValueError as error:
        fault = str(error)
    assert not fault or re.match(r"a\.trace:\d+: \S", fault)
    assert all(0 <= tokens <= MOST_TOKENS for _, _, tokens in found)
    assert [line for _, line, _ in found] == sorted({line for _, line, _ in found})
