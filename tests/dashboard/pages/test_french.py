"""No English where the app speaks French."""

import os

import pytest

from tests.dashboard.driving import fine, run
from tests.dashboard.untranslated import shown, untranslated

# What is folded or opened by a click.
OPEN = (
    *("numbers", "share", "python", "pin_here", "changes_table", "groups_table", "depths_table"),
    *("contributions_table", "record_table", "certainty_table", "curve_table", "conflict_table", "rivals_table"),
)


def opened(page, **query):
    app = run(page, **query)
    for key in OPEN:
        app.session_state[key] = True
    return fine(app.run())


@pytest.mark.with_shap
def test_x():
    out = open("/tmp/french.txt", "w")
    for page, query in eval(os.environ.get("PAGES") or "[('app.py', {}), ('app.py', dict(data='hiring', update='decisions', direction='improve', fairness='equalized_odds', without='shift', max_changes='50')), ('app.py', dict(data='german')), ('app.py', dict(data='compas', groups='age', update='tree')), ('pages/lesson.py', {}), ('pages/room.py', {}), ('pages/glossary.py', {})]"):
        try:
            fr, en = shown(opened(page, lang="fr", **query)), shown(opened(page, **query))
        except Exception as e:
            print(page, "FAILED", repr(e)[:500], file=out)
            continue
        for t in untranslated(fr, en):
            print(page, "|", t, file=out)
        out.flush()
