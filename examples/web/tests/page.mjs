// A page of the pages', and what tests do with it.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";

export const PAGES = ["index", "smoke", "solve", "script", "packing", "device"];
/** Work on a rasteriser takes its time where other work goes on beside it. */
export const PATIENCE = 120000;

export const isScene = (name) => name === "index" || name === "smoke";

/** A page whose console is listened to: what it complains of comes to `complaints`, unless it is `expected`. */
export async function open(browser, url, expected) {
  const page = await browser.newPage();
  page.setDefaultTimeout(PATIENCE);
  const complaints = [];
  page.on("console", (message) => {
    // Chromium says of its own accord that software draws, and how long reading took.
    const own = /GPU stall due to ReadPixels|Automatic fallback to software WebGL|WEBGL_debug_renderer_info is deprecated|WebGL context was lost|CONTEXT_LOST_WEBGL/;
    if (["error", "warn", "warning", "assert"].includes(message.type()) && !own.test(message.text()) && !expected?.test(message.text())) {
      complaints.push(`${message.type()}: ${message.text()}`);
    }
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  if (url) await page.goto(url);
  return { page, complaints };
}

/** A picture of the scene, as it stands. */
export const scene = async (page) => createHash("sha256").update(await (await page.$("#scene")).screenshot()).digest("hex");

/** The same, once what was drawn last is on the screen. */
export async function steady(page) {
  let before = await scene(page);
  for (let tries = 0; tries < 20; tries += 1) {
    await frames(page, 3);
    const now = await scene(page);
    if (now === before) return now;
    before = now;
  }
  throw new Error("a scene that pauses does not stay as it is");
}

export const frames = (page, more) => page.evaluate(async (more) => {
  const until = (window.stage.frames ?? 0) + more;
  while ((window.stage.frames ?? 0) < until) await new Promise((next) => setTimeout(next, 10));
}, more);

/** Waits for what a form has asked for. */
export async function settled(page) {
  await page.waitForFunction(() => ["done", "failed"].includes(document.body.dataset.state));
  const [state, note] = await page.evaluate(() => [document.body.dataset.state, document.getElementById("note").textContent]);
  assert.equal(state, "done", note);
  return note;
}

/** The same for what is refused or stopped. */
export async function failed(page) {
  await page.waitForFunction(() => document.body.dataset.state === "failed");
  return page.$eval("#note", (note) => note.textContent);
}

/** Asks for something else. */
export async function asks(page, how) {
  await page.evaluate(() => { document.body.dataset.state = ""; });
  await how();
}

/** Clicks a button and waits for what comes of it. */
export async function sends(page, button = "#go") {
  await asks(page, () => page.click(button));
  return settled(page);
}
