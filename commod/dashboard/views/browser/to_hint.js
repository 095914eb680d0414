// Outline what the hint of the tour speaks of, scroll to it, and focus the hint's first button: screen readers read it out.
{
  const parts = { slider: ".st-key-set_lambda_fair", verdict: ".verdict", dots: ".groups", tradeoff: ".st-key-pareto", why: ".st-key-why" };
  const find = (part) => {
    const shadows = [...document.querySelectorAll('[data-testid="stBidiComponentIsolated"]')].map((e) => e.shadowRoot);
    return [document, ...shadows].map((root) => root?.querySelector(parts[part])).find(Boolean);
  };
  // What the page shows now decides, not what it showed when this script came: an older one may run last.
  const show = () => {
    const part = document.querySelector("[data-hint]")?.dataset.hint, shown = part && find(part);
    for (const other of Object.keys(parts)) if (other !== part) find(other)?.style.removeProperty("outline");
    if (!shown) return;
    shown.style.outline = "3px solid #D55E00";
    shown.style.outlineOffset = "4px";
    // Clear of the hint, which lies above all else.
    const { bottom } = document.querySelector(".st-key-tour_hint").getBoundingClientRect();
    shown.style.scrollMargin = `${bottom + 16}px 0 16px`;
    shown.scrollIntoView({ block: part === "why" ? "start" : "nearest" });
  };
  show();
  // Until somebody moves: what stands above may still be computed, and grow.
  const growing = new ResizeObserver(show);
  growing.observe(document.querySelector('[data-testid="stMainBlockContainer"]'));
  for (const event of ["pointerdown", "wheel", "keydown"]) addEventListener(event, () => growing.disconnect(), { once: true });
  document.querySelector(".st-key-tour_hint button")?.focus({ preventScroll: true });
}
