// Operations timed, each for about a tenth of a second.
const WORK = [
  ["add", "add", 512, (n) => `${n * n} elements`, (n, s) => [`${(12 * n * n / s / 1e9).toFixed(2)} GB/s`]],
  ["sum", "sum", 512, (n) => `${n * n} elements`, (n, s) => [`${(4 * n * n / s / 1e9).toFixed(2)} GB/s`]],
  ["matmul", "dense product", 256, (n) => `${n} × ${n}`, (n, s) => [`${(2 * n ** 3 / s / 1e9).toFixed(2)} Gflop/s`]],
  ["stencil", "five-point product", 512, (n) => `${n} × ${n} grid`, (n, s) => [`${(n * n / s / 1e6).toFixed(0)} M points/s`]],
  ["cg", "conjugate gradients", 128, (n) => `${n} × ${n} grid`, (n, s, k) => [`${(1e6 * s / Math.max(k, 1)).toFixed(0)} µs an iteration`]],
];

export function benchmark(texla, gpu, tell) {
  for (const [work, name, n, size, rate] of WORK) {
    const bench = new texla.Bench(gpu, work, n);
    let iterations = bench.run(1), rounds = 1, took = 0;
    for (;;) {
      const started = performance.now();
      iterations = bench.run(rounds);
      took = performance.now() - started;
      if (took > 100 || rounds > 1 << 16) break;
      rounds *= took > 25 ? 3 : 8;
    }
    bench.free();
    const each = took / rounds / 1000;
    tell({ name, size: size(n), ms: 1000 * each, rate: rate(n, each, iterations)[0] });
  }
}
