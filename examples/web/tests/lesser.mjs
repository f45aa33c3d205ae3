// Browsers that have less than texla needs, and that take away what they have given.
import assert from "node:assert/strict";
import { asks, frames, failed, isScene, open, sends, settled } from "./page.mjs";

/**
 * Opens a page in a browser that `fault` has changed, there and in each of its Workers before anything else runs: it is called with
 * "page" or the number of the Worker, and with what is `given`.
 */
async function changed(browser, url, fault, ...given) {
  const { page, complaints } = await open(browser);
  await page.evaluateOnNewDocument((fault, given) => {
    window.heard = [];
    new BroadcastChannel("faults").onmessage = ({ data }) => window.heard.push(data);
    addEventListener("DOMContentLoaded", () => {
      const note = document.getElementById("note");
      window.said = [];
      if (note) new MutationObserver(() => window.said.push(note.textContent)).observe(note, { childList: true });
    });
    const made = (text) => URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
    const call = (place) => `(${fault})(${[place, ...given].map((value) => JSON.stringify(value)).join()});`;
    const Plain = Worker;
    let workers = 0;
    window.Worker = class extends Plain {
      constructor(url, options) {
        const [first, then] = [made(call(workers++)), String(url)].map((url) => JSON.stringify(url));
        super(made(`import ${first}; import ${then};`), options);
      }
    };
    (0, eval)(call("page"));
  }, String(fault), given);
  await page.goto(url);
  return { page, complaints };
}

/** Has no extension of this name. */
const without = (_, extension) => {
  const { getExtension, getSupportedExtensions } = WebGL2RenderingContext.prototype;
  Object.assign(WebGL2RenderingContext.prototype, {
    getExtension(name) { return name === extension ? null : getExtension.call(this, name); },
    getSupportedExtensions() { return getSupportedExtensions.call(this)?.filter((name) => name !== extension) ?? null; },
  });
};

/** Refuses to blend floats, as browsers do without `EXT_float_blend`. Those that have it turn it on with the targets. */
const withoutBlending = () => {
  const gl = WebGL2RenderingContext.prototype, { drawArrays } = gl, said = new BroadcastChannel("faults");
  for (const name of ["drawArrays", "drawArraysInstanced", "drawElements"]) {
    const draw = gl[name];
    gl[name] = function (...of) {
      const ask = (what) => this.getFramebufferAttachmentParameter(this.DRAW_FRAMEBUFFER, this.COLOR_ATTACHMENT0, what);
      if (this.isEnabled(this.BLEND) && this.getParameter(this.DRAW_FRAMEBUFFER_BINDING)
        && ask(this.FRAMEBUFFER_ATTACHMENT_COMPONENT_TYPE) === this.FLOAT) {
        said.postMessage("refused");
        // As an error of GL's, with nothing drawn.
        return drawArrays.call(this, this.POINTS, -1, 0);
      }
      return draw.apply(this, of);
    };
  }
};

/** Has no WebGL 2; or, where there are Workers, no canvas of theirs. */
const withoutContext = (place, inWorkers) => {
  if (inWorkers && place !== "page") return delete globalThis.OffscreenCanvas;
  for (const Canvas of [globalThis.HTMLCanvasElement, OffscreenCanvas].filter(Boolean)) {
    const { getContext } = Canvas.prototype;
    Canvas.prototype.getContext = function (name, ...of) {
      if (name === "webgl2") {
        new BroadcastChannel("faults").postMessage("asked");
        if (!inWorkers) return null;
      }
      return getContext.call(this, name, ...of);
    };
  }
};

/** Takes contexts away at this draw: on the page, or in so many Workers. */
const taken = (place, where, at) => {
  if (place === "page" ? where !== "page" : !(place < where)) return;
  const gl = WebGL2RenderingContext.prototype, draw = gl.drawArrays;
  let draws = 0;
  gl.drawArrays = function (...of) {
    if (++draws === at) {
      globalThis.lost = this.getExtension("WEBGL_lose_context");
      lost.loseContext();
      new BroadcastChannel("faults").postMessage("lost");
    }
    return draw.apply(this, of);
  };
};

