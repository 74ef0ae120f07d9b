// A list of views with holes arrived at the worker as one without records, and the worker failed.
import { createCollisionService } from 'collision-worker';
import { expect, onTestFinished, test } from 'vitest';

test('holes among the views to inspect are refused, and the worker lives', async () => {
  const service = await createCollisionService();
  onTestFinished(() => service.dispose());
  let isLost = false;
  service.addEventListener('lost', () => {
    isLost = true;
  });
  const views = new Array<string>(16);
  await expect(service.inspect({ bounds: true, views })).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    message: expect.stringContaining('views[0]'),
  });
  await service.update();
  expect(isLost).toBe(false);
});
