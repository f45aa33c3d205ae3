// texla in a context that is somebody else's: what guest.mjs calls, in `window.guest`.
import init, * as texla from "../web/work.js";
import initScenes, * as scenes from "../web/scenes.js";
import { FRAMES, application } from "./scene.js";
import * as state from "./state.js";

/** A context as applications have it; Chromium shows none in which a feedback is under way without errors of its own. */
function context(shown) {
  const canvas = document.createElement("canvas");
  if (shown) document.body.append(canvas);
  const made = canvas.getContext("webgl2", { antialias: true, depth: true, stencil: true });
  if (!made.getContextAttributes().antialias) throw new Error("the canvas has one sample");
  return made;
}

const check = (gl) => {
  const error = gl.getError();
  if (error !== gl.NO_ERROR) throw new Error(`GL error ${error}`);
};

const clean = (gl) => { while (gl.getError() !== gl.NO_ERROR); };

const picture = () => new Promise((next) => requestAnimationFrame(next));

/** A solve of some milliseconds at a time; whose bits it comes to. */
async function solved(gpu, between) {
  const solve = new texla.Solve(gpu, "flow", 24, undefined, 1e-6);
  for (let k = 0; !solve.advance(4).done; k += 1) {
    await picture();
    between();
  }
  return solve.finish().hash;
}

/** Steps of a fluid, and what each has left of its divergence. */
function flowed(smoke, between) {
  return Array.from({ length: 6 }, () => {
    between();
    const { before, after } = smoke.look();
    return [before, after];
  });
}

/** Pictures of an application by itself, and what texla comes to by itself. */
async function alone() {
  const app = application(context(true));
  const pictures = [];
  for (let k = 0; k < FRAMES; k += 1) {
    if (k % 7 === 6) await picture();
    pictures.push(app.frame(k));
  }
  const gl = context(true), gpu = new texla.Gpu(gl, false);
  const results = gpu.results(), hash = await solved(gpu, () => {});
  const smoke = new scenes.Smoke(new scenes.Gpu(gl, false), 24, 8, 8);
  const flow = flowed(smoke, () => {});
  check(gl);
  return { pictures, results, hash, flow, probed: gpu.capabilities() };
}

/** Both in one context, in turns: the pictures that differ, and what texla comes to. */
async function together(expected) {
  const gl = context(true), app = application(gl);
  const others = [];
  let k = 0;
  const draw = () => {
    if (k === FRAMES) return;
    const seen = app.frame(k);
    check(gl);
    if (seen.some((byte, i) => byte !== expected[k][i])) others.push(k);
    k += 1;
  };
  draw();
  const gpu = new texla.Gpu(gl, false);
  draw();
  // Its renderer is an application as well, which three has to be told of.
  const smoke = new scenes.Smoke(new scenes.Gpu(gl, false), 24, 8, 8);
  app.told();
  const flow = flowed(smoke, draw);
  const results = gpu.results(draw);
  const hash = await solved(gpu, draw);
  while (k < FRAMES) draw();
  return { others, results, hash, flow, probed: gpu.capabilities() };
}

export const scene = async () => {
  const { pictures, ...by } = await alone();
  const { others, ...beside } = await together(pictures);
  const colours = new Set(pictures.flatMap((seen) => [...new Uint32Array(seen.buffer)])).size;
  const moved = pictures.every((seen, k) => k === 0 || seen.some((byte, i) => byte !== pictures[k - 1][i]));
  return { others, colours, moved, by, beside };
};

/** What can be asked, of a context that is for this alone: browsers complain of what cannot be. */
const questions = () => state.questions(context(false));

/** A context all of whose extensions are switched on, so that their values can be asked for; and settings against texla. */
function against(asked) {
  const gl = context(false);
  for (const name of gl.getSupportedExtensions().filter((name) => name !== "WEBGL_lose_context")) gl.getExtension(name);
  const settings = state.settings(gl);
  const found = [];
  // Firefox minds a framebuffer that is not complete when it is asked for some values: not an error of anybody's work.
  const look = () => {
    check(gl);
    const seen = state.answers(gl, asked);
    clean(gl);
    return seen;
  };
  /** Does something; what has changed by it, and errors, are found. */
  const around = (what, run, before = look()) => {
    const result = run();
    const error = gl.getError();
    const changed = state.differences(before, look());
    if (error !== gl.NO_ERROR) changed.push(`GL error ${error}`);
    found.push(...changed.map((change) => `${what}: ${change}`));
    return result;
  };
  return { gl, settings, found, look, around };
}

/** Short work: operations, products and a solve, each a scope of its own, with numbers that go in and come out. */
function short(gpu) {
  let said = "";
  const text = "A = [4 -1 0; -1 4 -1; 0 -1 4]\nb = [1 2 3]'\nprint(A * b)\nprint(norm(b))\nprint(A * A - 2 * A)\n";
  const script = new texla.Script(gpu, text), { error } = script.advance(Infinity, (lines) => { said += lines; });
  script.free();
  if (error) throw new Error(error);
  return said;
}

