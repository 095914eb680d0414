"""Data and words: the datasheets, group sizes first, and what the metrics mean and do not tell."""

import streamlit as st

from commod.dashboard import layout, session
from commod.dashboard.markup import plain
from commod.datasets import load_task

layout.page("pages/data.py")
st.title("Data and words")

names = session.data_sets()
here = names.index(session.current().data)
name = st.selectbox("Data set", names, index=here, format_func=lambda key: load_task(key).spec.title)
task = load_task(name)
cells = st.container(horizontal=True, gap="small")
for code, group in enumerate(task.groups):
    rows = task.sensitive == code
    rate = f"{task.y[rows].mean():.1%} of them: {task.spec.outcomes[1]}"
    cells.metric(group, f"{rows.sum():,}", rate, delta_color="off", delta_arrow="off", border=True)
st.markdown(plain(task.datasheet) if task.recipe else task.datasheet)

session.keep_link()

st.header("What the figures mean")
st.markdown(
    """
- **f** is the deployed model; **g** is the new one. Decisions are 1 where the score is above one half.
- **P-Rule**: the smaller of the two groups' rates of positive decisions over the larger. 1 is fair by *demographic
  parity*.
- **Disparate mistreatment**: the difference of the groups' true positive rates plus that of their false positive
  rates. 0 is fair by *equalized odds*.
- **Decisions changed**: the share of people to whom g gives another decision than f.
- **Ratio r**: COMMOD multiplies the score of f (as a logit) by r(x). At r = 1 nothing changes; below 0 the decision
  does.
- **Concept**: a few features that go together; r is a weighted sum of concepts.
"""
)
st.header("Words of the Compare page")
st.markdown(
    """
- **Knob**: the one number of a method that trades accuracy for fairness: λ_fair of COMMOD, α (the gap allowed) of LPP,
  λ_mmd of FRAPPE, the margin of ROC, the strength of a mixture with f. A **sweep** trains the method at each of a dozen
  values of it, and at several seeds where chance plays a part.
- **Needs the group (○)**: the method must be told the sensitive attribute S of everyone it decides on. Such methods are
  called *oracles* in the paper: they know what the others may not use.
- **Segment**: models of about equal fairness. Q1 is the least fair quarter of a reference method's models, Q4 the
  fairest; accuracy is cut in the same way (Q1 the least accurate). The paper cuts at the quartiles of AdvDebias and, to
  see whether that matters, at those of LPP (its definition 2) and of ROC (definition 3).
- **Same people**: of all who are changed by COMMOD or by the other method, the share that both change.
- **Concept weights**: how many weights the concepts have together; fewer are easier to read. **Redundancy**: how many
  features two concepts share.
- **DP, EO**: demographic parity, equalized odds.
"""
)
st.header("What they do not tell")
st.markdown(
    """
Group metrics compare averages. They do not say whether a label records what one wants to know, whether a decision is
just to the person it concerns, or what happens afterwards. Demographic parity and equalized odds cannot in general be
had together, and both can be met by harming one group instead of helping the other: look at *who* changes, not only at
how many.
"""
)
