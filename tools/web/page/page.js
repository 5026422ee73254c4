// The page around the example: chooses between WebGPU and WebGL 2, loads the module that was built for it, passes pictures
// to it, and shows errors. `?api=webgl2` or `?api=webgpu` chooses by hand.

import { watchDevices, watchContext } from "./loss.js";
import { frameTimer } from "./timer.js";
import { takePictures } from "./pictures.js";

const NAMES = { webgpu: "WebGPU", webgl2: "WebGL 2" };
const element = (id) => document.getElementById(id);
const canvas = element("canvas");

/** Ends the page with a message. Only the first message is shown, because later errors are its consequences. */
function stop(...lines) {
  const message = element("message");
  if (!message.hidden) return;
  message.replaceChildren(...lines.map((line) => Object.assign(document.createElement("p"), { textContent: line })));
  const again = Object.assign(document.createElement("button"), { textContent: "load again" });
  again.addEventListener("click", () => location.reload());
  message.append(again);
  message.hidden = false;
  element("loading").hidden = true;
}

/** WebGPU if this browser supports it, otherwise WebGL 2. The object `navigator.gpu` alone does not promise an adapter. */
async function chooseApi() {
  const asked = new URLSearchParams(location.search).get("api");
  if (asked in NAMES) return asked;
  if (await navigator.gpu?.requestAdapter().catch(() => null)) return "webgpu";
  return document.createElement("canvas").getContext("webgl2") ? "webgl2" : null;
}

/** Whether WebGPU renders in software. wgpu does not report this, so the page tells the module. */
async function isSoftware() {
  const adapter = await navigator.gpu?.requestAdapter().catch(() => null);
  return Boolean(adapter?.info?.isFallbackAdapter ?? adapter?.isFallbackAdapter);
}

/** Fetches a module, and shows the progress. */
async function fetchModule(url) {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${answer.statusText}`);
  const progress = element("progress");
  // The content length is the size of the transfer, which may be compressed; build.json has the size of the module itself.
  const { size } = await (await fetch(url.replace(/[^/]*$/, "build.json"))).json();
  let loaded = 0;
  const counter = new TransformStream({
    transform(chunk, controller) {
      loaded += chunk.byteLength;
      progress.value = loaded / size;
      element("step").textContent = `Loading ${(loaded / 1e6).toFixed(1)} of ${(size / 1e6).toFixed(1)} MB`;
      controller.enqueue(chunk);
    },
  });
  const headers = { "Content-Type": "application/wasm" };
  return new Response(answer.body.pipeThrough(counter), { headers });
}

/** The functions and settings that the module uses. */
globalThis.slider = {
  ...frameTimer(canvas),
  isSoftware: false,
  /** The size that the canvas will have, in CSS pixels. */
  stageSize() {
    const { clientWidth, clientHeight } = element("stage");
    return Uint32Array.of(clientWidth, clientHeight);
  },
  /** Blurs are ready, on this GPU. */
  onReady(gpu) {
    element("loading").hidden = true;
    element("choose").hidden = false;
    document.body.dataset.ready = "true";
    if (gpu) element("api").title = gpu;
  },
  /** The comparison has a new point, or is finished. */
  onMeasured(method, radius, milliseconds) {
    if (method) globalThis.slider.measured.push({ method, radius, milliseconds });
    document.body.dataset.measured = method ? "some" : "all";
  },
  measured: [],
  /** Rendering has ended. The delay lets a lost GPU be reported first: the page detects it, and it causes other errors. */
  onEnd(reason) {
    setTimeout(() => stop("The blur has stopped:", reason.split("\n", 1)[0]), 500);
  },
};

async function start() {
  const api = await chooseApi();
  if (!api) {
    stop("This browser has neither WebGPU nor WebGL 2, and the blur needs one of them.",
      "A current Chrome, Edge, Firefox or Safari has; on some computers graphics have to be switched on in its settings.");
    return;
  }
  document.body.dataset.api = api;
  element("api").textContent = NAMES[api];
  globalThis.slider.isSoftware = api === "webgpu" && (await isSoftware());
  const lost = (reason) => stop("The browser has taken the GPU away from this page.", reason);
  watchDevices(lost);
  watchContext(canvas, lost);
  const module = await import(`./${api}/slider.js`);
  const bytes = fetchModule(new URL(`./${api}/slider_bg.wasm`, import.meta.url).href);
  await module.default({ module_or_path: bytes });
  takePictures(module, element("file"));
  globalThis.slider.module = module;
  element("step").textContent = "Compiling shaders";
  element("progress").removeAttribute("value");
}

addEventListener("error", (event) => stop("The page has stopped:", event.message));
addEventListener("unhandledrejection", (event) => stop("The page has stopped:", String(event.reason?.message ?? event.reason)));
start().catch((error) => stop("The page could not be started:", String(error.message ?? error)));
