// Tells the server whether what stands below here is on the screen: only then it is drawn.
const NEAR = 0, FAR = 50; // pixels below the screen; between them it stays as it is

class Below {
  constructor(root) {
    const box = root.querySelector(".below");
    this.button = box.querySelector("button");
    this.button.addEventListener("click", () => this.say(true));
    this.main = document.querySelector('[data-testid="stMain"]');
    this.look = () => {
      const distance = box.getBoundingClientRect().top - this.main.getBoundingClientRect().bottom;
      if (distance < NEAR) this.say(true);
      else if (distance > FAR) this.say(false);
    };
    this.main.addEventListener("scroll", this.look, { passive: true });
    this.sizes = new ResizeObserver(this.look);
    this.sizes.observe(this.main);
    this.sizes.observe(document.querySelector('[data-testid="stMainBlockContainer"]'));
  }

  take(data, send) {
    this.send = send;
    this.said = data.near;
    this.button.textContent = data.words;
    this.button.hidden = data.near;
    this.look();
  }

  say(near) {
    if (near === this.said) return;
    this.said = near;
    this.send("near", near);
  }

  stop() {
    this.main.removeEventListener("scroll", this.look);
    this.sizes.disconnect();
  }
}

export default function ({ parentElement, data, setStateValue }) {
  parentElement.below ??= new Below(parentElement);
  parentElement.below.take(data, setStateValue);
  return () => parentElement.below.stop();
}
