"""A model card in Markdown, with the metadata that model hubs read from its head."""

from commod import __version__
from commod.dashboard.model.fitted import FitResult
from commod.dashboard.pages.take_home.files import file_name
from commod.dashboard.pages.take_home.report_figures import figure_rows, widened
from commod.dashboard.state.settings import in_words
from commod.dashboard.text.html import document
from commod.metrics.figures import key_figures


def model_card(result: FitResult, code: str, date: str) -> str:
    """The card of one fit; its words are in ``card.md``."""
    values = result.figures["g"]
    return document(
        "card.md",
        result=result,
        code=code,
        date=date,
        version=__version__,
        setting=in_words(result.settings),
        model_file=file_name(result, "model", "json"),
        metrics=[(figure, float(values[figure.name])) for figure in key_figures() if figure.name in values],
        figures=[[" ".join(cell.split()) for cell in row] for row in figure_rows(result)],
        widened=widened(result),
    )
