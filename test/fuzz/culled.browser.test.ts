import { WebGLRenderer } from 'three';
import { fuzzCulling } from './culled-suite.js';
import { useRealm } from './hostile.js';

const frame = document.body.appendChild(document.createElement('iframe'));
useRealm(frame.contentWindow as unknown as Parameters<typeof useRealm>[0]);

const renderer = new WebGLRenderer({ antialias: false });
renderer.setSize(64, 64);
const pixels = new Uint8Array(64 * 64 * 4);

fuzzCulling({
  share: 0.0004,
  painter: () => ({
    isPainting: true,
    render(scene, camera) {
      renderer.render(scene, camera);
      const gl = renderer.getContext();
      gl.readPixels(0, 0, 64, 64, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
      return [pixels.join('')];
    },
  }),
});
