"""What a stranger wrote is text wherever it stands: in Markdown, in HTML, in a spreadsheet."""

import csv
import io

import pandas as pd
import pytest

from commod.dashboard.text.escape import bold, escape_markdown, safe_csv


@pytest.mark.parametrize("text", ["$50 to $60", "a*b_c", ":red[x]", "[x](http://y)", "<b>", "`x`", "# x"])
def test_words_of_the_data_are_no_markdown(text):
    escaped = escape_markdown(text)
    assert escaped.replace("\\", "").replace("\u2060", "") == text  # but for a joiner that nobody sees
    for i, sign in enumerate(escaped):
        if sign in "$*_[]<>`#:":
            assert escaped[i - 1] == "\\"


def test_csv_holds_no_formula():
    frame = pd.DataFrame(
        {
            "group": ["=1+1", "+2", "-3", "@x", " =4", "\t=5", "plain", 'quote"d, and\nlines'],
            "r": [-1.0, -2.5, 0, 1, 2, 3, 4, 5],
            "feature:=x": pd.Categorical(["=a", "b"] * 4),
        },
        index=["-1", *range(1, 8)],
    )
    raw = safe_csv(frame, {"group": "Group", "r": "r", "feature:=x": "=cmd|' /C calc'!A0"}, index="Number")
    header, *rows = csv.reader(io.StringIO(raw.decode("utf-8-sig"), newline=""))
    assert header == ["Number", "Group", "r", "'=cmd|' /C calc'!A0"]
    assert [row[1] for row in rows] == ["'=1+1", "'+2", "'-3", "'@x", "' =4", "'\t=5", "plain", 'quote"d, and\nlines']
    assert [float(row[2]) for row in rows] == frame["r"].tolist()  # numbers stay numbers
    assert rows[0][3] == "'=a"
    assert rows[0][0] == "'-1"


def test_headings_choose_the_columns_and_may_be_equal():
    frame = pd.DataFrame({"a": ["x"], "b": [1], "c": [-0.5]}, index=[7])
    assert safe_csv(frame, {"c": "C", "a": "C"}) == b"\xef\xbb\xbfC,C\r\n-0.5,x\r\n"
    assert safe_csv(frame, for_spreadsheets=False) == b"a,b,c\nx,1,-0.5\n"
    assert safe_csv(frame.iloc[:0], {"a": "A"}, index="Number").decode("utf-8-sig") == "Number,A\r\n"


def test_bold_is_the_only_markup():
    assert bold("a **b** <i>c</i> & d") == "a <strong>b</strong> &lt;i&gt;c&lt;/i&gt; &amp; d"
