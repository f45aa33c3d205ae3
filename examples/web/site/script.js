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
let wanted = null;
/** Whether it is there, and still the one that is wanted. */
async function show(name) {
  wanted = name;
  try {
    if (texts[name] === undefined) {
      const answer = await fetch(`scripts/${name}.texla`);
      if (!answer.ok) throw new Error(`${answer.status} ${answer.statusText}`);
      texts[name] = await answer.text();
    }
  } catch (error) {
    if (wanted === name) note(`The example could not be loaded: ${error.message}.`, true);
    return false;
  }
  if (wanted !== name) return false;
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
    // Columns count characters, places in a text what they are made of.
    const lines = text.split("\n"), before = [...lines[found.line - 1] ?? ""].slice(0, found.column - 1).join("");
    const at = lines.slice(0, found.line - 1).reduce((sum, line) => sum + line.length + 1, 0) + before.length;
    $("text").setSelectionRange(at, at);
    return { said: `Stopped at line ${found.line}, column ${found.column}.`, wrong: true };
  }
  const said = `Done in ${found.all.toFixed(0)} ms: ${found.draws} draws, ${found.readbacks} readbacks.`;
  return { said };
});

$("example").addEventListener("change", async () => { if (await show($("example").value)) send(); });

show("tour").then(async (shown) => {
  await introduce().catch(() => {});
  if (shown) send();
});
