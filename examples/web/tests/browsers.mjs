// Browsers on software rasterisers, each in a folder of its own that is empty at first; and the program that serves pages to them.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import puppeteer from "puppeteer-core";

const env = { ...process.env, LP_NUM_THREADS: process.env.LP_NUM_THREADS ?? "0", LIBGL_ALWAYS_SOFTWARE: "1" };

const CHROMIUM = [
  "--headless=new", "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];
export const BROWSERS = {
  chromium: (own) => ({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", userDataDir: own, env,
    args: [...CHROMIUM, "--use-angle=gl-egl", "--ignore-gpu-blocklist"],
  }),
  swiftshader: (own) => ({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", userDataDir: own, env,
    args: [...CHROMIUM, "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
  }),
  firefox: (own) => ({
    browser: "firefox", executablePath: process.env.FIREFOX ?? "/usr/bin/firefox-esr", headless: false, userDataDir: own, env,
    extraPrefsFirefox: { "webgl.force-enabled": true, "app.update.enabled": false, "network.captive-portal-service.enabled": false },
  }),
};

export async function launch(name) {
  const own = mkdtempSync(path.join(tmpdir(), "texla-web-"));
  const browser = await puppeteer.launch({ ...BROWSERS[name](own), protocolTimeout: 1200000 });
  const close = async () => {
    await browser.close().catch(() => {});
    rmSync(own, { recursive: true, force: true });
  };
  return { browser, close };
}

/** Serves a folder; where, and how to end that. */
export async function serve(program, folder) {
  const server = spawn(program, [folder, "0"]);
  const root = await new Promise((found) => server.stdout.once("data", (line) => found(String(line).trim())));
  return { root, stop: () => server.kill() };
}
