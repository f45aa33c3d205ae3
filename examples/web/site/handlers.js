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

/** Goes on with work, a slice at a time with a breath in between, until one has a result. */
async function sliced(work, signal, slice) {
  for (;;) {
    const result = slice();
    if (result) return result;
    await breath();
    if (signal?.aborted) {
      work.free();
      throw signal.reason;
    }
  }
}

export function handlers(texla, context) {
  let gpu = null;
  const device = () => (gpu ??= new texla.Gpu(context(), true));
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
      });
    },
    // Between two statements, where a page sees a stop.
    script: async ({ text }, tell, signal) => {
      const started = performance.now();
      const script = new texla.Script(device(), text);
      return sliced(script, signal, () => {
        const found = script.advance(SLICE, tell);
        if (!found) return;
        script.free();
        return { ...found, all: performance.now() - started };
      });
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
