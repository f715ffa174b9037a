"""Entry point of the dashboard: its pages. Start it with ``evroute app``.

Pages have no icons: Streamlit fetches them, as the tab's picture, from the internet.
"""

import streamlit as st

# a bar of 48 px; charts in panels have a width of their own, a phone and half a page are narrower
STYLE = """<style>
:root { --evroute-bar: 48px; --evroute-full-height: calc(100vh - var(--evroute-bar) - 8px); }
[data-testid=stHeader] { height: var(--evroute-bar); min-height: var(--evroute-bar); }
[data-testid=stTopNav]::before { content: "evroute"; font-weight: 700; margin: 0 12px 0 4px; }
[data-testid=stMainBlockContainer] { padding-top: calc(var(--evroute-bar) + 1rem); }
[data-testid=stMainBlockContainer]:has(.st-key-plan) { padding: var(--evroute-bar) 8px 8px; }
[data-testid=stMainBlockContainer] h1 { font-size: 1.5rem; padding: 0.25rem 0; }
[data-testid=stMainBlockContainer] h2 { font-size: 1.15rem; padding: 0.25rem 0; }
[data-testid=stCaptionContainer] * { color: inherit; }
[data-testid=stCaptionContainer] { color: inherit !important; opacity: .8; }
[data-testid=stSliderThumbValue], [data-testid=stSliderThumbValue] * { color: inherit !important; }
[data-testid=stTab] p { color: var(--st-text-color); }
[data-testid=stVegaLiteChart] { max-width: 100%; }
[data-testid=stVegaLiteChart] .marks { max-width: 100% !important; height: auto !important; }
.st-key-plan { flex-wrap: nowrap; }
.st-key-plan-left { height: var(--evroute-full-height) !important; overflow: hidden auto; gap: 10px;
  padding: 4px 6px 8px 4px; flex-wrap: nowrap; }
.st-key-plan-left > * { flex-shrink: 0; }
.st-key-shortage [data-testid=stAlertContentError] p { font-size: 18px; font-weight: 700; }
.st-key-places { gap: 4px; }
.st-key-places .evroute-search label { position: absolute; z-index: 1; left: 12px; top: 8px;
  margin: 0; font-size: 13px; opacity: .8; pointer-events: none; }
.st-key-places .evroute-search input { height: 36px; padding-left: 60px; }
.st-key-places button { min-height: 36px; min-width: 40px; }
.st-key-chips { gap: 4px !important; }
.st-key-chips button { min-height: 1.75rem; padding: 1px 6px; }
.st-key-chips button p { font-size: 13px; white-space: nowrap; }
.st-key-chips button > div > div:has(> [data-testid=stIconMaterial]) { display: none; }
[data-testid=stLayoutWrapper]:has(> .st-key-pages) { display: none; }
@media (max-width: 767px) {
  :is([data-testid=stExpandSidebarButton], [data-testid=stSidebar]) { display: none; }
  [data-testid=stLayoutWrapper]:has(> .st-key-pages) { display: block; position: fixed; top: 0;
    left: 8px; z-index: 999991; }
  .st-key-pages { height: var(--evroute-bar); align-items: center; flex-wrap: nowrap; }
  .st-key-pages a { padding: 6px 8px; }
}
@media (max-width: 640px) {
  .st-key-story [data-testid=stColumn]:has([data-testid=stVegaLiteChart]) { order: -1; }
  :root { --evroute-full-height: 45vh; }
  .st-key-plan { flex-direction: column; }
  .st-key-plan > :has(> .st-key-plan-map) { order: -1; position: sticky;
    top: var(--evroute-bar); z-index: 50; width: 100% !important;
    background: var(--st-background-color); }
  .st-key-plan > :has(> .st-key-plan-left) { width: 100%; max-width: 100%; }
  .st-key-plan-left { width: 100%; height: auto !important; overflow: visible; }
}
</style>"""
st.set_page_config(page_title="evroute", layout="wide")
st.html(STYLE)
pages = [
    st.Page("views/plan.py", title="Plan", default=True),
    st.Page("views/learn.py", title="Learn"),
    st.Page("views/car.py", title="My car"),
    st.Page("views/advanced.py", title="Advanced"),
]
chosen = st.navigation(pages, position="top")
with st.container(horizontal=True, gap="xsmall", key="pages"):  # on a phone, in place of a drawer
    for page in pages:
        st.page_link(page)
if chosen.url_path:  # the other pages draw charts, which tests check
    from altair.utils.schemapi import disable_debug_mode

    disable_debug_mode()
chosen.run()
