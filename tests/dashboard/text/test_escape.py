"""What a stranger wrote is text wherever it stands: in Markdown, in HTML, in a spreadsheet."""

import csv
import io
import re
import shutil
import subprocess

import pandas as pd
import pytest

from commod.dashboard.text.escape import bold, escape_markdown, safe_csv
from tests.browsing import chromium, serve

pytestmark = pytest.mark.quick

TEXTS = [
    "$50 to $60",
    "a*b_c **d** ~~e~~",
    ":red[x] :material/home: :smile:",
    "[x](http://y.example)",
    "![p](//evil.example/p.png)",
    "[a]: http://evil.example",
    "<b>",
    "<https://evil.example>",
    "`x`",
    "# x",
    "- x",
    "+ x",
    "1. x",
    "2) x",
    "---",
    "a\n===",
    "x | y\n--|--\n1 | 2",
    "&lt;b&gt; &copy;",
    "www.evil.example/a_b",
    "HTTPS://evil.example",
    "me@evil.example",
    "mailto:me@evil.example",
]


@pytest.mark.parametrize("text", TEXTS)
def test_words_of_the_data_are_no_markdown(text):
    escaped = escape_markdown(text)
    assert escaped.replace("\\", "").replace("\u2060", "") == text  # but for a joiner that nobody sees
    for i, sign in enumerate(escaped):
        if sign in "$*_[]<>`#:&":
            assert escaped[i - 1] == "\\"


@pytest.mark.browser
@pytest.mark.slow
def test_streamlit_makes_no_links_pictures_or_markup_of_words_of_the_data(tmp_path):
    script = tmp_path / "texts.py"
    script.write_text(
        "import streamlit as st\n"
        "from commod.dashboard.text.escape import escape_markdown\n"
        f"for i, text in enumerate({TEXTS!r}):\n"
        "    with st.container(key=f'text{i}'):\n"
        "        st.markdown(escape_markdown(text))\n"
    )
    asked = []
    with serve(script) as address, chromium() as browser:
        page = browser.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.goto(address)
        page.wait_for_selector(f".st-key-text{len(TEXTS) - 1} p")
        for i, text in enumerate(TEXTS):
            drawn = page.locator(f".st-key-text{i} [data-testid='stMarkdownContainer']")
            assert drawn.inner_text().replace("\u2060", "").split() == text.split()
            assert set(re.findall(r"<(\w+)", drawn.inner_html())) <= {"p", "br"}, text
    assert not [address for address in asked if "evil" in address]


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
    assert [row[1] for row in rows] == ["'=1+1", "'+2", "'-3", "'@x", " '=4", "\t'=5", "plain", 'quote"d, and\nlines']
    assert [float(row[2]) for row in rows] == frame["r"].tolist()  # numbers stay numbers
    assert rows[0][3] == "'=a"
    assert rows[0][0] == "'-1"


@pytest.mark.slow
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_libreoffice_finds_no_formula(tmp_path, separator):
    """As it opens the file, whatever the country's separator: Excel in Germany takes the semicolon."""
    if shutil.which("soffice") is None:
        pytest.skip("needs LibreOffice (Debian: apt-get install --no-install-recommends libreoffice-calc)")
    texts = [
        "=1+1",
        "+2+3",
        "-3+4",
        "@SUM(1;2)",
        " =4+4",
        "\t=5+5",
        "a;=6+6",
        "a\t=7+7",
        "a,=8+8",
        "a\n=9+9",
        "a;\t =1+2",
    ]
    texts += ["=cmd|' /C calc'!A0", 'x;=HYPERLINK("http://evil.example";"y");z', 'q";=1+3;"']
    frame = pd.DataFrame({"name": texts, "reason": texts[::-1], "n": -1.5})
    contents = {"safe": safe_csv(frame), "raw": frame.to_csv(index=False).encode()}
    found = {}
    for name, content in contents.items():
        (tmp_path / f"{name}.csv").write_bytes(content)
        command = ["soffice", f"-env:UserInstallation=file://{tmp_path}/profile", "--headless", "--convert-to", "fods"]
        command += [f"--infilter=CSV:{ord(separator)},34,76,1", "--outdir", tmp_path, tmp_path / f"{name}.csv"]
        subprocess.run(command, check=True, timeout=120, capture_output=True)
        found[name] = re.findall('table:formula="([^"]*)"', (tmp_path / f"{name}.fods").read_text())
    assert found["raw"], "else this would find nothing in any file"
    assert found["safe"] == []


def test_headings_choose_the_columns_and_may_be_equal():
    frame = pd.DataFrame({"a": ["x"], "b": [1], "c": [-0.5]}, index=[7])
    assert safe_csv(frame, {"c": "C", "a": "C"}) == b"\xef\xbb\xbfC,C\r\n-0.5,x\r\n"
    assert safe_csv(frame, for_spreadsheets=False) == b"a,b,c\nx,1,-0.5\n"
    assert safe_csv(frame.iloc[:0], {"a": "A"}, index="Number").decode("utf-8-sig") == "Number,A\r\n"


def test_bold_is_the_only_markup():
    assert bold("a **b** <i>c</i> & d") == "a <strong>b</strong> &lt;i&gt;c&lt;/i&gt; &amp; d"
