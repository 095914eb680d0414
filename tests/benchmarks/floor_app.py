"""The floor: one slider, one chart, no computing. What Streamlit itself costs, in the layout of ours."""

import gc

import altair as alt
import numpy as np
import pandas as pd
import streamlit as st

from commod.dashboard.state.settings import GRIDS


@st.cache_resource
def start():
    gc.collect()
    gc.freeze()


@st.cache_resource
def spec():
    chart = alt.Chart(pd.DataFrame()).mark_point(filled=True, size=190).encode(x="x:Q", y="y:Q").to_dict()
    return {key: value for key, value in chart.items() if key not in ("data", "datasets")}


st.set_page_config(layout="wide")
start()
with st.sidebar:
    value = st.select_slider(
        "Fairness (λ_fair)",
        GRIDS["lambda_fair"],
        value=3.0,
        format_func=lambda v: f"{v:g}",
        key="set_lambda_fair",
    )
st.title("Floor")
st.vega_lite_chart(pd.DataFrame({"x": [value], "y": [np.sin(value)]}), spec(), width="stretch")
