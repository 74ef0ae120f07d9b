/** How much the picture may cost: `?quality=low` or `high`, else low where WebGL runs in software. */
export type Quality = 'low' | 'high';

/** Nothing moves by itself for who wants less motion; the controls let it. */
export function movesByItself(): boolean {
  return !matchMedia('(prefers-reduced-motion: reduce)').matches;
}

export function chooseQuality(): Quality {
  const wish = new URLSearchParams(location.search).get('quality');
  if (wish === 'low' || wish === 'high') return wish;
  return /swiftshader|llvmpipe|software|basic render/i.test(rendererName()) ? 'low' : 'high';
}

function rendererName(): string {
  const context = document.createElement('canvas').getContext('webgl2');
  if (context === null) throw new Error('This browser has no WebGL 2, or it is switched off.');
  const info = context.getExtension('WEBGL_debug_renderer_info');
  const name: unknown = context.getParameter(info?.UNMASKED_RENDERER_WEBGL ?? context.RENDERER);
  context.getExtension('WEBGL_lose_context')?.loseContext();
  return String(name);
}
