"""Walking through a page with the Tab key: what is reached, in which order, and whether it shows and stays."""

# Lines that a person sees around what is in focus; Streamlit draws some of them around a parent.
_LOOK = """() => {
  const parts = ['outlineStyle', 'outlineWidth', 'outlineColor', 'boxShadow', 'borderTopColor', 'borderTopWidth'];
  window.look = element => {
    const found = [];
    for (let e = element, i = 0; e && i < 5; e = e.parentElement, i++)
      for (const pseudo of [null, '::after']) {
        const style = getComputedStyle(e, pseudo);
        found.push(...parts.map(part => style[part]));
      }
    return found.join(';');
  };
  window.named = e => (e.getAttribute('aria-label') || e.labels?.[0]?.innerText || e.innerText || e.tagName)
    .replace(/\\s+/g, ' ').slice(0, 60);
  window.walked = [];
}"""

# One step: what is in focus now, and whether what was before looked otherwise while it was.
_STEP = """() => {
  const now = document.activeElement, before = walked.at(-1);
  if (before) before.ring ??= before.look !== look(before.element);
  // A grid takes Tab from cell to cell of a row, which it draws itself, and then lets go.
  const grid = now.matches('[data-testid=stDataFrame] canvas, [data-testid=stDataFrame] td');
  const known = walked.some(each => each.element === now);
  // Streamlit's button to copy a code vanishes while it has the focus; the next Tab goes on from its place.
  if (now === document.body) return walked.at(-1)?.element.matches('[data-testid=stCode]') ?? false;
  if (known && !grid) return false;
  if (!known) walked.push(grid ? {element: now, ring: true} : {element: now, look: look(now)});
  return true;
}"""

# What can be operated but was not reached. Within a group of buttons, a number or a choice, arrow keys go on from what
# was; the parts that they stand for cannot be reached by Tab.
_MISSED = """() => {
  const all = 'a[href], button, input, select, textarea, summary, [role=slider], [role=combobox], [tabindex]';
  const groups = '[data-testid=stButtonGroup], [data-testid=stNumberInput], [data-testid=stSelectbox], '
    + '[data-testid=stMultiSelect]';
  const reached = new Set(walked.map(each => each.element));
  const partly = new Set([...reached].map(e => e.closest(groups)).filter(Boolean));
  return [...document.querySelectorAll(all)].filter(e => !e.disabled
    && !reached.has(e) && !partly.has(e.closest(groups))
    && e.checkVisibility({visibilityProperty: true}) && e.getBoundingClientRect().width > 0
    && !e.closest('[aria-hidden=true]') && !(e.tabIndex < 0 && e.matches('div, section, main'))).map(named);
}"""


def walk(page, most=400):
    """Press Tab from the top to the end; returns names in order, those without a ring, those missed, and disorder."""
    page.add_style_tag(content="* { transition: none !important; animation: none !important; }")
    page.evaluate(_LOOK)
    page.evaluate("() => document.activeElement.blur()")
    for _ in range(most):
        page.keyboard.press("Tab")
        if not page.evaluate(_STEP):
            break
    else:
        raise AssertionError("Tab does not come to an end")
    return {
        "names": page.evaluate("() => walked.map(each => named(each.element))"),
        "no ring": page.evaluate("() => walked.filter(each => !each.ring).map(each => named(each.element))"),
        "missed": page.evaluate(_MISSED),
        "out of order": page.evaluate(
            "() => walked.filter((each, i) => i && !(walked[i - 1].element.compareDocumentPosition(each.element) & 4))"
            ".map(each => named(each.element))"
        ),
    }


# All that can have the focus.
_MARK = """() => {
  const all = 'a[href], button, input, select, textarea, summary, [role=slider], [role=combobox], [tabindex="0"]';
  window.marked = [...document.querySelectorAll(all)].map(e => [e, named(e)]);
  return marked.length;
}"""


def mark(page):
    """Remember all that can have the focus, for `lost`; returns how many there are."""
    page.evaluate(_LOOK)
    return page.evaluate(_MARK)


def lost(page):
    """Names of what was there when it was marked and is no more: whoever was in it has lost the focus."""
    return page.evaluate("() => marked.filter(([e]) => !e.isConnected).map(([_, name]) => name)")


def in_focus(page):
    """The name of what is in focus."""
    return page.evaluate("() => named(document.activeElement)")
