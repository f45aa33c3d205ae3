// Before anything is shown: the theme that was chosen; and a sentence where the browser does not load the rest.
try { document.documentElement.dataset.theme = localStorage.getItem("theme") ?? ""; } catch { /* no storage here */ }

addEventListener("error", ({ target }) => {
  if (!(target instanceof HTMLScriptElement)) return;
  const say = () => {
    const said = document.createElement("p");
    said.className = "unloaded";
    said.setAttribute("role", "alert");
    said.textContent = "This page could not load its scripts. Browsers load them from a web server, not from a file: serve the folder, as make web-serve does.";
    document.body.prepend(said);
  };
  if (document.body) say();
  else addEventListener("DOMContentLoaded", say);
}, true);
