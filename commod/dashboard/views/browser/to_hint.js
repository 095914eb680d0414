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
    shown.scrollIntoView({ block: "nearest" });
    document.querySelector(".st-key-tour_hint button")?.focus({ preventScroll: true });
  }
}
