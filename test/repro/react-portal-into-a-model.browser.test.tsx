// A portal into a model that has children of its own is no longer tracked once it is unmounted: it was until the canvas ended,
// because only a root without children counted as left.
import { createPortal } from '@react-three/fiber';
import { type CollisionService, createCollisionService } from 'collision-worker';
import type { ReactNode } from 'react';
import { BoxGeometry, Group, Mesh, MeshBasicMaterial } from 'three';
import { afterEach, expect, test, vi } from 'vitest';
import { CENTER, mount, unmountAll } from '../fixtures/react-stage.js';

let service: CollisionService;
afterEach(() => {
  unmountAll();
  service.dispose();
});

function Box(props: Record<string, unknown>): ReactNode {
  return (
    <mesh {...props}>
      <boxGeometry args={[2, 2]} />
      <meshBasicMaterial />
    </mesh>
  );
}

test.each([
  ['the model', false],
  ['a part of it', true],
])('a portal into %s leaves nothing in the service', async (_, isPart) => {
  service = await createCollisionService();
  const model = new Group();
  const part = new Mesh(new BoxGeometry(), new MeshBasicMaterial());
  model.add(part);
  const onClick = vi.fn();
  const stage = await mount(null, { events: { service } });
  const button = (key: string): ReactNode => createPortal(<Box key={key} onClick={onClick} />, isPart ? part : model);
  await stage.render(button('first'));
  await stage.click(CENTER);
  expect(onClick).toHaveBeenCalledOnce();
  expect(service.stats.objects).toBe(2);
  await stage.render(button('second'));
  await stage.click(CENTER);
  expect(onClick).toHaveBeenCalledTimes(2);
  await stage.render(null);
  await vi.waitFor(() => expect(service.stats.objects).toBe(0), 10_000);
});
