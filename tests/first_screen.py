"""How much Explore's first screen asks of a reader: ``python -m tests.first_screen`` counts words and tab stops."""

import argparse

from tests.browsing import chromium, serve, still

SIZE = {"width": 1366, "height": 768}
# All that is read within the window, in charts and components, too; and all that can have the focus there.
_COUNT = """() => {
  const shown = (box) => box.width > 2 && box.height > 2 && box.bottom > 0 && box.right > 0
    && box.top < innerHeight && box.left < innerWidth;
  const seen = (e, opacityProperty) => e.checkVisibility({ opacityProperty, visibilityProperty: true });
  const words = [], stops = [];
  const all = 'a[href], button, input, select, textarea, summary, [role=slider], [role=combobox], [tabindex]';
  const visit = (root) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (node.nodeType === Node.ELEMENT_NODE) {
        if (node.shadowRoot) visit(node.shadowRoot);
        const can = node.matches(all) && node.tabIndex >= 0 && !node.disabled && !node.closest('[inert]');
        if (can && seen(node, false) && shown(node.getBoundingClientRect()))
          stops.push(node.getAttribute('aria-label') || node.innerText || node.tagName);
        continue;
      }
      const parent = node.parentElement ?? root.host;
      const silent = 'style, script, title, [data-testid=stIconMaterial], [href^="#"]'; // icons, and a hidden link
      if (parent.closest(silent) || !seen(parent, true)) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      if ([...range.getClientRects()].some(shown)) words.push(...node.data.split(/\\s+/));
    }
  };
  visit(document.body);
  return { words: words.filter((word) => /[\\p{L}\\d]/u.test(word)), stops };
}"""


def count(page):
    """Words (numbers, too) and tab stops in the window."""
    return page.evaluate(_COUNT)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--query", default="", help="such as '?data=compas&lang=fr'")
    parser.add_argument("--address", help="of a server that runs")
    arguments = parser.parse_args()

    def tell(address):
        with chromium() as browser:
            page = browser.new_page(viewport=SIZE)
            page.goto(f"{address}/{arguments.query}")
            still(page)
            found = count(page)
        print(f"{len(found['words'])} words: {' '.join(found['words'])}")
        print(f"{len(found['stops'])} tab stops: {' | '.join(found['stops'])}")

    if arguments.address:
        tell(arguments.address)
        return
    with serve() as address:
        tell(address)


if __name__ == "__main__":
    main()
