// The pages in browsers: node run.mjs FOLDER SERVE REFERENCE [BROWSER...]. FOLDER has the pages, SERVE is the program that serves
// them, REFERENCE a file with what the program `reference` prints. Browsers, all of them unless some are named:
//
//   chromium      on llvmpipe, whose bits have to be those of REFERENCE; every page in both widths and themes
//   firefox       the same; needs a display, of xvfb-run or any other
//   swiftshader   Chromium on SwiftShader: errors within their bounds
//
// With BITS=1 no pages but the guide's, only the bits or bounds and the loss of a context. With QUICK=1 what browsers lack, lost
// contexts and the keyboard are tried on one page of each kind.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { BROWSERS, launch, serve } from "./browsers.mjs";
import { keys } from "./keys.mjs";
import { lessens, recovers } from "./lesser.mjs";
import { PAGES, asks, failed, frames, isScene, open, sends, settled, steady } from "./page.mjs";

const [folder, program, reference, ...named] = process.argv.slice(2);
const SIZES = [[390, 844], [1440, 900]];
const THEMES = ["light", "dark"];
const lines = (text) => text.trim().split("\n").map((line) => line.split("\t"));
const expected = lines(readFileSync(reference, "utf8"));
assert.equal(expected.length, 27, "20 operations, a mask and a loop, three solvers, waves and a fluid");

/** Hashes and errors against what is expected. */
function judge(found, bits) {
  assert.deepEqual(found.map(([name]) => name), expected.map(([name]) => name));
  found.forEach(([name, hash, error, bound], k) => {
    assert.ok(Number(error) <= Number(bound), `${name}: ${error}, expected at most ${bound}`);
    if (bits) assert.equal(hash, expected[k][1], `${name}: the bits of native ES 3`);
  });
}

async function resultsAndLoss(browser, site, bits) {
  const { page, complaints } = await open(browser, `${site}packing.html`);
  await page.waitForFunction(() => document.body.dataset.state === "done");
  const found = await page.evaluate(async () => {
    const texla = await import("./work.js");
    await texla.default();
    const canvas = document.createElement("canvas");
    const context = canvas.getContext("webgl2");
    const first = new texla.Gpu(context, false);
    const before = { about: first.about(), results: first.results(), digest: first.digest() };
    // The context goes in the middle of a solve.
    const lose = context.getExtension("WEBGL_lose_context");
    const event = (name) => new Promise((found) => canvas.addEventListener(name, (event) => { event.preventDefault(); setTimeout(found); }, { once: true }));
    const lost = event("webglcontextlost");
    let looks = 0, error = "none";
    try {
      const solve = new texla.Solve(first, "layers", 32, undefined, 1e-10);
      while (!solve.advance(1).done) {
        looks += 1;
        if (looks === 3) lose.loseContext();
        await new Promise((next) => setTimeout(next));
      }
    } catch (thrown) {
      error = thrown.name;
    }
    await lost;
    let later = "none";
    try { first.results(); } catch (thrown) { later = thrown.name; }
    const restored = event("webglcontextrestored");
    lose.restoreContext();
    await restored;
    first.free();
    const second = new texla.Gpu(context, true);
    return { ...before, looks, error, later, again: second.digest() };
  });
  judge(lines(found.results), bits);
  assert.ok(found.looks >= 3, `the context was lost after ${found.looks} slices`);
  assert.deepEqual([found.error, found.later], ["ContextLost", "ContextLost"], "a lost context is a typed error");
  assert.equal(found.again, found.digest, "a new device on the restored context, all of it its own, gives the same bits");
  assert.deepEqual(complaints, []);
  await page.close();
  return found;
}

