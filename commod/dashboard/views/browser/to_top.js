// Scroll to the top of the page and read its heading out: Streamlit stays where it was.
{
  const main = document.querySelector('[data-testid="stMain"]'), heading = main && main.querySelector("h1");
  if (heading) {
    heading.tabIndex = -1;
    heading.focus({ preventScroll: true });
    main.scrollTo(0, 0);
  }
}
