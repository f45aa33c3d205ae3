// What all pages have: a head with their names, a line that says what device this is, light and dark.

const PAGES = { index: "Water", smoke: "Smoke", solve: "Solve", script: "Script", packing: "Packing", device: "Device" };

export const $ = (id) => document.getElementById(id);

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

const root = document.documentElement;
const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;

function turnTheme() {
  root.dataset.theme = dark() ? "light" : "dark";
  try { localStorage.setItem("theme", root.dataset.theme); } catch { /* a page may be kept from storing */ }
  dispatchEvent(new Event("themechange"));
}

/** Calls back when colours change. */
export function onTheme(call) {
  addEventListener("themechange", call);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", call);
}

/** A colour of the style, for canvases. */
export function colour(name) {
  const probe = element("span", { style: `color: var(--${name}); display: none` });
  document.body.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value;
}

const line = element("footer", { id: "device-line" }, element("span", {}, "Looking for a device …"));

function frame() {
  const nav = element("nav", { "aria-label": "Pages" });
  for (const [file, name] of Object.entries(PAGES)) {
    const link = element("a", { href: `${file}.html` }, name);
    if (file === root.dataset.page) link.setAttribute("aria-current", "page");
    nav.append(link);
  }
  const brand = element("a", { class: "brand", href: "index.html", "aria-label": "texla" },
    element("img", { src: "icon.svg", alt: "" }), element("span", {}, "texla"));
  const theme = element("button", { class: "quiet", type: "button", title: "Light or dark", "aria-label": "Light or dark", onclick: turnTheme }, "◐");
  document.body.prepend(element("header", {}, brand, nav, theme));
  document.body.append(line);
  nav.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
}
frame();

/** Says what device this is. */
export function tellDevice(about) {
  const parts = [about.renderer, about.software ? "in software" : null, `WebGL 2`, `textures to ${about.textures}`, `${about.targets} targets`];
  if (!about.blends) parts.push("floats are not blended here: sparse matrices are gathered instead, and all pages work");
  if (!about.certifies) parts.push("nothing is exact here: residuals are not certified");
  line.replaceChildren(...parts.filter(Boolean).map((part) => element("span", {}, part)));
}

/** Says that there is none. */
export const tellNoDevice = (more = "") => line.replaceChildren(`No device that texla could use${more}.`);

/** One sentence for what keeps a page from working, and what still works. */
export function sentence(error) {
  if (error.name === "NoContext") {
    return `texla cannot work on this device: ${error.message}. Packing needs no graphics and works here.`;
  }
  if (error.name === "ContextLost") return "The browser took the graphics context away.";
  return error.message ?? String(error);
}

/** A WebGL 2 context as pages want it. */
export function contextOf(canvas) {
  const context = canvas.getContext("webgl2", {
    alpha: false, antialias: false, depth: false, stencil: false, powerPreference: "high-performance", preserveDrawingBuffer: false,
  });
  if (context) return context;
  const error = new Error("this browser has no WebGL 2 here, or has turned it off");
  error.name = "NoContext";
  throw error;
}
