// Water: drops where a pointer is; two fingers or the right button turn, and fingers apart or a wheel come nearer. Keys do the same.
import { stage } from "./stage.js";

const held = new Map();

function turns(event) {
  return held.size > 1 || event.buttons === 2 || event.shiftKey;
}

/** How far apart two places are; never nothing. */
const apart = ([x, y], [u, v]) => Math.max(Math.hypot(x - u, y - v), 0.02);

stage({
  sizes: [96, 128, 192, 256, 384, 512],
  rate: 60,
  most: 2,
  describe: (n) => `${n} × ${n} cells`,
  // Four samples a pixel where pixels are large and a GPU draws them.
  make: (texla, gpu, cells, width, height, about) =>
    new texla.Water(gpu, cells, width, height, about.software || devicePixelRatio > 1.5 ? 1 : 2),
  // The whole pool in an upright picture too.
  fit: (scene, aspect) => scene.set_distance(2.75 * Math.max(1, 1.45 / aspect)),
  pointer: {
    down(scene, event, [x, y]) {
      held.set(event.pointerId, [x, y]);
      if (!turns(event)) scene.touch(x, y, 0.11, -0.045);
    },
    move(scene, event, [x, y]) {
      const before = held.get(event.pointerId);
      if (!before) return;
      held.set(event.pointerId, [x, y]);
      if (!turns(event)) return scene.touch(x, y, 0.05, -0.012);
      scene.turn(-3 * (x - before[0]) / held.size, 3 * (y - before[1]) / held.size);
      if (held.size !== 2) return;
      const [other] = [...held].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
      scene.set_distance(scene.distance() * apart(before, other) / apart([x, y], other));
    },
    up(scene, event) {
      held.delete(event.pointerId);
    },
    release: () => held.clear(),
    wheel(scene, by) {
      scene.set_distance(scene.distance() * 1.0015 ** by);
    },
  },
  keys: {
    Enter: (scene) => scene.touch(0.5, 0.55, 0.11, -0.045),
    ArrowLeft: (scene) => scene.turn(0.1, 0),
    ArrowRight: (scene) => scene.turn(-0.1, 0),
    ArrowUp: (scene) => scene.turn(0, -0.1),
    ArrowDown: (scene) => scene.turn(0, 0.1),
    "+": (scene) => scene.set_distance(scene.distance() / 1.1),
    "-": (scene) => scene.set_distance(scene.distance() * 1.1),
  },
});
