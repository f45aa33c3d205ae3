// What pages ask for and wait for, by name; in a Worker, or where it has no WebGL 2 on the page itself. `tell` is called with
// what happens meanwhile.
import { benchmark } from "./benchmark.js";

export function handlers(texla, context) {
  let gpu = null;
  const device = () => (gpu ??= new texla.Gpu(context()));
  return {
    about: () => device().about(),
    solve: ({ name, side, text, tolerance }, tell) => {
      const started = performance.now();
      const found = texla.solve(device(), name, side, text ?? new Uint8Array(), tolerance, (k, residual) => tell([k, residual]));
      return { ...found, all: performance.now() - started };
    },
    script: ({ text }, tell) => {
      const started = performance.now();
      return { ...texla.script(device(), text, tell), all: performance.now() - started };
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