const heard = (page, what) => page.waitForFunction((what) => window.heard.includes(what), {}, what);
const line = (page) => page.$eval("#device-line", (line) => line.textContent);
const told = (page) => page.$$eval(".overlay, #note", (all) => all.map((one) => one.textContent));

/** Every page says in one sentence why it cannot work; packing needs no device. */
async function refused(browser, site, names, sentence, fault, ...given) {
  for (const name of names) {
    const { page, complaints } = await changed(browser, `${site}${name}.html`, fault, ...given);
    if (name === "packing") {
      await settled(page);
      await page.select("#expression", "own");
      await sends(page);
      assert.ok((await page.evaluate(() => window.found)).shader, name);
      await page.waitForFunction(() => /without one\.$/.test(document.getElementById("device-line").textContent));
    } else {
      for (let tries = 0; tries < 2; tries += 1) {
        await (isScene(name) ? page.waitForSelector(".overlay") : failed(page));
        const all = await told(page);
        assert.equal(all.length, 1, name);
        assert.match(all[0], sentence, name);
        assert.equal(await line(page), "No device that texla could use.", name);
        if (isScene(name)) {
          const free = await page.$eval("#bar button:last-of-type", (button) => {
            const { x, y, width, height } = button.getBoundingClientRect();
            return document.elementFromPoint(x + width / 2, y + height / 2) === button;
          });
          assert.ok(free, "a message leaves the bar free");
          assert.equal(await page.$$eval("#bar :not(span)", (all) => all.filter((one) => one.checkVisibility()).length), 1, "what is of no use is not there");
        }
        // Nor does asking again say more.
        if (isScene(name)) await page.click("#bar button:last-of-type");
        else await page.evaluate(() => { document.body.dataset.state = ""; document.getElementById("go").click(); });
      }
      if (!isScene(name)) await failed(page);
    }
    assert.deepEqual(complaints, [], name);
    await page.close();
  }
}

/** Every page, or these, work as elsewhere; `more` is asked of each. */
async function works(browser, site, names, more, fault, ...given) {
  for (const name of names) {
    const { page, complaints } = await changed(browser, `${site}${name}.html`, fault, ...given);
    await (isScene(name) ? page.waitForFunction(() => window.stage?.frames > 3) : settled(page));
    if (name === "device") assert.match(await page.$eval("#digest", (list) => list.textContent), /all 27$/);
    if (name === "solve") assert.ok(await page.evaluate(() => window.found.converged && window.found.residual <= 1e-6));
    await more(page, name);
    // Of refused draws browsers tell.
    assert.deepEqual(complaints.filter((text) => !/drawArrays/i.test(text)), [], name);
    await page.close();
  }
}

/** A script on the page itself goes on while the page draws; a stop ends it, and so does another one. */
async function stopsAScript(page) {
  const runs = (text) => asks(page, () => page.$eval("#text", (area, text) => {
    area.value = text;
    document.getElementById("go").click();
  }, text));
  const endless = "x = [1 2; 3 4]\nprint(x)\nrepeat 1000000000\n  repeat 2\n    x = 0.5 * x + 1\n  end\nend\n";
  const begun = () => page.waitForFunction(() => /^1 {2}2\n3 {2}4\n$/.test(document.getElementById("out").textContent));
  await runs(endless);
  await begun();
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
  await page.click("#stop");
  assert.equal(await failed(page), "Stopped.");
  await runs(endless);
  await begun();
  await runs("print(2 + 3)\n");
  await settled(page);
  assert.equal(await page.$eval("#out", (out) => out.textContent), "5\n", "what was asked last");
}

const CANNOT = "^texla cannot work on this device: ", STILL = "\\. Packing needs no graphics and works here\\.$";

