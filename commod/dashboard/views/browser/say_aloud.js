// Read out once what has happened in a room. Streamlit replaces elements, and a screen reader announces a change only in
// an element that was there before: this one stays.
{
  let live = document.getElementById("commod-aloud");
  const said = document.querySelector("[data-aloud]");
  if (!live) {
    live = document.createElement("div");
    live.id = "commod-aloud";
    live.setAttribute("role", "status");
    live.setAttribute("aria-live", "polite");
    live.style.cssText = "position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)";
    document.body.append(live);
  }
  if (said && live.textContent !== said.dataset.aloud) live.textContent = said.dataset.aloud;
}