/** What a page is kept from though the browser lists it is not asked of, and a context that has no list is one that went. */
async function keptFrom(browser, site) {
  const { page, complaints } = await open(browser, `${site}packing.html`);
  const found = await page.evaluate(async () => {
    const texla = await import("./work.js");
    await texla.default();
    const named = (change) => {
      const context = document.createElement("canvas").getContext("webgl2");
      change(context);
      try {
        return new texla.Gpu(context, false).about().renderer;
      } catch (error) {
        return error.name;
      }
    };
    const kept = (kept) => named((context) => {
      const plain = context.getExtension;
      context.getExtension = (name) => kept(name) ? null : plain.call(context, name);
    });
    return [
      kept((name) => name === "WEBGL_debug_renderer_info"), kept(() => true),
      named((context) => { context.getSupportedExtensions = () => null; }),
    ];
  });
  // Browsers may render to floats all the same; whose error it is that they say of a query is no question.
  const [first, none, unlisted] = found;
  assert.ok(!["Texla", "NoContext"].includes(first) && none !== "Texla", `${first}, ${none}`);
  assert.equal(unlisted, "ContextLost");
  assert.deepEqual(complaints, []);
  await page.close();
}

/** A page that was opened as a file says that it needs a server. */
async function opensAsFile(browser) {
  const { page } = await open(browser, pathToFileURL(path.resolve(folder, "index.html")).href);
  await page.waitForSelector(".unloaded");
  assert.match(await page.$eval(".unloaded", (said) => said.textContent), /from a web server, not from a file/);
  await page.close();
}

/** How many colours a screenshot has, at most `most`; and how light its background is. */
async function looks(page) {
  const picture = await page.screenshot({ encoding: "base64" });
  return page.evaluate(async (picture) => {
    const bitmap = await createImageBitmap(await (await fetch(`data:image/png;base64,${picture}`)).blob());
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
    const c = canvas.getContext("2d");
    c.drawImage(bitmap, 0, 0);
    const colours = new Set(new Uint32Array(c.getImageData(0, 0, bitmap.width, bitmap.height).data.buffer));
    const [r, g, b] = getComputedStyle(document.body).backgroundColor.match(/\d+(\.\d+)?/g).map(Number);
    return { colours: colours.size, light: (r + g + b) / 3 > 128 };
  }, picture);
}

/** Drops a file on the page. */
const drops = (page, name, text) => page.evaluate((name, text) => {
  const given = new DataTransfer();
  given.items.add(new File([text], name));
  document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: given, bubbles: true, cancelable: true }));
}, name, text);

/** A press at a place of the scene, in shares of it, and a way from there. */
async function drags(page, [x, y], [dx, dy]) {
  const box = await (await page.$("#scene")).boundingBox();
  const at = (x, y) => [box.x + x * box.width, box.y + y * box.height];
  await page.mouse.move(...at(x, y));
  await page.mouse.down();
  await page.mouse.move(...at(x + dx, y + dy), { steps: 3 });
  await page.mouse.up();
}

const counted = (page) => page.evaluate(() => { const { readbacks, checks } = window.stage.gpu.counters(); return [readbacks, checks]; });

/** Scenes play, nothing is read in a picture, and when they pause a pointer is all that changes them. */
async function plays(page, place) {
  await page.waitForFunction(() => window.stage?.scene && window.stage.frames > 3);
  const before = await counted(page);
  await frames(page, 10);
  assert.deepEqual(await counted(page), before, "nothing is read in a picture");
  await page.click("#bar button");
  const first = await steady(page);
  await drags(page, place, [0.05, 0.03]);
  assert.notEqual(await steady(page), first, "a pointer changes the scene");
}

/** What a canvas of another size holds when its observers are through, before it is shown: how many colours along its middle. */
const resized = (page) => page.evaluate(() => new Promise((seen) => {
  const canvas = document.getElementById("scene"), gl = canvas.getContext("webgl2");
  let before = null;
  const observer = new ResizeObserver(() => {
    if (before === null) {
      before = canvas.width;
      requestAnimationFrame(() => { canvas.style.maxWidth = "80%"; });
      return;
    }
    observer.disconnect();
    const row = new Uint32Array(canvas.width);
    gl.readPixels(0, canvas.height >> 1, canvas.width, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(row.buffer));
    canvas.style.maxWidth = "";
    seen({ narrower: canvas.width < before, colours: new Set(row).size });
  });
  observer.observe(canvas);
}));

