// drei's CycleRaycast calls fiber's handler `onPointerCancel` without an event, which fiber does not read. collisionEvents read
// it, and threw a TypeError at each press of its key, so that nothing was cycled through.
import { CycleRaycast } from '@react-three/drei/web/CycleRaycast';
import type { ThreeEvent } from '@react-three/fiber';
import { afterEach, expect, test, vi } from 'vitest';
import { CENTER, mount, unmountAll } from '../fixtures/react-stage.js';

afterEach(unmountAll);

const STARTED = { timeout: 10_000 };

test('CycleRaycast goes on to what is behind', async () => {
  const hovered: string[] = [];
  const onPointerOver = (event: ThreeEvent<PointerEvent>): void => {
    event.stopPropagation();
    hovered.push(`over ${event.object.name}`);
  };
  const onPointerOut = ({ object }: ThreeEvent<PointerEvent>): void => void hovered.push(`out ${object.name}`);
  const stage = await mount(
    <>
      {['near', 'far'].map((name, i) => (
        <mesh key={name} name={name} position-z={-i} {...{ onPointerOver, onPointerOut }}>
          <boxGeometry />
        </mesh>
      ))}
      <CycleRaycast />
    </>,
  );
  stage.dispatch('pointermove', CENTER);
  await vi.waitFor(() => expect(hovered).toEqual(['over near']), STARTED);
  document.dispatchEvent(new KeyboardEvent('keydown', { keyCode: 9, bubbles: true } as KeyboardEventInit));
  await vi.waitFor(() => expect(hovered).toEqual(['over near', 'out near', 'over far']), STARTED);
});
