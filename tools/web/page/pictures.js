// The visitor's pictures, chosen in a dialog, dropped or pasted. The browser decodes them, so every format that it supports
// works, and other colour spaces become sRGB.

/** Hands pictures to the module. They do not leave the browser. */
export function takePictures(module, input) {
  const take = async (file) => {
    if (!file) return;
    try {
      const { width, height, data } = await decode(file, module.largestSide());
      module.showPicture(width, height, data);
    } catch {
      module.complain(`${file.name}: no picture that this browser can read`);
    }
  };
  input.addEventListener("change", () => {
    take(input.files[0]);
    // Let the user choose the same file again.
    input.value = "";
  });
  addEventListener("paste", (event) => take(event.clipboardData.files[0]));
  addEventListener("drop", (event) => {
    event.preventDefault();
    document.body.classList.remove("dropping");
    take(event.dataTransfer.files[0]);
  });
  addEventListener("dragover", (event) => {
    event.preventDefault();
    document.body.classList.add("dropping");
  });
  addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) document.body.classList.remove("dropping");
  });
}

/** The texels of a picture, made smaller if it is too large. */
async function decode(file, largest) {
  const bitmap = await createImageBitmap(file, { premultiplyAlpha: "none" });
  const scale = Math.min(1, largest / Math.max(bitmap.width, bitmap.height));
  const [width, height] = [bitmap.width, bitmap.height].map((side) => Math.max(1, Math.round(scale * side)));
  const context = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
  context.imageSmoothingQuality = "high";
  context.drawImage(bitmap, 0, 0, width, height);
  bitmap.close();
  return { width, height, data: new Uint8Array(context.getImageData(0, 0, width, height).data.buffer) };
}
