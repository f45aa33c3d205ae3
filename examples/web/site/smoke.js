// Smoke: a pointer stirs, and drags the disc where it began on it; so do keys.
import { stage } from "./stage.js";

const held = new Map();
let disc = null;

/** From where it is, or is to be in the next picture. */
function pushed(scene, dx, dy) {
  const [x, y] = disc ?? scene.disc();
  disc = [x + dx, y + dy];
}

stage({
  sizes: [48, 64, 96, 128, 192, 256],
  rate: 60,
  most: 1,
  describe: (n) => `${2 * n} × ${n} cells`,
  make: (texla, gpu, cells, width, height) => new texla.Smoke(gpu, cells, width, height),
  pointer: {
    down(scene, event, [x, y]) {
      held.set(event.pointerId, { x, y, drags: scene.is_disc(x, y) });
    },
    move(scene, event, [x, y]) {
      const before = held.get(event.pointerId);
      if (!before) {
        event.target.style.cursor = scene.is_disc(x, y) ? "grab" : "crosshair";
        return;
      }
      if (before.drags) disc = [x, y];
      else scene.stir(x, y, x - before.x, y - before.y);
      held.set(event.pointerId, { x, y, drags: before.drags });
    },
    up(event) {
      held.delete(event.pointerId);
    },
    // The disc moves once a picture, however many events there were.
    apply(scene) {
      if (!disc) return;
      const [x, y] = disc;
      disc = null;
      scene.move_disc(x, y);
    },
  },
  keys: {
    Enter: (scene) => scene.stir(0.5, 0.5, 0, 0.08),
    ArrowLeft: (scene) => pushed(scene, -0.02, 0),
    ArrowRight: (scene) => pushed(scene, 0.02, 0),
    ArrowUp: (scene) => pushed(scene, 0, -0.02),
    ArrowDown: (scene) => pushed(scene, 0, 0.02),
  },
});
