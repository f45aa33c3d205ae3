// A scene that plays: a picture for every one of the browser's, as fine as the device can, and again after a lost context.
import init, * as texla from "./scenes.js";
import { $, contextOf, element, sentence, tellDevice, tellNoDevice } from "./shell.js";

/**
 * `make(texla, gpu, cells, width, height, about)` makes a scene with `frame(steps)` and `resize`. `sizes` are what may be chosen, `rate`
 * steps a second of those that `frame` does, at most `most` a picture. `keys` are what a scene has besides space and R, by their names.
 */
export function stage({ make, sizes, rate, most, pointer, keys, describe, fit }) {
  const canvas = $("scene");
  const state = { scene: null, gpu: null, quality: 1, paused: false, cells: 0 };
  window.stage = state;
  let context, last = 0, owed = 0, slow = 0, adapted = 0, frames = 0, busy = 0, since = 0, overlay = null;

  const choice = element("select", { "aria-label": "Cells", onchange: () => { state.cells = Number(choice.value); restart(); } });
  const pause = element("button", { type: "button", onclick: () => setPaused(!state.paused) }, "Pause");
  const again = element("button", { type: "button", onclick: () => restart() }, "Restart");
  // Of no use before there is a device; to try again is.
  choice.hidden = pause.hidden = true;
  const stats = element("span", { class: "stats", id: "stats" });
  $("bar").append(choice, pause, again, stats);

  function setPaused(paused) {
    state.paused = paused;
    pause.textContent = paused ? "Play" : "Pause";
  }

  function size() {
    const scale = Math.min(devicePixelRatio || 1, 2) * state.quality;
    const width = Math.max(16, Math.round(canvas.clientWidth * scale)), height = Math.max(16, Math.round(canvas.clientHeight * scale));
    const changed = canvas.width !== width || canvas.height !== height;
    if (changed) [canvas.width, canvas.height] = [width, height];
    return [width, height, changed];
  }

  function fitted() {
    const [width, height, changed] = size();
    if (!state.scene || !changed) return;
    state.scene.resize(width, height);
    fit?.(state.scene, width / height);
    // A canvas of another size is empty, and would be shown so until the next picture.
    state.scene.frame(0);
  }

  function say(text) {
    overlay?.remove();
    overlay = text ? element("div", { class: "overlay", role: "alert" }, element("p", {}, text)) : null;
    if (overlay) canvas.parentElement.append(overlay);
  }

  function fail(error) {
    stop();
    if (error.name === "NoContext") tellNoDevice();
    if (error.name === "ContextLost" || context?.isContextLost()) say("The browser took the graphics context away; waiting for another one.");
    else say(sentence(error));
  }

  function stop() {
    // Who let go meanwhile was not heard.
    pointer.release();
    cancelAnimationFrame(state.request);
    state.request = 0;
    for (const name of ["scene", "gpu"]) {
      try { state[name]?.free(); } catch { /* of a context that is gone */ }
      state[name] = null;
    }
  }

  function restart() {
    try {
      stop();
      context ??= contextOf(canvas);
      state.gpu = new texla.Gpu(context, false);
      const about = state.gpu.about();
      tellDevice(about);
      if (!state.cells) {
        state.cells = about.software ? sizes[0] : sizes[Math.floor(sizes.length / 2)];
        state.quality = about.software ? 0.5 : 1;
        choice.hidden = pause.hidden = false;
        choice.append(...sizes.map((n) => element("option", n === state.cells ? { value: n, selected: "" } : { value: n }, describe(n))));
      }
      const [width, height] = size();
      state.scene = make(texla, state.gpu, state.cells, width, height, about);
      fit?.(state.scene, width / height);
      say(null);
      last = owed = frames = busy = slow = 0;
      since = performance.now();
      state.request = requestAnimationFrame(play);
    } catch (error) {
      fail(error);
    }
  }

  function play(now) {
    state.request = requestAnimationFrame(play);
    const passed = last ? Math.min(now - last, 250) : 0;
    last = now;
    // Steps are as long as they are: a slow device plays slowly.
    owed = state.paused ? 0 : Math.min(owed + passed * rate / 1000, most);
    const steps = Math.floor(owed + 1e-3);
    owed = Math.max(owed - steps, 0);
    const started = performance.now();
    try {
      pointer.apply?.(state.scene);
      state.scene.frame(steps);
    } catch (error) {
      return fail(error);
    }
    busy += performance.now() - started;
    frames += 1;
    state.frames = (state.frames ?? 0) + 1;
    if (!state.paused) adapt(passed);
    if (now - since > 500) {
      stats.textContent = `${(1000 * frames / (now - since)).toFixed(0)} pictures/s · ${(busy / frames).toFixed(1)} ms of work each · ${canvas.width} × ${canvas.height} · nothing read back`;
      frames = busy = 0;
      since = now;
    }
  }

  // Fewer pixels where pictures take long, and more again where there is room.
  function adapt(passed) {
    slow = 0.9 * slow + 0.1 * passed;
    if (++adapted < 20) return;
    adapted = 0;
    const quality = slow > 30 ? Math.max(state.quality * 0.8, 0.3) : slow < 18 ? Math.min(state.quality * 1.1, 1) : state.quality;
    if (Math.abs(quality - state.quality) > 0.01) {
      state.quality = quality;
      fitted();
    }
  }

  canvas.addEventListener("webglcontextlost", (event) => {
    event.preventDefault();
    fail(Object.assign(new Error("context lost"), { name: "ContextLost" }));
  });
  canvas.addEventListener("webglcontextrestored", restart);
  canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === " ") setPaused(!state.paused);
    else if (event.key === "r" || event.key === "R") restart();
    else if (state.scene && keys[event.key]) {
      try { keys[event.key](state.scene); } catch (error) { fail(error); }
    } else return;
    event.preventDefault();
  });
  new ResizeObserver(() => { try { fitted(); } catch (error) { fail(error); } }).observe(canvas);

  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
  };
  const guarded = (call) => (event) => {
    if (!state.scene) return;
    try { call(state.scene, event, at(event)); } catch (error) { fail(error); }
  };
  canvas.addEventListener("pointerdown", guarded((scene, event, place) => {
    try { canvas.setPointerCapture(event.pointerId); } catch { /* a pointer that is gone */ }
    pointer.down(scene, event, place);
  }));
  canvas.addEventListener("pointermove", guarded((scene, event, place) => pointer.move(scene, event, place)));
  for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, guarded((scene, event) => pointer.up(scene, event)));
  canvas.addEventListener("wheel", (event) => {
    if (!state.scene || !pointer.wheel) return;
    event.preventDefault();
    pointer.wheel(state.scene, event.deltaY);
  }, { passive: false });

  init().then((module) => {
    state.memory = () => module.memory.buffer.byteLength;
    restart();
  }).catch(fail);
}
