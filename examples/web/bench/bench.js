// The same operations by texla and by TensorFlow.js on WebGL, in turns; and a draw of four texels by texla and by WebGL alone. What
// comes of it stands in `window.measured`: for each row milliseconds of an operation, the least of five rounds.
import init, * as texla from "../web/work.js";

const context = (canvas) => canvas.getContext("webgl2", { antialias: false, depth: false });

/** Milliseconds of one of what `run(rounds)` does rounds of and waits for. */
function clock(run) {
  let rounds = 1;
  run(1);
  for (;;) {
    const started = performance.now();
    run(rounds);
    const took = performance.now() - started;
    if (took > 60 || rounds >= 1 << 20) return took / rounds;
    rounds *= took > 12 ? 4 : 8;
  }
}

const numbers = (n) => Float32Array.from({ length: n * n }, (_, i) => (i * 7 % 13) / 13 - 0.4);

/** The first element, when all before it is done. */
const wait = (tensor) => tensor.slice(tensor.shape.map(() => 0), tensor.shape.map(() => 1)).dataSync()[0];

/** Rounds of an operation whose last result is waited for. */
const rounds = (once) => (count) => {
  let last = null;
  for (let k = 0; k < count; k += 1) {
    last?.dispose();
    last = once();
  }
  const first = wait(last);
  last.dispose();
  return first;
};

// The sum of a grid's four neighbours and a share of itself, in the two ways in which one writes it there. The faster one
// counts.
const GRIDS = {
  conv2d: {
    shape: (n) => [1, n, n, 1],
    stencil(centre, side) {
      const weights = tf.tensor4d([0, side, 0, side, centre, side, 0, side, 0], [3, 3, 1, 1]);
      return (x) => tf.conv2d(x, weights, 1, "same");
    },
  },
  // Slices of a grid with a border of zeros: sums are of whole tensors, which the backend packs.
  shifts: {
    shape: (n) => [n, n],
    stencil: (centre, side) => (x) => {
      const [n] = x.shape, wide = tf.pad(x, [[1, 1], [1, 1]]), at = (row, column) => tf.slice(wide, [row, column], [n, n]);
      const around = tf.addN([at(0, 1), at(2, 1), at(1, 0), at(1, 2)]).mul(side);
      return centre ? around.add(x.mul(centre)) : around;
    },
  },
};

const THEIRS = {
  add(n) { const [x, y] = [tf.tensor1d(numbers(n)), tf.tensor1d(numbers(n))]; return { add: rounds(() => tf.add(x, y)) }; },
  sum(n) { const x = tf.tensor1d(numbers(n)); return { sum: rounds(() => tf.sum(x).reshape([1])) }; },
  matmul(n) { const [a, b] = [tf.tensor2d(numbers(n), [n, n]), tf.tensor2d(numbers(n), [n, n])]; return { matMul: rounds(() => tf.matMul(a, b)) }; },
  jacobi: (n) => onGrids((grid) => {
    const around = grid.stencil(0, 0.25), b = tf.tensor(numbers(n), grid.shape(n)).mul(0.25);
    return (count) => {
      let x = tf.zeros(grid.shape(n));
      for (let k = 0; k < count; k += 1) {
        const next = tf.tidy(() => around(x).add(b));
        x.dispose();
        x = next;
      }
      wait(x);
      x.dispose();
    };
  }),
  // Fifty iterations; numbers stay on the device, as there.
  cg: (n) => onGrids((grid) => {
    const product = grid.stencil(4, -1), ones = tf.ones(grid.shape(n)), dot = (u, v) => tf.sum(tf.mul(u, v));
    return (count) => {
      for (let round = 0; round < count; round += 1) {
        let [x, r, p, rr] = [tf.zeros(grid.shape(n)), ones.clone(), ones.clone(), dot(ones, ones)];
        for (let k = 0; k < 50; k += 1) {
          const next = tf.tidy(() => {
            const ap = product(p), alpha = tf.div(rr, dot(p, ap));
            const [x1, r1] = [x.add(p.mul(alpha)), r.sub(ap.mul(alpha))], rr1 = dot(r1, r1);
            return [x1, r1, r1.add(p.mul(tf.div(rr1, rr))), rr1];
          });
          tf.dispose([x, r, p, rr]);
          [x, r, p, rr] = next;
        }
        wait(x);
        tf.dispose([x, r, p, rr]);
      }
    };
  }),
};

