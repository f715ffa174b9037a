"""Entry point of the dashboard: its pages. Start it with ``evroute app``.

Pages have no icons: Streamlit fetches them, as the tab's picture, from the internet.
"""

import streamlit as st
from altair.utils.schemapi import disable_debug_mode
from state import keep_inputs

# charts in panels have a width of their own; a phone and half a page are narrower
STYLE = """<style>
[data-testid=stMainBlockContainer] { padding-top: 3.5rem; }
[data-testid=stVegaLiteChart] { max-width: 100%; }
[data-testid=stVegaLiteChart] .marks { max-width: 100% !important; height: auto !important; }
</style>"""
disable_debug_mode()  # tests check the charts; a plan is shown a tenth of a second sooner
st.set_page_config(page_title="evroute", layout="wide")
st.html(STYLE)
keep_inputs()
st.navigation(
    [
        st.Page("views/plan.py", title="Plan", default=True),
        st.Page("views/learn.py", title="Learn"),
        st.Page("views/runs.py", title="Runs"),
        st.Page("views/network.py", title="Network"),
    ]
).run()
