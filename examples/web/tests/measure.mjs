// Measures, in Chromium: node measure.mjs FOLDER SERVE bench|soak|solve [chromium|swiftshader|FILE ...]. `bench` compares with
// TensorFlow.js and with WebGL alone; `soak` plays water for ten minutes (MINUTES) and looks at memory, objects and the time of a
// picture; `solve` gives the page that solves these files of matrices.
import assert from "node:assert/strict";
import path from "node:path";
import { launch, serve } from "./browsers.mjs";

const [folder, program, what, ...words] = process.argv.slice(2);
const files = words.filter((word) => word.includes("."));
const named = words.filter((word) => !word.includes("."));

async function bench(browser, root) {
  const page = await browser.newPage();
  page.setDefaultTimeout(600000);
  page.on("pageerror", (error) => console.error(String(error)));
  await page.goto(`${root}web-bench/index.html`);
  await page.waitForFunction(() => window.measured);
  const { about, tf, rows } = await page.evaluate(() => window.measured);
  console.log(`${about.renderer}; TensorFlow.js ${tf}`);
  for (const { name, n, texla, against: [{ by, ms }, ...slower] } of rows) {
    const rest = slower.map(({ by, ms }) => ` (${by} ${ms.toFixed(4)})`).join("");
    console.log(`${`${name} ${n}`.padEnd(12)} texla ${texla.toFixed(4)} ms, ${by} ${ms.toFixed(4)} ms${rest}, ${(ms / texla).toFixed(2)} times`);
  }
}

async function soak(browser, root) {
  const minutes = Number(process.env.MINUTES ?? 10);
  const page = await browser.newPage();
  await page.goto(`${root}${path.basename(folder)}/index.html`);
  await page.waitForFunction(() => window.stage?.frames > 30);
  const seen = [];
  for (let k = 0; k <= minutes * 2; k += 1) {
    const before = await page.evaluate(() => [window.stage.frames, performance.now()]);
    await new Promise((next) => setTimeout(next, 30000));
    const { JSHeapUsedSize } = await page.metrics();
    const now = await page.evaluate(([frames, at]) => ({
      ms: (performance.now() - at) / (window.stage.frames - frames), counters: window.stage.gpu.counters(), module: window.stage.memory(),
    }), before);
    seen.push({ ...now, heap: JSHeapUsedSize });
    const { textures, buffers, framebuffers, programs, readbacks, checks } = now.counters;
    console.log(`${((k + 1) / 2).toFixed(1)} min: ${now.ms.toFixed(1)} ms a picture, heap ${(JSHeapUsedSize / 1e6).toFixed(1)} MB, module ${(now.module / 1e6).toFixed(1)} MB, ${textures} textures, ${buffers} buffers, ${framebuffers} framebuffers, ${programs} programs, ${readbacks + checks} readbacks`);
  }
  const [first, last] = [seen[1], seen.at(-1)];
  for (const key of ["textures", "buffers", "framebuffers", "programs", "readbacks", "checks"]) {
    assert.equal(last.counters[key], first.counters[key], `${key} do not grow`);
  }
  assert.equal(last.module, first.module, "the module's memory does not grow");
  assert.ok(last.heap < 1.5 * first.heap + 5e6, `the heap does not grow: ${first.heap}, ${last.heap}`);
}

async function solve(browser, root) {
  const page = await browser.newPage();
  await page.goto(`${root}${path.basename(folder)}/solve.html`);
  const done = () => page.waitForFunction(() => window.found && document.body.dataset.state === "done", { timeout: 600000 });
  await done();
  for (const file of files) {
    await page.evaluate(() => { window.found = null; });
    await (await page.$("#file")).uploadFile(file);
    await done();
    const found = await page.evaluate(() => window.found);
    console.log(`${path.basename(file)}: ${found.matrix}; ${found.by}; ${found.reason}, ${found.iterations} iterations, ${found.certified.toExponential(1)} (${found.residual.toExponential(1)} in 64 bits); made in ${found.making.toFixed(0)} ms, ${found.all.toFixed(0)} ms from file to answer`);
  }
}

const { root, stop } = await serve(program, path.dirname(path.resolve(folder)));
try {
  for (const name of named.length ? named : ["chromium", "swiftshader"]) {
    const { browser, close } = await launch(name);
    try {
      await ({ bench, soak, solve })[what](browser, root);
    } finally {
      await close();
    }
  }
} finally {
  stop();
}
