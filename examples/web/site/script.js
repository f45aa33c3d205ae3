// The matrix script: examples, output as it comes, and errors with the place.
import { $, element } from "./shell.js";
import { ask, introduce } from "./client.js";
import { AGAIN, form, note } from "./form.js";

const EXAMPLES = { tour: "A tour of the language", cg: "Conjugate gradients", lcp: "A complementarity problem", mistake: "A mistake" };
const MISTAKE = `A = [4 1; 1 3]            # 2 rows
b = [1 2 3]'              # and 3 numbers
print("A", A)
x = A * b
`;

for (const [name, title] of Object.entries(EXAMPLES)) $("example").append(element("option", { value: name }, title));

const texts = { mistake: MISTAKE };
async function show(name) {
  if (texts[name] === undefined) {
    const answer = await fetch(`scripts/${name}.texla`);
    if (!answer.ok) throw new Error(`the example could not be loaded: ${answer.status} ${answer.statusText}`);
    texts[name] = await answer.text();
  }
  // Another one may have been chosen meanwhile.
  if ($("example").value !== name) return false;
  $("text").value = texts[name];
  return true;
}

const send = form(async () => {
  const out = $("out"), text = $("text").value;
  out.textContent = "";
  note("Running …");
  const found = await ask("script", { text }, (printed) => out.append(printed), () => { out.textContent = ""; note(AGAIN); });
  if (found.error !== undefined) {
    out.append(element("span", { class: "wrong", id: "error" }, found.error));
    const lines = text.split("\n");
    const at = lines.slice(0, found.line - 1).reduce((sum, line) => sum + line.length + 1, 0) + found.column - 1;
    $("text").setSelectionRange(at, at);
    return `Stopped at line ${found.line}, column ${found.column}.`;
  }
  return `Done in ${found.all.toFixed(0)} ms: ${found.draws} draws, ${found.readbacks} readbacks.`;
});

$("example").addEventListener("change", async () => {
  try {
    if (await show($("example").value)) send();
  } catch (error) {
    note(error.message, true);
  }
});

show("tour").then((shown) => shown && introduce().then(send, () => send()), (error) => note(error.message, true));
