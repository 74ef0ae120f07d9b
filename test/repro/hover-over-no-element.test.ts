// A selector that finds nothing, or a renderer in place of its canvas: the error names what was expected, as that of
// `forwardPointerEvents` does, and not a property that could not be read.
import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import { Scene } from 'three';
import { expect, test } from 'vitest';

test.each([
  ['null', null],
  ['"canvas"', 'canvas'],
  ['an object', { domElement: {} }],
])('hover over %s', async (described, element) => {
  const service = await createCollisionService();
  const tracker = await trackScene(service, new Scene());
  expect(() => tracker.hover(element as unknown as HTMLElement, () => {})).toThrow(
    expect.objectContaining({
      code: 'INVALID_ARGUMENT',
      message: `hover: element is ${described}, expected an HTMLElement`,
    }),
  );
  service.dispose();
});