/** All settings together, around each of texla's calls; a device is made first, so that what it probes it probes among them. */
async function kept(asked) {
  const { gl, settings, found, look, around } = against(asked);
  const all = state.together(settings);
  all.make();
  const gpu = around("a new device", () => new texla.Gpu(gl, false));
  let before = look(), k = 0;
  const results = gpu.results(() => {
    const error = gl.getError(), after = look();
    if (error !== gl.NO_ERROR) found.push(`result ${k}: GL error ${error}`);
    found.push(...state.differences(before, after).map((change) => `result ${k}: ${change}`));
    [before, k] = [after, k + 1];
  });
  check(gl);
  const hash = await solved(gpu, () => check(gl));
  found.push(...state.differences(before, look()).map((change) => `a solve: ${change}`));
  check(gl);
  all.end();
  return { found, settings: settings.length, answers: Object.keys(before).length, results, hash, probed: gpu.capabilities() };
}

/** Each setting by itself around short work, or around all of it; which of them changed what it comes to. */
function singly(asked, thorough) {
  const { gl, settings, found, look, around } = against(asked);
  const gpu = new texla.Gpu(gl, false);
  const work = () => (thorough ? gpu.results() : short(gpu));
  // What is usual is not what a new context has: of masks that, too, differs by browser.
  settings.forEach(({ make, end }) => { make(); end(); });
  const [expected, usual] = [work(), look()];
  for (const { name, make, end } of settings) {
    make();
    const set = look();
    if (!state.differences(usual, set).length) found.push(`${name}: sets nothing`);
    if (around(name, work, set) !== expected) found.push(`${name}: another result`);
    end();
    check(gl);
  }
  found.push(...state.differences(usual, look()).map((change) => `afterwards: ${change}`));
  // What would change results, and cannot be put back by texla, is refused.
  const clip = gl.getExtension("EXT_clip_control");
  if (clip) {
    clip.clipControlEXT(clip.UPPER_LEFT_EXT, clip.ZERO_TO_ONE_EXT);
    let refused = "none";
    around("refused", () => { try { gpu.results(); } catch (error) { refused = error.name; } });
    if (refused !== "Unsupported") found.push(`clipControlEXT: ${refused}`);
    clip.clipControlEXT(clip.LOWER_LEFT_EXT, clip.NEGATIVE_ONE_TO_ONE_EXT);
  }
  return found;
}

/** Calls that put a value in its place. */
const PUTS = /^(active|bind|blend|color|depth|disable|enable|line|pixel|resume|use|viewport)/;

/**
 * The test of the test: of the calls by which texla ends its first call, that makes a device, each in turn is left out, and has to
 * be missed. A module that is new has not probed yet. Returns the calls, each with what has changed without it.
 */
async function missed(asked) {
  const { gl, settings, look } = against(asked);
  const module = await WebAssembly.compileStreaming(fetch("../web/work_bg.wasm"));
  // Not what is for texla as it is here, too: it would be missed by nobody.
  const all = state.together(settings.filter(({ name }) => !["DITHER", "depthMask false"].includes(name)));
  let calls = null, without = -1;
  for (const name in gl) {
    if (typeof gl[name] !== "function") continue;
    const own = gl[name].bind(gl);
    gl[name] = (...given) => {
      if (!calls) return own(...given);
      const words = given.map((value) => (value && typeof value === "object" ? value.constructor.name : value));
      calls.push({ call: `${name}(${words})`, again: () => own(...given) });
      return calls.length - 1 === without ? undefined : own(...given);
    };
  }
  let modules = 0;
  const watched = async (leftOut) => {
    const fresh = await import(`../web/work.js?${modules += 1}`);
    fresh.initSync({ module });
    all.make();
    const before = look();
    [calls, without] = [[], leftOut];
    const gpu = new fresh.Gpu(gl, false);
    const seen = calls;
    calls = null;
    const error = gl.getError();
    clean(gl);
    const changed = state.differences(before, look());
    if (error !== gl.NO_ERROR) changed.push(`GL error ${error}`);
    // What was left out, and what came after it, is done now, so that all can end.
    if (leftOut >= 0) seen.slice(leftOut).filter(({ call }) => PUTS.test(call)).forEach(({ again }) => again());
    clean(gl);
    all.end();
    check(gl);
    gpu.free();
    return { seen: seen.map(({ call }) => call), changed };
  };
  const { seen, changed } = await watched(-1);
  // After the last that is drawn or read there is nothing but what puts the state back, and what is deleted.
  const first = seen.findLastIndex((call) => /^(readPixels|drawArrays|getBufferSubData)/.test(call));
  const ends = [];
  for (const [i, call] of seen.entries()) {
    if (i > first && PUTS.test(call)) ends.push({ call, changed: (await watched(i)).changed });
  }
  return { changed, ends };
}

await Promise.all([init(), initScenes()]);
window.guest = { scene, questions, kept, singly, missed };
document.body.dataset.state = "ready";
