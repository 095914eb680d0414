// Scroll to the part of the page that is named, else to its top, and read the heading out: Streamlit stays where it was.
{
  const main = document.querySelector('[data-testid="stMain"]'), part = document.querySelector("[data-part]")?.dataset.part;
  const heading = part ? document.getElementById(part) : main && main.querySelector("h1");
  if (heading) {
    heading.tabIndex = -1;
    heading.focus({ preventScroll: true });
    if (part) heading.scrollIntoView();
    else main.scrollTo(0, 0);
  }
}
