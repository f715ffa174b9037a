"""The dashboard's server: the pages, and the addresses of suggestions beside them."""

from lan import middleware
from search_routes import routes
from streamlit.starlette import App

app = App("streamlit_app.py", routes=routes(), middleware=middleware())
