// Outline what the hint of the tour speaks of, scroll to it, and focus the hint's first button: screen readers read it out.
{
  const parts = { slider: ".st-key-set_lambda_fair", verdict: ".verdict", dots: ".groups", tradeoff: ".st-key-pareto", why: ".st-key-why" };
  const shadows = [...document.querySelectorAll('[data-testid="stBidiComponentIsolated"]')].map((e) => e.shadowRoot);
  const find = (part) => [document, ...shadows].map((root) => root?.querySelector(parts[part])).find(Boolean);
  for (const part of Object.keys(parts)) find(part)?.style.removeProperty("outline");
  const part = document.querySelector("[data-hint]")?.dataset.hint, shown = part && find(part);
  if (shown) {
    shown.style.outline = "3px solid #D55E00";
    shown.style.outlineOffset = "4px";
    // Clear of the menu and, on a phone, of the hint, which lies above the chart and below all else.
    const hint = document.querySelector(".st-key-tour_hint"), { top, bottom } = hint.getBoundingClientRect();
    const narrow = innerWidth <= 768, above = narrow && part === "tradeoff";
    shown.style.scrollMargin = `${above ? bottom + 16 : 80}px 0 ${narrow && !above ? innerHeight - top + 16 : 16}px`;
    // Until somebody moves: what stands above may still be computed, and grow.
    const growing = new ResizeObserver(() => shown.scrollIntoView({ block: part === "why" ? "start" : "nearest" }));
    growing.observe(document.querySelector('[data-testid="stMainBlockContainer"]'));
    for (const event of ["pointerdown", "wheel", "keydown"]) addEventListener(event, () => growing.disconnect(), { once: true });
    hint.querySelector("button").focus({ preventScroll: true });
  }
}
