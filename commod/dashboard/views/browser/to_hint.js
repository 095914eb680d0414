// Outline what the hint of the tour speaks of, scroll to it, and focus the hint's first button: screen readers read it out.
{
  const parts = { slider: ".st-key-set_lambda_fair", verdict: ".verdict", dots: ".groups", tradeoff: ".st-key-pareto", why: ".st-key-why" };
  const find = (part) => {
    const shadows = [...document.querySelectorAll('[data-testid="stBidiComponentIsolated"]')].map((e) => e.shadowRoot);
    return [document, ...shadows].map((root) => root?.querySelector(parts[part])).find(Boolean);
  };
  for (const part of Object.keys(parts)) find(part)?.style.removeProperty("outline");
  const part = document.querySelector("[data-hint]")?.dataset.hint;
  if (part) {
    const hint = document.querySelector(".st-key-tour_hint"), narrow = innerWidth <= 768, above = narrow && part === "tradeoff";
    const show = () => {
      const shown = find(part), { top, bottom } = hint.getBoundingClientRect();
      if (!shown) return;
      shown.style.outline = "3px solid #D55E00";
      shown.style.outlineOffset = "4px";
      // Clear of the menu and, on a phone, of the hint, which lies above the chart and below all else.
      shown.style.scrollMargin = `${above ? bottom + 16 : 80}px 0 ${narrow && !above ? innerHeight - top + 16 : 16}px`;
      shown.scrollIntoView({ block: part === "why" ? "start" : "nearest" });
    };
    // Until somebody moves: what stands above may still be computed, and grow.
    const growing = new ResizeObserver(show);
    growing.observe(document.querySelector('[data-testid="stMainBlockContainer"]'));
    for (const event of ["pointerdown", "wheel", "keydown"]) addEventListener(event, () => growing.disconnect(), { once: true });
    hint.querySelector("button").focus({ preventScroll: true });
  }
}