/** The same on both kinds of grids. */
const onGrids = (make) => Object.fromEntries(Object.entries(GRIDS).map(([name, grid]) => [name, make(grid)]));

/** A draw by WebGL alone, all of whose state has been set: two textures of 2 x 2 texels into a third. Nothing takes less. */
function raw(gl) {
  gl.getExtension("EXT_color_buffer_float");
  const shader = (kind, text) => { const made = gl.createShader(kind); gl.shaderSource(made, text); gl.compileShader(made); return made; };
  const program = gl.createProgram();
  gl.attachShader(program, shader(gl.VERTEX_SHADER, "#version 300 es\nvoid main() { gl_Position = vec4(4.0 * vec2(gl_VertexID & 1, gl_VertexID >> 1) - 1.0, 0.0, 1.0); }"));
  gl.attachShader(program, shader(gl.FRAGMENT_SHADER, "#version 300 es\nprecision highp float; precision highp sampler2D;\nuniform sampler2D x, y; out vec4 z;\nvoid main() { ivec2 p = ivec2(gl_FragCoord.xy); z = texelFetch(x, p, 0) + texelFetch(y, p, 0); }"));
  gl.linkProgram(program);
  const made = [0, 1, 2].map((unit) => {
    const texture = gl.createTexture();
    gl.activeTexture(gl.TEXTURE0 + unit);
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texStorage2D(gl.TEXTURE_2D, 1, gl.RGBA32F, 2, 2);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
    return texture;
  });
  gl.bindTexture(gl.TEXTURE_2D, null);
  gl.bindFramebuffer(gl.FRAMEBUFFER, gl.createFramebuffer());
  gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, made[2], 0);
  gl.useProgram(program);
  gl.uniform1i(gl.getUniformLocation(program, "y"), 1);
  gl.viewport(0, 0, 2, 2);
  const read = new Float32Array(4);
  return (count) => {
    for (let k = 0; k < count; k += 1) gl.drawArrays(gl.TRIANGLES, 0, 3);
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.FLOAT, read);
  };
}

const ROWS = [["add", 512], ["sum", 512], ["matmul", 512], ["matmul", 1000], ["jacobi", 512], ["cg", 256], ["tiny", 4]];

await init();
await tf.setBackend("webgl");
await tf.ready();
const gpu = new texla.Gpu(context(document.createElement("canvas")), true);
const measured = [];
for (const [name, n] of ROWS) {
  const bench = new texla.Bench(gpu, name === "tiny" ? "add" : name, n);
  const others = name === "tiny" ? { WebGL: raw(context(document.createElement("canvas"))) } : THEIRS[name](n);
  let iterations = 0;
  const ours = (count) => { iterations = bench.run(count); };
  const [texlas, found] = [[], Object.entries(others).map(([by, run]) => ({ by, run, took: [] }))];
  for (let round = 0; round < 5; round += 1) {
    texlas.push(clock(ours));
    for (const other of found) other.took.push(clock(other.run));
  }
  const each = name === "cg" ? [iterations, 50] : [1, 1];
  const against = found.map(({ by, took }) => ({ by, ms: Math.min(...took) / each[1] })).sort((a, b) => a.ms - b.ms);
  measured.push({ name, n, texla: Math.min(...texlas) / each[0], against });
  document.getElementById("out").textContent = measured.map((row) => JSON.stringify(row)).join("\n");
  bench.free();
}
window.measured = { about: { ...gpu.about() }, tf: tf.version.tfjs, rows: measured };