/** What browsers may lack. */
export async function lessens(browser, site, names) {
  const sentence = (why) => new RegExp(CANNOT + why + STILL);
  await refused(browser, site, names, sentence("this browser has no WebGL 2 here, or has turned it off"), withoutContext);
  await refused(browser, site, names, sentence(".* cannot render to 32-bit float textures; .*"), without, "EXT_color_buffer_float");
  await works(browser, site, names, async (page, name) => {
    await page.waitForFunction(() => /floats are not blended/.test(document.getElementById("device-line").textContent));
    await heard(page, "refused");
    assert.ok(!(await told(page)).some((text) => /cannot/.test(text)), name);
  }, withoutBlending);
  await works(browser, site, names.filter((name) => !isScene(name)), async (page, name) => {
    await heard(page, "asked");
    if (name === "script") await stopsAScript(page);
  }, withoutContext, true);
}

/** A scene loses its context, says so, and plays again when it is back. */
async function replays(browser, site, name) {
  const { page, complaints } = await changed(browser, `${site}${name}.html`, taken, "page", 300);
  await page.waitForSelector(".overlay");
  assert.deepEqual(await told(page), ["The browser took the graphics context away; waiting for another one."]);
  assert.equal(await page.evaluate(() => window.stage.scene), null, "nothing is drawn meanwhile");
  const back = async () => {
    await page.evaluate(() => window.lost.restoreContext());
    await page.waitForFunction(() => !document.querySelector(".overlay") && window.stage.scene);
    await frames(page, 3);
  };
  await back();
  // A pointer that was down when the context went, and is up when it is back, does nothing more.
  const box = await (await page.$("#scene")).boundingBox();
  const moves = (x, y) => page.mouse.move(box.x + x * box.width, box.y + y * box.height, { steps: 3 });
  const listens = () => page.evaluate(() => {
    window.touched = 0;
    for (const name of ["touch", "turn", "stir", "move_disc"]) window.stage.scene[name] &&= () => { window.touched += 1; };
  });
  const touched = async () => { await frames(page, 3); return page.evaluate(() => window.touched); };
  await listens();
  await moves(0.5, 0.5);
  await page.mouse.down();
  await moves(0.6, 0.5);
  assert.ok(await touched() > 0, name);
  await page.evaluate(() => window.lost.loseContext());
  await page.waitForSelector(".overlay");
  await page.mouse.up();
  await back();
  await listens();
  await moves(0.6, 0.6);
  assert.equal(await touched(), 0, `${name}: a pointer sticks`);
  assert.deepEqual(complaints, []);
  await page.close();
}

/** Work loses its context at a draw, on the page itself or in the first Workers, so many times, and is done once more. */
async function repeats(browser, site, name, at, { silent = false, where = 1 } = {}) {
  const { page, complaints } = await changed(browser, `${site}${name}.html`, taken, where, at);
  await settled(page);
  const found = (page) => page.evaluate(() => [window.found?.hash, document.querySelector("#digest dd, #out")?.textContent]);
  const before = await found(page);
  if (where === "page") {
    await page.evaluate(() => { document.body.dataset.state = ""; });
    await page.select("#where", "page");
    await settled(page);
  }
  await heard(page, "lost");
  const said = await page.evaluate(() => window.said);
  assert.equal(said.filter((text) => /took the graphics context away: once more/.test(text)).length, silent ? 0 : where === "page" ? 1 : where, `${name}: ${said}`);
  await page.waitForFunction(() => /textures to/.test(document.getElementById("device-line").textContent));
  if (where !== "page") await sends(page);
  assert.deepEqual(await found(page), before, `${name}: the same as without a loss`);
  assert.deepEqual(complaints, []);
  await page.close();
}

/** Pages that lose their context go on by themselves. */
export async function recovers(browser, site, thorough) {
  await replays(browser, site, "index");
  await repeats(browser, site, "solve", 150, { where: 3 });
  if (!thorough) return;
  await replays(browser, site, "smoke");
  await repeats(browser, site, "solve", 150, { where: "page" });
  await repeats(browser, site, "script", 300);
  await repeats(browser, site, "device", 400);
  // While devices are looked for, which nobody asked for: of packing, which is done in the same Worker, and of a solve.
  await repeats(browser, site, "packing", 5, { silent: true });
  await repeats(browser, site, "solve", 5, { silent: true });
}
