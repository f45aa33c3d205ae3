// Every page by the keyboard alone.
import assert from "node:assert/strict";
import { PAGES, asks, failed, frames, isScene, open, settled, steady } from "./page.mjs";

/** What has the focus: its place among all that can have it, whether that is seen, and what it is called. */
const focused = (page) => page.evaluate(() => {
  const at = document.activeElement, style = getComputedStyle(at);
  const width = style.outlineStyle === "none" ? 0 : parseFloat(style.outlineWidth);
  const reach = width + parseFloat(style.outlineOffset), box = at.getBoundingClientRect();
  // Of what scrolls an outline is cut off.
  const cut = [];
  for (let around = at.parentElement; around && around !== document.body; around = around.parentElement) {
    if (getComputedStyle(around).overflowY === "visible") continue;
    const room = around.getBoundingClientRect();
    if (box.top - reach < room.top - 0.5 || box.bottom + reach > room.bottom + 0.5) cut.push(around.tagName);
  }
  // A field's is that of its label, without what is chosen in it.
  const words = at.matches("select, input, textarea") ? [...at.labels[0]?.childNodes ?? []].filter((node) => node.nodeType === Node.TEXT_NODE) : [at];
  const name = at.getAttribute("aria-label") ?? words.map((node) => node.textContent).join("");
  return { id: at.id, tag: at.tagName, place: window.stops.indexOf(at), width, cut, name: name.trim() };
});

/** Presses the tabulator until something has the focus. */
async function reaches(page, id) {
  for (let presses = 0; presses < 40; presses += 1) {
    if (await page.evaluate((id) => document.activeElement.id === id, id)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`the tabulator does not reach ${id}`);
}

/** From the first stop to the last, in the order of the page. */
async function walks(page, name) {
  const all = await page.evaluate(() => {
    document.activeElement.blur();
    const able = "a[href], button:not(:disabled), select, textarea, input, summary, [tabindex='0']";
    window.stops = [...document.querySelectorAll(able)].filter((one) => one.checkVisibility());
    return window.stops.length;
  });
  for (let place = 0; place < all; place += 1) {
    await page.keyboard.press("Tab");
    const found = await focused(page);
    const what = `${name}: ${JSON.stringify(found)}`;
    assert.equal(found.place, place, what);
    assert.ok(found.width >= 2 && !found.cut.length, `where one is can be seen, ${what}`);
    assert.ok(found.name, `it has a name, ${what}`);
  }
  // What comes to pass is told, and pictures have names.
  if (!isScene(name)) assert.equal(await page.$eval("#note", (note) => note.getAttribute("role")), "status", name);
  assert.deepEqual(await page.$$eval("canvas:not([role][aria-label])", (all) => all.map((one) => one.id)), [], name);
}

const WORK = {
  async index(page) {
    await reaches(page, "scene");
    await page.keyboard.press(" ");
    for (const key of ["Enter", "ArrowLeft", "ArrowDown", "+"]) {
      const before = await steady(page);
      await page.keyboard.press(key);
      assert.notEqual(await steady(page), before, `${key} changes the water`);
    }
    const scene = () => page.evaluate(() => { window.before ??= window.stage.scene; return window.before === window.stage.scene; });
    assert.ok(await scene());
    await page.keyboard.press("r");
    assert.ok(!await scene(), "R begins again");
  },
  async smoke(page) {
    await reaches(page, "scene");
    const disc = () => page.evaluate(() => [...window.stage.scene.disc()]);
    const [x, y] = await disc();
    await page.keyboard.press("ArrowUp");
    // As fast as a key repeats, which may be more than once a picture.
    await page.evaluate(() => {
      for (let k = 0; k < 2; k += 1) document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", cancelable: true }));
    });
    await frames(page, 2);
    const moved = await disc();
    assert.ok(Math.abs(moved[0] - x - 0.04) < 0.01 && Math.abs(moved[1] - y + 0.02) < 0.01, `the disc follows: ${[x, y]}, ${moved}`);
    // Within one task no picture comes between: what is drawn is drawn by the key.
    const drawn = (key) => page.evaluate((key) => {
      const draws = () => window.stage.gpu.counters().draws, before = draws();
      document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, cancelable: true }));
      return draws() - before;
    }, key);
    assert.deepEqual([await drawn("Enter") > 0, await drawn("x")], [true, 0], "Enter stirs");
  },
  async solve(page) {
    // A list by its letters, and a button by Enter; where one was one stays.
    await reaches(page, "problem");
    await asks(page, () => page.keyboard.type("Flow"));
    await settled(page);
    assert.match(await page.$eval("#problem", (list) => list.value), /^flow/);
    await reaches(page, "go");
    await asks(page, () => page.keyboard.press("Enter"));
    await settled(page);
    assert.equal((await focused(page)).id, "go");
    // What takes long is stopped by it too.
    await page.evaluate(() => { document.getElementById("problem").value = "poisson 512"; document.body.dataset.state = ""; });
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    assert.equal((await focused(page)).id, "stop");
    await page.keyboard.press("Enter");
    assert.equal(await failed(page), "Stopped.");
    assert.equal((await focused(page)).id, "go", "and one may go on from there");
  },
  async script(page) {
    await reaches(page, "text");
    for (const press of ["down", "up"]) {
      await page.keyboard[press]("Control");
      if (press === "down") await page.keyboard.press("a");
    }
    await page.keyboard.type("print(6 * 7)");
    await asks(page, () => submits(page));
    await settled(page);
    assert.match(await page.$eval("#out", (out) => out.textContent), /42/);
  },
  async packing(page) {
    await reaches(page, "expression");
    await asks(page, () => page.keyboard.type("Your"));
    await settled(page);
    await reaches(page, "own");
    await page.keyboard.type("2 ");
    await asks(page, () => submits(page));
    assert.ok(await failed(page), "a row of nine and seven of eight");
  },
  async device(page) {
    await reaches(page, "copy");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => /^Copied/.test(document.getElementById("note").textContent));
  },
};

async function submits(page) {
  await page.keyboard.down("Control");
  await page.keyboard.press("Enter");
  await page.keyboard.up("Control");
}

export async function keys(browser, site, names = PAGES) {
  for (const name of names) {
    const { page, complaints } = await open(browser, `${site}${name}.html`);
    await (isScene(name) ? page.waitForFunction(() => window.stage?.frames > 3) : settled(page));
    await walks(page, name);
    await page.focus("header a");
    await WORK[name](page);
    const dark = () => page.evaluate(() => document.documentElement.dataset.theme);
    await page.focus("header button");
    const before = await dark();
    await page.keyboard.press("Enter");
    assert.notEqual(await dark(), before, "the theme");
    await page.focus("header nav a:first-of-type");
    await Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")]);
    assert.deepEqual(complaints, [], name);
    await page.close();
  }
}
