// A problem by name or from a file, its residual as it falls, and what it came to.
import { $, element } from "./shell.js";
import { ask, introduce } from "./client.js";
import { AGAIN, facts, form, note } from "./form.js";
import { Chart } from "./chart.js";

const chart = new Chart($("chart"));
window.chart = chart;
let file = null;

const ms = (value) => `${value.toFixed(value < 10 ? 2 : 0)} ms`;

const send = form(async () => {
  const tolerance = Number($("bound").value);
  const [name, side] = $("problem").value.split(" ");
  const of = name === "file" ? { name: file.name, side: 0, text: new Uint8Array(await file.arrayBuffer()), tolerance }
    : { name, side: Number(side), tolerance };
  const clear = () => chart.clear(tolerance);
  clear();
  facts($("result"), []);
  note(name === "file" ? `${file.name}, ${file.size} bytes …` : "Setting up …");
  const found = await ask("solve", of, ([k, residual]) => {
    chart.add(k, residual);
    note(`Residual ${residual.toExponential(1)} after ${k} iterations …`);
  }, () => { clear(); note(AGAIN); }, { page: $("where").value === "page" });
  window.found = found;
  const certified = found.converged ? "certified" : "not met";
  facts($("result"), [
    ["matrix", found.matrix],
    ["normal form", found.normal],
    ["by", found.by],
    ["iterations", found.iterations],
    ["residual, on the device", `${found.certified.toExponential(3)} (${certified})`],
    ["residual, here in 64 bits", found.residual.toExponential(3)],
    ["matrix, made and uploaded", ms(found.making)],
    ["solve", `${ms(found.solve)}: the preconditioner ${ms(found.setUp)}, the last method ${ms(found.solving)}, ${ms(found.compiling)} of that for shaders`],
    ["read and checked", ms(found.checking)],
    ["from call to answer", ms(found.all)],
    ["draws", `${found.draws}, with ${found.readbacks} waits in the loop`],
    ["bits of x", found.hash],
    ...(found.tried ? [["given up before", found.tried]] : []),
  ]);
  const said = `${found.reason[0].toUpperCase()}${found.reason.slice(1)} after ${found.iterations} iteration${found.iterations === 1 ? "" : "s"} in ${ms(found.all)}.`;
  return { said, wrong: !found.converged };
});

function take(given) {
  if (!given) return;
  file = given;
  // The list says what is solved, and has it from now on.
  $("given")?.remove();
  $("problem").append(element("option", { id: "given", value: "file" }, file.name));
  $("problem").value = "file";
  send();
}

// Emptied, so that the same file again, changed meanwhile, is a change.
$("file").addEventListener("change", () => { const [given] = $("file").files; $("file").value = ""; take(given); });
for (const id of ["problem", "bound", "where"]) $(id).addEventListener("change", () => send());
addEventListener("dragover", (event) => { event.preventDefault(); document.body.classList.add("dropping"); });
addEventListener("dragleave", (event) => { if (!event.relatedTarget) document.body.classList.remove("dropping"); });
addEventListener("drop", (event) => {
  event.preventDefault();
  document.body.classList.remove("dropping");
  take(event.dataTransfer.files[0]);
});

introduce().then(send, () => send());
