// texla as a guest in browsers: node guest.mjs FOLDER SERVE [--thorough] [BROWSER...]. FOLDER has the pages of guest/, beside those of
// the pages. three.js draws in the same context, and every value that the context answers is looked at around texla's calls.
// With --thorough each setting by itself stands around all of the fixed results, and each call that puts state back is left out once.
import assert from "node:assert/strict";
import path from "node:path";
import { launch, serve } from "./browsers.mjs";

const [folder, program, ...rest] = process.argv.slice(2);
const thorough = rest.includes("--thorough");
const named = rest.filter((word) => !word.startsWith("--"));

/** Calls something of the page's; what the console complains of is complained of here, unless it is `expected`. */
async function on(browser, url, call, expected, ...given) {
  const page = await browser.newPage();
  const complaints = [];
  page.on("console", (message) => {
    const own = /GPU stall due to ReadPixels|Automatic fallback to software WebGL|WEBGL_debug_renderer_info is deprecated/;
    if (["error", "warn", "warning", "assert"].includes(message.type()) && !own.test(message.text()) && !expected?.test(message.text())) {
      complaints.push(`${message.type()}: ${message.text()}`);
    }
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  await page.goto(url);
  await page.waitForFunction(() => document.body.dataset.state === "ready");
  const found = await page.evaluate((call, given) => window.guest[call](...given), call, given);
  assert.deepEqual(complaints, [], "the console");
  await page.close();
  return found;
}

const { root, stop } = await serve(program, path.dirname(path.resolve(folder)));
const url = `${root}${path.basename(folder)}/index.html`;
let failures = 0;
try {
  for (const name of named.length ? named : ["chromium", "firefox"]) {
    const { browser, close } = await launch(name);
    const step = async (what, run) => {
      const from = Date.now();
      const result = await run();
      console.log(`${name}: ${what}, ${((Date.now() - from) / 1000).toFixed(1)} s`);
      return result;
    };
    try {
      const scene = await step("three.js and texla in turns", () => on(browser, url, "scene"));
      assert.deepEqual(scene.others, [], "pictures that differ with texla between them");
      assert.deepEqual(scene.beside, scene.by, "what texla comes to");
      assert.ok(scene.colours > 1000 && scene.moved, `${scene.colours} colours, and each picture another`);
      const asked = await on(browser, url, "questions", /WebGL/);
      const kept = await step("everything against texla", () => on(browser, url, "kept", undefined, asked));
      assert.deepEqual(kept.found, [], "what texla changes");
      assert.equal(kept.results, scene.by.results, "results, everything against them");
      assert.equal(kept.probed, scene.by.probed, "what was probed, everything against it");
      assert.equal(kept.hash, scene.by.hash, "a solve, everything against it");
      assert.ok(kept.answers > 500 && kept.settings > 60, `${kept.answers} answers, ${kept.settings} settings`);
      assert.deepEqual(await step("one setting at a time", () => on(browser, url, "singly", undefined, asked, thorough)), []);
      if (thorough) {
        const { changed, ends } = await step("each call left out", () => on(browser, url, "missed", /WebGL|GL_/, asked));
        assert.deepEqual(changed, []);
        // A unit that is active already, and what making a device does not set.
        const needless = ends.filter(({ changed }) => !changed.length).map(({ call }) => call);
        assert.deepEqual(needless, ["activeTexture(33984)", "depthFunc(512)"], "calls that nobody misses");
        assert.ok(ends.length > 40, `${ends.length} calls`);
      }
    } catch (error) {
      failures += 1;
      console.error(`${name}:`, error);
    } finally {
      await close();
    }
  }
} finally {
  stop();
}
process.exitCode = failures ? 1 : 0;
