// What this device can do, and a report of it to be copied.
import { $, element, tellDevice } from "./shell.js";
import { ask } from "./client.js";
import { AGAIN, facts, form, note } from "./form.js";

let report = [];

const time = (ms) => ms < 1 ? `${(1000 * ms).toFixed(1)} µs` : `${ms.toFixed(2)} ms`;
const cells = (values) => values.map((value, k) => element("td", k === 1 && /^[0-9a-f]{16}$/.test(value) ? { class: "bits" } : {}, value));

const send = form(async () => {
  const [bench, results] = ["bench", "results"].map((id) => $(id).tBodies[0]);
  const clear = () => { report = []; bench.replaceChildren(); results.replaceChildren(); };
  clear();
  // Half a report is none.
  $("copy").disabled = true;
  note("Probing …");
  const tell = (found) => {
    if (found.about) {
      const { about } = found;
      tellDevice(about);
      const rows = [["renderer", about.renderer], ["vendor", about.vendor], ["version", about.version], ["browser", navigator.userAgent]];
      facts($("context"), rows);
      const probed = found.capabilities.trim().split("\n").map((line) => line.split("\t"));
      const quirks = found.quirks ? found.quirks.split("\n") : ["none"];
      facts($("capabilities"), [...probed.map(([name, value]) => [name.replaceAll("_", " "), value]), ["quirks", quirks.join("\n")]]);
      report.push(...rows.map((row) => row.join("\t")), ...probed.map((row) => row.join("\t")), ...quirks.map((quirk) => `quirk\t${quirk}`));
      note("Computing …");
    } else if (found.results) {
      const lines = found.results.trim().split("\n").map((line) => line.split("\t"));
      const wrong = lines.filter(([, , error, bound]) => !(Number(error) <= Number(bound)));
      facts($("digest"), [["bits of all", found.digest], ["within their bounds", wrong.length ? `all but ${wrong.map(([name]) => name).join(", ")}` : `all ${lines.length}`]]);
      for (const [name, hash, error, bound] of lines) {
        results.append(element("tr", {}, ...cells([name, hash, Number(error).toExponential(1), Number(bound).toExponential(0)])));
      }
      report.push(`digest\t${found.digest}`, ...lines.map((line) => line.join("\t")));
      note("Timing …");
    } else if (found.row) {
      const { name, size, ms, rate } = found.row;
      bench.append(element("tr", {}, ...cells([name, size, time(ms), rate])));
      report.push([name, size, time(ms), rate].join("\t"));
    }
  };
  await ask("survey", {}, tell, () => { clear(); note(AGAIN); });
  $("copy").disabled = false;
  return { said: "Done." };
});

$("copy").addEventListener("click", async () => {
  const text = `texla in a browser\n${report.join("\n")}\n`;
  try {
    await navigator.clipboard.writeText(text);
    note("Copied.");
  } catch {
    // Pages without a secure origin have no clipboard.
    const area = element("textarea", {});
    area.value = text;
    document.body.append(area);
    area.select();
    const copied = document.execCommand("copy");
    area.remove();
    note(copied ? "Copied." : "The browser does not let this page copy.", !copied);
  }
});

send();
