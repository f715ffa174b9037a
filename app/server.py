"""The dashboard's server: the pages, and the addresses of suggestions beside them."""

import lan
import main_page
import warm
from own_routes import routes
from streamlit.starlette import App

app = App(
    "streamlit_app.py",
    lifespan=warm.lifespan,
    routes=routes(),
    middleware=[*lan.middleware(), *main_page.middleware()],
)
