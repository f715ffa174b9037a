"""The dashboard's door: its pages. Start it with ``evroute app``.

Pages have no icons: Streamlit fetches them, as the tab's picture, from the internet.
"""

import streamlit as st
from state import keep_inputs

st.set_page_config(page_title="evroute", layout="wide")
st.html("<style>[data-testid=stVegaLiteChart] canvas {max-width: 100% !important; height: auto !important}</style>")
keep_inputs()
st.navigation(
    [
        st.Page("views/plan.py", title="Plan", default=True),
        st.Page("views/learn.py", title="Learn"),
        st.Page("views/runs.py", title="Runs"),
        st.Page("views/network.py", title="Network"),
    ]
).run()
