"""The model of the sliders, and everything that pages say and draw about it, without Streamlit."""
