// Posts the name of the WebGL renderer, or null without WebGL 2 (quality.ts).

addEventListener('message', () => {
  const context = new OffscreenCanvas(1, 1).getContext('webgl2');
  if (context === null) {
    postMessage(null);
    return;
  }
  const info = context.getExtension('WEBGL_debug_renderer_info');
  const name: unknown = context.getParameter(info?.UNMASKED_RENDERER_WEBGL ?? context.RENDERER);
  context.getExtension('WEBGL_lose_context')?.loseContext();
  postMessage(String(name));
});
