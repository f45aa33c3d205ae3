// The module in a Worker, with a canvas that nobody sees.
import init, * as texla from "./work.js";
import { handlers } from "./handlers.js";

const ready = init().then(() => handlers(texla, () => {
  const canvas = globalThis.OffscreenCanvas && new OffscreenCanvas(1, 1);
  const context = canvas?.getContext("webgl2", { powerPreference: "high-performance" });
  if (context) return context;
  throw Object.assign(new Error("no WebGL 2 in a Worker"), { name: "NoWorkerContext" });
}));

onmessage = async ({ data: { id, call, of } }) => {
  try {
    const result = await (await ready)[call](of, (event) => postMessage({ id, event }));
    postMessage({ id, result });
  } catch (error) {
    postMessage({ id, error: { name: error?.name, message: error?.message ?? String(error) } });
  }
};
