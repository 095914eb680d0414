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
