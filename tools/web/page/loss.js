// Detects that the browser takes the GPU away: the device of WebGPU, or the context of WebGL.

/** Calls `lost` when any device that the page requests is lost. */
export function watchDevices(lost) {
  const adapters = globalThis.GPUAdapter?.prototype;
  if (!adapters) return;
  const requestDevice = adapters.requestDevice;
  adapters.requestDevice = async function (...options) {
    const device = await requestDevice.apply(this, options);
    device.lost.then((info) => lost(info.message || info.reason));
    return device;
  };
}

/** Calls `lost` when the canvas loses its context. */
export function watchContext(canvas, lost) {
  canvas.addEventListener("webglcontextlost", (event) => lost(event.statusMessage || "The context was lost."));
}
