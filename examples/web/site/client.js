// Asks for work that takes a while: in a Worker, so that pages stay awake and a stop is a stop.
import { contextOf, tellDevice } from "./shell.js";

let worker = null, here = null, next = 0;
const waiting = new Map();
/** What ends work on the page itself, which sees it between two slices. */
let halted = new AbortController();

function start() {
  worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
  worker.onmessage = ({ data: { id, event, result, error } }) => {
    const asked = waiting.get(id);
    if (!asked) return;
    if (event !== undefined) return asked.tell?.(event);
    const failure = error && Object.assign(new Error(error.message), { name: error.name });
    // Without its context a Worker is of no use to anyone who waits for it.
    if (failure?.name === "ContextLost") return stop(failure);
    waiting.delete(id);
    if (failure) asked.reject(failure);
    else asked.resolve(result);
  };
  worker.onerror = (event) => {
    stop(new Error(event.message || "the Worker could not be started"));
  };
}

/** Ends whatever runs. */
export function stop(error = Object.assign(new Error("stopped"), { name: "Stopped" })) {
  worker?.terminate();
  worker = null;
  halted.abort(error);
  halted = new AbortController();
  for (const { reject } of waiting.values()) reject(error);
  waiting.clear();
}

/** The handlers on the page itself. */
async function onPage() {
  const [texla, { handlers }] = await Promise.all([import("./work.js"), import("./handlers.js")]);
  await texla.default();
  return handlers(texla, () => contextOf(document.createElement("canvas")));
}

async function once(call, of, tell, page) {
  if (page) {
    const { signal } = halted;
    // What could not be loaded is asked for again.
    here ??= onPage().catch((error) => { here = null; throw error; });
    const handlers = await here;
    signal.throwIfAborted();
    try {
      return await handlers[call](of, tell ?? (() => {}), signal);
    } catch (error) {
      if (error.name === "ContextLost") here = null;
      throw error;
    }
  }
  if (!worker) start();
  return new Promise((resolve, reject) => {
    waiting.set(next, { resolve, reject, tell });
    worker.postMessage({ id: next, call, of });
    next += 1;
  });
}

/**
 * Calls a handler, in a Worker or on the page itself; again on a new context where the browser took one away, `again` being told so,
 * but not for ever.
 */
export async function ask(call, of = {}, tell, again, { page = false } = {}) {
  for (let losses = 0; ;) {
    try {
      return await once(call, of, tell, page);
    } catch (error) {
      if (error.name === "NoWorkerContext") {
        page = true;
      } else if (error.name === "ContextLost" && losses < 3) {
        losses += 1;
        again?.();
      } else {
        throw error;
      }
    }
  }
}

/** Fills the device line; pages that need no device go on without one. */
export async function introduce() {
  const about = await ask("about");
  tellDevice(about);
  return about;
}