/** However a window was before, a scene and its bar are all in sight, and a scene of another size is not blank. */
async function turns(page, [width, height]) {
  for (const [w, h] of [[844, 390], [width, height]]) {
    await page.setViewport({ width: w, height: h });
    await page.waitForFunction(() => window.stage?.scene);
    await frames(page, 3);
    const bottom = await page.$eval("#bar", (bar) => bar.getBoundingClientRect().bottom);
    assert.ok(bottom <= h, `the bar ends at ${bottom} of ${h}`);
  }
  const { narrower, colours } = await resized(page);
  assert.ok(narrower && colours > 3, `${colours} colours, narrower: ${narrower}`);
}

const RESPONDS = {
  async index(page) {
    await plays(page, [0.5, 0.55]);
    const { residual } = await page.evaluate(() => window.stage.scene.report());
    assert.ok(residual < 2e-4, `a residual of ${residual}`);
    // Two fingers that part come nearer.
    const [far, near] = await page.evaluate(() => {
      const canvas = document.getElementById("scene"), box = canvas.getBoundingClientRect(), { scene } = window.stage;
      const finger = (type, pointerId, x) => canvas.dispatchEvent(new PointerEvent(type, {
        pointerId, pointerType: "touch", buttons: 1, clientX: box.x + x * box.width, clientY: box.y + box.height / 2,
      }));
      const before = scene.distance();
      for (const [type, id, x] of [["pointerdown", 11, 0.45], ["pointerdown", 12, 0.5], ["pointermove", 12, 0.55]]) finger(type, id, x);
      const after = scene.distance();
      for (const id of [11, 12]) finger("pointerup", id, 0.5);
      return [before, after];
    });
    assert.ok(Math.abs(near - Math.max(far / 2, 1.6)) < 1e-3, `${far} away, then ${near}`);
  },
  async smoke(page) {
    await plays(page, [0.7, 0.5]);
    const disc = () => page.evaluate(() => [...window.stage.scene.disc()]);
    const [x, y] = await disc();
    const still = await counted(page);
    await drags(page, [x, y], [0.15, 0.1]);
    await frames(page, 2);
    assert.deepEqual(await counted(page), still, "nothing is read where the disc is dragged");
    const moved = await disc();
    assert.ok(Math.abs(moved[0] - x - 0.15) < 0.02 && Math.abs(moved[1] - y - 0.1) < 0.02, `the disc follows: ${moved}`);
    const { before, after } = await page.evaluate(() => window.stage.scene.look());
    assert.ok(after < 1e-3 * before, `divergence ${before} before, ${after} after`);
  },
  async solve(page) {
    await settled(page);
    await page.select("#problem", "flow 64");
    await sends(page);
    const found = await page.evaluate(() => ({ ...window.found, points: window.chart.points.length }));
    assert.ok(found.converged && found.residual <= 1e-6 && found.certified <= 1e-6, JSON.stringify(found));
    assert.ok(found.points > 3, "residuals are plotted as they come");
    // On the page itself, while it draws: the same bits.
    await page.evaluate(() => {
      window.drawn = 0;
      const draw = () => { window.drawn += 1; requestAnimationFrame(draw); };
      draw();
    });
    await asks(page, () => page.select("#where", "page"));
    await settled(page);
    const here = await page.evaluate(() => ({ ...window.found, drawn: window.drawn }));
    assert.equal(here.hash, found.hash, "however a solve is cut");
    assert.ok(here.slices > 3 && here.drawn >= here.slices - 1, `${here.drawn} pictures in ${here.slices} slices`);
    // A stop ends it there too, and so does another question, which is then the one that is answered.
    await asks(page, () => page.select("#problem", "poisson 256"));
    await page.waitForFunction(() => window.chart.points.length > 1);
    await page.click("#stop");
    assert.equal(await failed(page), "Stopped.");
    for (const where of ["page", "worker"]) {
      await page.select("#where", where);
      await settled(page);
      await asks(page, () => page.select("#problem", "poisson 512"));
      await asks(page, () => page.select("#problem", "flow 64"));
      await settled(page);
      assert.equal((await page.evaluate(() => window.found)).hash, found.hash, `what was asked last, ${where}`);
    }
    await asks(page, () => drops(page, "three.mtx", "%%MatrixMarket matrix coordinate real symmetric\n3 3 5\n1 1 4\n2 2 4\n3 3 4\n2 1 -1\n3 2 -1\n"));
    await settled(page);
    assert.match(await page.$eval("#result", (list) => list.textContent), /3x3, 7 nonzeros/);
    const chosen = () => page.$eval("#problem", (list) => list.selectedOptions[0].textContent);
    assert.equal(await chosen(), "three.mtx", "the list says what is solved");
    await asks(page, () => drops(page, "empty.mtx", ""));
    assert.match(await failed(page), /^empty\.mtx/i);
    assert.deepEqual([await chosen(), await page.$$eval("#given", (all) => all.length)], ["empty.mtx", 1]);
  },
  async script(page) {
    await settled(page);
    assert.match(await page.$eval("#out", (out) => out.textContent), /A \* B\n10 {2}4\.5\n22 {4}9\n/);
    // An example that cannot be had is told; one that comes late is not shown in the place of another.
    const chooses = (name) => page.select("#example", name);
    await page.evaluate(() => { window.plain = fetch; window.fetch = async () => new Response("no", { status: 404 }); });
    const before = await page.$eval("#text", (area) => area.value);
    await chooses("cg");
    await page.waitForFunction(() => /^The example could not be loaded: 404/.test(document.getElementById("note").textContent));
    assert.equal(await page.$eval("#text", (area) => area.value), before);
    await page.evaluate(() => {
      window.fetch = async (url) => {
        const answer = await window.plain(url);
        if (/cg/.test(url)) await new Promise((late) => { window.late = late; });
        return answer;
      };
    });
    await chooses("cg");
    await page.waitForFunction(() => window.late);
    await asks(page, () => chooses("lcp"));
    await settled(page);
    const lcp = await page.$eval("#text", (area) => area.value);
    await page.evaluate(async () => { window.late(); await new Promise((next) => setTimeout(next, 50)); });
    assert.equal(await page.$eval("#text", (area) => area.value), lcp);
    assert.notEqual(lcp, before);
    await page.evaluate(() => { window.fetch = window.plain; });
    // What prints without end is cut short and can be stopped.
    await asks(page, () => page.$eval("#text", (area) => {
      area.value = "repeat 1000000000\n  print(1)\nend\n";
      document.getElementById("go").click();
    }));
    await page.waitForFunction(() => document.getElementById("out").textContent.endsWith("… the rest is not shown\n"));
    await page.click("#stop");
    assert.equal(await failed(page), "Stopped.");
    await page.select("#example", "mistake");
    await page.waitForFunction(() => document.getElementById("error"));
    assert.match(await page.$eval("#error", (out) => out.textContent), /^line 4, column 7: A is 2x2 and b is 3x1.*\n {4}x = A \* b\n {10}\^/s);
    // The cursor goes to the place, whatever characters are before it.
    await asks(page, () => page.$eval("#text", (area) => {
      area.value = 'print("🦀🦀é"); b = unknown';
      document.getElementById("go").click();
    }));
    await settled(page);
    assert.equal(await page.$eval("#text", (area) => area.value.slice(area.selectionStart)), "b = unknown");
  },
  async packing(page) {
    await settled(page);
    await page.select("#expression", "poisson2d_s8");
    await sends(page);
    const found = await page.evaluate(() => window.found);
    assert.ok(found.after <= found.before && found.after >= found.bound, JSON.stringify(found));
    assert.match(found.shader, /vec4 kernel\(ivec2 p\)/);
    await page.select("#expression", "own");
    await sends(page);
    assert.equal((await page.evaluate(() => window.found)).unknowns, 8);
    await page.$eval("#own", (area) => { area.value = "nonsense"; });
    await asks(page, () => page.click("#go"));
    await failed(page);
    const left = await page.$$eval("#before, #after, #shader, #result", (all) => all.map((one) => one.textContent).join(""));
    assert.equal(left, "", "nothing is left of the last expression below an error");
  },
  async device(page, { digest }) {
    await settled(page);
    // In a Worker there are the same bits.
    assert.equal(await page.$eval("#digest dd", (out) => out.textContent), digest);
    assert.equal(await page.$$eval("#bench tbody tr", (rows) => rows.length), 5);
    await page.click("#copy");
    await page.waitForFunction(() => /^Copied/.test(document.getElementById("note").textContent));
    // Half a report is not to be had.
    assert.equal(await page.evaluate(() => { document.getElementById("go").click(); return document.getElementById("copy").disabled; }), true);
    await settled(page);
  },
};

