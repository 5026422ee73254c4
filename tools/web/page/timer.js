// The GPU time of a frame with WebGL 2, which has no timestamps. The extension EXT_disjoint_timer_query_webgl2 measures the time
// between two calls. Without it there are no times.

export function frameTimer(canvas) {
  let gl, extension;
  const pending = [];
  /** The extension of the module's WebGL context. On a WebGPU canvas, `getContext` is not called: it would create a context. */
  const find = () => {
    if (gl === undefined) {
      gl = document.body.dataset.api === "webgl2" ? canvas.getContext("webgl2") : null;
      extension = gl?.getExtension("EXT_disjoint_timer_query_webgl2");
    }
    return extension;
  };
  return {
    hasFrameTimer: () => Boolean(find()),
    beginFrame() {
      const query = gl.createQuery();
      gl.beginQuery(extension.TIME_ELAPSED_EXT, query);
      pending.push(query);
    },
    endFrame() {
      gl.endQuery(extension.TIME_ELAPSED_EXT);
    },
    /** The milliseconds of the oldest frame that has not been returned yet, or -1 if they are not known yet. */
    takeFrame() {
      const query = pending[0];
      if (!query || !gl.getQueryParameter(query, gl.QUERY_RESULT_AVAILABLE)) return -1;
      pending.shift();
      const nanoseconds = gl.getQueryParameter(query, gl.QUERY_RESULT);
      gl.deleteQuery(query);
      return nanoseconds / 1e6;
    },
  };
}
