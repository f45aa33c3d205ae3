// An expression before and after packing, its bound and its shader.
import { $, colour, onTheme, tellNoDevice } from "./shell.js";
import { ask, introduce } from "./client.js";
import { facts, form, note } from "./form.js";

const PROPOSALS = 300000;
let found = null;

// A matrix with what each instruction multiplies.
function draw(canvas, drawn, positions) {
  const scale = devicePixelRatio || 1, side = canvas.clientWidth;
  if (!side) return;
  canvas.width = canvas.height = Math.round(scale * side);
  if (!positions) return;
  const c = canvas.getContext("2d");
  c.scale(scale, scale);
  const cell = side / positions;
  const [rule, faint, row, peel] = ["line", "faint", "row", "peel"].map(colour);
  for (let k = 0; k <= positions; k += 1) {
    if (k % 4 && cell < 5) continue;
    c.strokeStyle = k % 4 ? rule : faint;
    c.globalAlpha = k % 4 ? .55 : .4;
    c.lineWidth = 1;
    const at = Math.min(Math.round(k * cell) + .5, side - .5);
    c.beginPath(); c.moveTo(at, 0); c.lineTo(at, side); c.moveTo(0, at); c.lineTo(side, at); c.stroke();
  }
  c.globalAlpha = 1;
  for (let i = 0; i < drawn.length;) {
    const along = drawn[i], count = drawn[i + 1];
    i += 2;
    c.strokeStyle = c.fillStyle = along ? row : peel;
    c.lineWidth = Math.max(1.2, .14 * cell);
    c.lineJoin = "round";
    c.beginPath();
    for (let k = 0; k < count; k += 1) {
      const [x, y] = [(drawn[i + 2 * k + 1] + .5) * cell, (drawn[i + 2 * k] + .5) * cell];
      if (k) c.lineTo(x, y); else c.moveTo(x, y);
    }
    c.globalAlpha = .75;
    c.stroke();
    c.globalAlpha = 1;
    for (let k = 0; k < count; k += 1) {
      c.beginPath();
      c.arc((drawn[i + 2 * k + 1] + .5) * cell, (drawn[i + 2 * k] + .5) * cell, Math.max(.24 * cell, 1.2), 0, 7);
      c.fill();
    }
    i += 2 * count;
  }
}

function redraw() {
  const { unknowns, drawnBefore, drawnAfter } = found ?? { unknowns: 0, drawnBefore: [], drawnAfter: [] };
  const positions = 4 * Math.ceil(unknowns / 4);
  draw($("drawn-before"), drawnBefore, positions);
  draw($("drawn-after"), drawnAfter, positions);
}

const instructions = (count) => `${count} instruction${count === 1 ? "" : "s"}`;

const send = form(async () => {
  const name = $("expression").value;
  note("Searching …");
  try {
    found = await ask("pack", { name, rows: name === "own" ? $("own").value : undefined, proposals: PROPOSALS });
  } catch (error) {
    // What stands there is of another expression.
    found = null;
    for (const id of ["before", "after", "shader"]) $(id).textContent = "";
    facts($("result"), []);
    redraw();
    throw error;
  }
  window.found = found;
  $("before").textContent = instructions(found.before);
  $("after").textContent = instructions(found.after);
  const gap = found.after - found.bound;
  facts($("result"), [
    ["expression", `${found.unknowns} unknowns, ${found.entries} entries`],
    ["no order takes less than", `${found.bound}, by ${found.by}: this one is ${gap ? `within ${gap} of that` : "optimal"}`],
    ["order", [...found.order].map((i) => i < found.unknowns ? i : "–").join(" ")],
  ]);
  $("shader").textContent = found.shader;
  redraw();
  const less = found.before ? Math.round(100 * (1 - found.after / found.before)) : 0;
  return { said: `${instructions(found.before)} before, ${found.after} after: ${less} % less.` };
});

$("expression").addEventListener("change", () => {
  $("own").hidden = $("expression").value !== "own";
  send();
});
onTheme(redraw);
new ResizeObserver(redraw).observe($("drawn-before"));
introduce().catch(() => tellNoDevice(": this page works without one"));
send();
