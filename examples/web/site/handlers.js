// What pages ask for and wait for, by name; in a Worker, or where it has no WebGL 2 on the page itself. `tell` is called with
// what happens meanwhile, and `signal` ends it where no Worker can be ended.
import { benchmark } from "./benchmark.js";

/** Milliseconds of work between two breaths: less than half of a picture's time. */
const SLICE = 7;

/** Until the next picture, or in a Worker until others had their turn. */
const breath = () => new Promise((done) => {
  if (globalThis.requestAnimationFrame && globalThis.document) return requestAnimationFrame(done);
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => { port1.close(); done(); };
  port2.postMessage(null);
});

/** A little while in which nothing is asked for. */
const rest = () => new Promise((done) => setTimeout(() => done(true), 1));

/** Characters of output that are shown of a script, and milliseconds between two messages with more of it. */
const MOST = 200000, OFTEN = 100;

/** Output on its way to a page: not a message for each line, and no more than is shown. */
function output(tell) {
  let text = "", left = MOST, sent = -Infinity;
  const send = () => {
    if (text) tell(text);
    text = "";
    sent = performance.now();
  };
  const due = () => { if (performance.now() - sent >= OFTEN) send(); };
  const print = (more) => {
    if (left <= 0) return;
    text += more.length < left ? more : `${more.slice(0, left)}\n… the rest is not shown\n`;
    left -= more.length;
    due();
  };
  return { print, due, send };
}

/** Goes on with work, a slice at a time with a breath in between, until one has a result. */
async function sliced(work, signal, slice, gl) {
  let before = null;
  for (;;) {
    const result = slice();
    if (result) return result;
    // The device has done all but the last slice's work: what is stopped leaves it no more than that.
    const fence = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    gl.flush();
    do {
      await breath();
      if (signal?.aborted) {
        work.free();
        throw signal.reason;
      }
    } while (before && gl.getSyncParameter(before, gl.SYNC_STATUS) === gl.UNSIGNALED && await rest());
    if (before) gl.deleteSync(before);
    before = fence;
  }
}

export function handlers(texla, context) {
  let gpu = null, gl = null;
  const device = () => (gpu ??= new texla.Gpu(gl = context(), true));
  return {
    about: () => device().about(),
    // A slice at a time: between two the device tells how far it is, and a page draws.
    solve: async ({ name, side, text, tolerance }, tell, signal) => {
      const started = performance.now();
      const solve = new texla.Solve(device(), name, side, text, tolerance);
      const begun = performance.now();
      let told = null, slices = 0;
      return sliced(solve, signal, () => {
        slices += 1;
        const { iterations, residual, done } = solve.advance(SLICE);
        if (residual !== undefined && iterations !== told) tell([iterations, residual]);
        told = iterations;
        if (!done) return;
        const solved = performance.now(), found = solve.finish(), ended = performance.now();
        return { ...found, slices, making: begun - started, solve: solved - begun, checking: ended - solved, all: ended - started };
      }, gl);
    },
    // Between two statements, where a page sees a stop.
    script: async ({ text }, tell, signal) => {
      const started = performance.now();
      const script = new texla.Script(device(), text);
      const out = output(tell);
      return sliced(script, signal, () => {
        const found = script.advance(SLICE, out.print);
        if (!found) return out.due();
        out.send();
        script.free();
        return { ...found, all: performance.now() - started };
      }, gl);
    },
    pack: ({ name, rows, proposals }) => texla.pack(name, rows, proposals),
    survey: (_, tell) => {
      const about = device().about();
      tell({ about, capabilities: device().capabilities(), quirks: device().quirks() });
      tell({ results: device().results(), digest: device().digest() });
      benchmark(texla, device(), (row) => tell({ row }));
      return {};
    },
  };
}
