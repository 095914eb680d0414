// Scroll to the hint of the tour and focus its first button, so that screen readers read it out.
{
  const hint = document.querySelector(".st-key-tour_hint"), button = hint && hint.querySelector("button");
  if (button) {
    hint.scrollIntoView({ block: "center" });
    button.focus({ preventScroll: true });
  }
}
