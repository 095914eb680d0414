// Streamlit adds an entry to the browser's history whenever the address changes, so Back would lead to the same page.
// A change of the same page replaces its entry instead (docs/upstream.md).
if (!history.oneEntryAPage) {
  history.oneEntryAPage = true;
  const push = history.pushState.bind(history);
  history.pushState = (state, unused, url) => {
    const samePage = url && new URL(url, location).pathname === location.pathname;
    return samePage ? history.replaceState(state, unused, url) : push(state, unused, url);
  };
}
// Screen readers need to know the language.
document.documentElement.lang = document.querySelector("[data-language]").dataset.language;
// On a phone the menu lies over the page: it closes when a page is chosen.
if (!history.menuCloses) {
  history.menuCloses = true;
  document.addEventListener("click", (click) => {
    if (innerWidth > 768 || !click.target.closest('[data-testid="stSidebarNavLink"]')) return;
    setTimeout(() => document.querySelector('[data-testid="stSidebarCollapseButton"] button')?.click());
  });
}
// The menu comes after the sidebar: a button in front of both leads there, seen while it has the focus.
if (!document.querySelector(".to-menu")) {
  const button = Object.assign(document.createElement("button"), { className: "to-menu", textContent: "Menu" });
  const menu = '[data-testid="stTopNavSection"], [data-testid="stTopNavLink"], [data-testid="stExpandSidebarButton"]';
  button.addEventListener("click", () => document.querySelector(menu)?.focus());
  document.body.prepend(button);
}
