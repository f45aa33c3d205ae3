// A form that asks for work: one at a time, and what is asked for meanwhile takes its place; with a button that stops it and a line
// that says how it went.
import { $, element, sentence, tellNoDevice } from "./shell.js";
import { stop } from "./client.js";

export function note(text, wrong = false) {
  $("note").textContent = text;
  $("note").classList.toggle("wrong", wrong);
}

/** Facts as names and values. */
export function facts(list, rows) {
  list.replaceChildren(...rows.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, String(value))]));
}

/** `run` is called when the form is sent, and gives what is to be said at the end, and whether it is no good. */
export function form(run) {
  const go = $("go"), halt = $("stop");
  let working = false, again = false;
  const once = async () => {
    try {
      const { said, wrong } = await run();
      if (again) return;
      note(said, wrong);
      document.body.dataset.state = "done";
    } catch (error) {
      if (again) return;
      if (error.name === "NoContext") tellNoDevice();
      note(error.name === "Stopped" ? "Stopped." : sentence(error), error.name !== "Stopped");
      document.body.dataset.state = "failed";
    }
  };
  const send = async () => {
    again = working;
    if (working) return stop();
    working = true;
    // What is said on the way is not read out, only how it ended.
    $("note").setAttribute("aria-busy", "true");
    if (halt) halt.disabled = false;
    do {
      again = false;
      document.body.dataset.state = "working";
      await once();
    } while (again);
    working = false;
    $("note").setAttribute("aria-busy", "false");
    // Who has stopped by the keyboard is not left without a place.
    if (halt && document.activeElement === halt) go.focus();
    if (halt) halt.disabled = true;
  };
  $("form").addEventListener("submit", (event) => { event.preventDefault(); send(); });
  for (const area of $("form").elements) {
    if (area.type === "textarea") area.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); send(); }
    });
  }
  halt?.addEventListener("click", () => stop());
  return send;
}

export const AGAIN = "The browser took the graphics context away: once more on a new one …";
