// drei's Select switches the events off while Shift is held, right after a pointer has gone down. The handlers of that pointerdown
// ran while they were off, so fiber found nothing: the click that followed had no target, and nothing was added to a selection.
import { Select } from '@react-three/drei/web/Select';
import { afterEach, expect, test, vi } from 'vitest';
import { CENTER, CORNER, mount, unmountAll } from '../fixtures/react-stage.js';

afterEach(unmountAll);

test('Shift and a click select', async () => {
  const onChangePointerUp = vi.fn();
  const stage = await mount(
    <Select box multiple onChangePointerUp={onChangePointerUp}>
      <mesh name="box">
        <boxGeometry />
      </mesh>
    </Select>,
  );
  await stage.fire('pointermove', CORNER); // everything is built
  for (const type of ['pointerdown', 'pointerup', 'click']) await stage.fire(type, CENTER, { shiftKey: true });
  expect(onChangePointerUp.mock.lastCall![0].map(({ name }: { name: string }) => name)).toEqual(['box']);
});

test('an event is of the moment when it happened', async () => {
  const [onClick, onPointerMissed] = [vi.fn(), vi.fn()];
  const stage = await mount(
    <mesh {...{ onClick, onPointerMissed }}>
      <boxGeometry />
    </mesh>,
  );
  await stage.fire('pointerdown', CENTER);
  stage.dispatch('click', CENTER);
  stage.state.setEvents({ enabled: false });
  await stage.settle();
  expect(onClick).toHaveBeenCalledOnce();
  stage.dispatch('click', CENTER);
  stage.state.setEvents({ enabled: true });
  await stage.settle();
  expect(onClick).toHaveBeenCalledOnce();
  expect(onPointerMissed).toHaveBeenCalledOnce();
});
