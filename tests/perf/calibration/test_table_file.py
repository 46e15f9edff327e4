"""A user's own CSV: what is read, and what each mistake is told."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decider.perf.calibration.table_file import read_table


def table(folder, text):
    path = folder / "times.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_lines_of_one_shape_are_its_samples(tmp_path):
    text = "rows,length,milliseconds\n2,64,1.5\n1,64,1.0\n2,64,1.7\n"
    found = read_table(table(tmp_path, text))
    assert [(cell.shape, cell.samples) for cell in found.cells] == [
        ((1, 64), [1.0]),
        ((2, 64), [1.5, 1.7]),
    ]


@pytest.mark.parametrize("column", ["milliseconds", "median_ms"])
def test_token_counts_are_single_rows(tmp_path, column):
    found = read_table(table(tmp_path, f"num_tokens,{column}\n128,2\n64,1\n"))
    assert [cell.shape for cell in found.cells] == [(1, 64), (1, 128)]


def test_a_byte_order_mark_spaces_and_other_columns_do_not_matter(tmp_path):
    found = read_table(table(tmp_path, "\ufeffname, rows, length, milliseconds\nx, 1, 64, 1\n"))
    assert found.cells[0].shape == (1, 64)


@pytest.mark.parametrize("value", ["nan", "inf", "-1", "0"])
def test_impossible_times_are_kept_for_the_refusal_to_name(tmp_path, value):
    found = read_table(table(tmp_path, f"rows,length,milliseconds\n1,64,{value}\n"))
    assert len(found.cells[0].samples) == 1


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "found an empty file"),
        ("rows,length\n1,64\n", "found rows,length"),
        ("rows,milliseconds\n1,64\n", "expected columns rows,length,milliseconds or num_tokens"),
        ("rows,length,milliseconds\n", "no rows below the header"),
        ("rows,length,milliseconds\n1,64,1\n1,x,1\n", "line 3: length is no number: 'x'"),
        ("rows,length,milliseconds\n1.5,64,1\n", "line 2: rows must be a whole number.*not 1.5"),
        ("rows,length,milliseconds\n0,64,1\n", "rows must be a whole number of at least 1"),
        ("rows,length,milliseconds\nnan,64,1\n", "rows must be a whole number"),
        ("num_tokens,milliseconds\n64\n", "line 2: milliseconds is no number: None"),
    ],
)
def test_a_mistake_is_named_with_its_place(tmp_path, text, told):
    with pytest.raises(ValueError, match=told):
        read_table(table(tmp_path, text))


@given(text=st.text(max_size=200))
def test_any_text_is_read_or_refused(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("any") / "times.csv"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    from decider.perf.calibration.sources import read_source

    with pytest.raises(ValueError, match=r"times\.csv"):
        read_source(path)
