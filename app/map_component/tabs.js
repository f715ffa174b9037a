// Tabs of which none is open at first: a click or Enter opens one, and closes the open one. They are
// one stop of the Tab key, and the arrow keys lead from one to the next.

const STEPS = { ArrowLeft: -1, ArrowRight: 1 };

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".evroute-tabs");
  const open = data.names.indexOf(data.open);
  const focused = [...root.children].indexOf(root.getRootNode().activeElement);
  const tabs = data.names.map((name, k) => {
    const tab = document.createElement("button");
    tab.type = "button";
    tab.textContent = name;
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-selected", String(k === open));
    tab.tabIndex = k === Math.max(open, 0) ? 0 : -1;
    tab.onclick = () => setTriggerValue("event", { id: Date.now(), kind: "tab", name });
    tab.onkeydown = ({ key }) => {
      const next = key in STEPS && tabs[(k + STEPS[key] + tabs.length) % tabs.length];
      if (next) next.focus();
    };
    return tab;
  });
  root.setAttribute("role", "tablist");
  root.setAttribute("aria-label", "About this route");
  root.replaceChildren(...tabs);
  tabs[focused]?.focus();
}