async function pages(browser, site, found) {
  for (const name of PAGES) {
    for (const [width, height] of SIZES) {
      for (const theme of THEMES) {
        const where = `${name} at ${width}, ${theme}`;
        const from = Date.now();
        try {
          const { page, complaints } = await open(browser);
          await page.setViewport({ width, height });
          await page.goto(`${site}${name}.html`);
          const shown = await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme);
          if (shown !== theme && !(shown === "light dark" && theme === "light")) await page.click("header button");
          // Scenes are played in both widths; work is tried in one look, and waited for in the other ones.
          if (theme === "light" && isScene(name)) await turns(page, [width, height]);
          if (theme === "light" && (isScene(name) || width === SIZES[0][0])) await RESPONDS[name](page, found);
          else if (isScene(name)) await page.waitForFunction(() => window.stage?.frames > 3);
          else if (name === "device") await page.waitForFunction(() => document.querySelector("#digest dd"));
          else await settled(page);
          const { colours, light } = await looks(page);
          assert.ok(colours > (isScene(name) ? 300 : 30), `${colours} colours`);
          assert.equal(light, theme === "light", "the theme");
          const wide = await page.evaluate(() => document.scrollingElement.scrollWidth);
          assert.ok(wide <= width, `nothing sticks out: ${wide} pixels wide`);
          assert.match(await page.$eval("#device-line", (line) => line.textContent), /textures to \d+/);
          assert.deepEqual(complaints, [], "the console");
          await page.close();
          if (process.env.VERBOSE) console.log(`  ${where}: ${((Date.now() - from) / 1000).toFixed(1)} s`);
        } catch (error) {
          throw new Error(where, { cause: error });
        }
      }
    }
  }
}

