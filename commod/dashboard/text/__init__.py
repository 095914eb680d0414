"""Words without Streamlit: figures and criteria, verdicts, the glossary, HTML and escaping."""
