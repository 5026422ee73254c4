// The GPU time of a frame with WebGL 2, which has no timestamps: between two calls, with the extension
// EXT_disjoint_timer_query_webgl2. Without this extension there is no time.

export function frameTimer(canvas) {
  let gl, extension;
  const pending = [];
  /** The context that the module has made, and none that would be made only to ask. */
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
    /** The milliseconds of the oldest frame that has not been told yet, or -1 if it is not known yet. */
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