/** The crate of the guide, as it stands there. */
async function hello(browser, site) {
  // As it may be written: without the slash that its files are found by, and in percent signs.
  const { page } = await open(browser, `${site}hell%6F`);
  await page.waitForFunction(() => document.getElementById("said").textContent !== "Computing …");
  assert.equal(await page.$eval("#said", (said) => said.textContent), "The length of (3, 4) is 5.");
  await page.close();
}

const { root, stop } = await serve(program, path.dirname(path.resolve(folder)));
// Not at the root: pages work from any folder.
const site = `${root}${path.basename(folder)}/`;
let failures = 0;
try {
  for (const name of named.length ? named : Object.keys(BROWSERS)) {
    const started = Date.now();
    const step = async (what, run) => {
      const from = Date.now();
      const result = await run();
      console.log(`${name}: ${what}, ${((Date.now() - from) / 1000).toFixed(1)} s`);
      return result;
    };
    const { browser, close } = await launch(name);
    try {
      const llvmpipe = name !== "swiftshader";
      const found = await step(llvmpipe ? "27 results with the bits of native ES 3" : "27 results within their bounds", () => resultsAndLoss(browser, site, llvmpipe));
      assert.match(found.about.renderer, llvmpipe ? /llvmpipe/ : /SwiftShader/);
      await step("the page that the guide shows", () => hello(browser, site));
      await step("what a page is kept from", () => keptFrom(browser, site));
      if (!process.env.BITS) {
        const thorough = !process.env.QUICK;
        await step("pages recover from a lost context", () => recovers(browser, site, thorough));
        // Firefox, as it is driven here, loads files from files.
        if (name !== "firefox") await step("a page from a file", () => opensAsFile(browser));
        await step("browsers that have less", () => lessens(browser, site, thorough ? PAGES : ["index", "solve", "script", "packing"]));
        await step("by the keyboard alone", () => keys(browser, site, thorough ? PAGES : ["solve"]));
        await step("all pages, in two widths and themes", () => pages(browser, site, found));
      }
    } catch (error) {
      failures += 1;
      console.error(`${name}:`, error);
    } finally {
      await close();
    }
    console.log(`${name}: ${((Date.now() - started) / 1000).toFixed(0)} s`);
  }
} finally {
  stop();
}
process.exitCode = failures ? 1 : 0;
