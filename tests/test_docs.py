"""docs/api.md says of every public name of the library what its docstring says."""

from tests.api_docs import TARGET, document


def test_every_public_name_has_its_line_and_the_file_is_up_to_date():
    text, without = document()
    assert not without, "these need a docstring, or a comment above the constant"
    assert TARGET.read_text() == text, "write it again with: python -m tests.api_docs"
