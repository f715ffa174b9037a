"""The dashboard's door: its pages. Start it with ``evroute app``."""

import streamlit as st

st.set_page_config(page_title="evroute", layout="wide")
st.navigation(
    [
        st.Page("views/plan.py", title="Plan", icon=":material/route:", default=True),
        st.Page("views/learn.py", title="Learn", icon=":material/show_chart:"),
    ]
).run()
