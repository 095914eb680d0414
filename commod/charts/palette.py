"""The colour-blind safe palette of Okabe and Ito, and hues of families; legible on light and on dark."""

F = "#1F80C4"  # a little lighter than theirs, for the dark theme
G = "#D55E00"
SPLITS = "#EDB08A"
PATH = "#CC79A7"
TRAIL = "#E69F00"
FRONTIER = "#8A8A8A"
BETTER = "#009E73"
WORSE = "#CC79A7"
COMMOD = "#D55E00"
SHAP = "#56B4E9"
FIRST_VOTE = "#8A63D2"

# A hue for each family in the registry, with shades for its methods in turn; COMMOD has its own.
FAMILIES = {
    "blind": ("#2481C7", "#6C8CBF", "#5C74DB", "#1E97AB"),
    "aware": ("#B0569A", "#9467BD", "#CC6088", "#8A63D2"),
    "own": ("#00875F", "#6B8800", "#3F8F3F", "#947A00"),
}
