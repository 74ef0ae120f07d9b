// preventDefault of collisionEvents gets what is under the pointer, also if that does not listen to moves: after a move, it got
// only objects with hover handlers, so a mesh with nothing but onWheel did not keep the page from scrolling.
import { createPortal } from '@react-three/fiber';
import type { ReactNode } from 'react';
import { DoubleSide, type Intersection, Scene } from 'three';
import { afterEach, expect, test } from 'vitest';
import { CENTER, CORNER, mount, unmountAll } from '../fixtures/react-stage.js';

afterEach(unmountAll);

function Box(props: Record<string, unknown>): ReactNode {
  return (
    <mesh {...props}>
      <boxGeometry />
      <meshBasicMaterial side={DoubleSide} />
    </mesh>
  );
}

test('a mesh with onWheel alone keeps the page from scrolling, from the first wheel on', async () => {
  const preventDefault = ({ type }: Event, hits: readonly Intersection[]) => type === 'wheel' && hits.length > 0;
  const stage = await mount(<Box onWheel={() => {}} />, { events: { preventDefault } });
  for (const [pixel, isPrevented] of [
    [CENTER, true],
    [CORNER, false],
    [CENTER, true],
  ] as const) {
    await stage.fire('pointermove', pixel);
    expect((await stage.fire('wheel', pixel)).defaultPrevented).toBe(isPrevented);
  }
});

test('its hits after a move are those of a wheel at the same place, in the same order', async () => {
  const known: string[][] = [];
  const handled: string[][] = [];
  const namesOf = (hits: readonly Intersection[]) => hits.map(({ object, distance }) => `${object.name} ${distance}`);
  const preventDefault = (_: Event, hits: readonly Intersection[]): boolean => known.push(namesOf(hits)) < 0;
  const listen = { onWheel: () => {} };
  const overlay = createPortal(<Box name="overlay" position-z={-3} {...listen} />, new Scene(), {
    events: { priority: 2 },
  } as never);
  const stage = await mount(
    <>
      <Box name="behind" position-z={-1.5} {...listen} />
      <Box name="hovered" {...listen} onPointerMove={() => {}} />
      <Box name="nothing" position-z={1.5} />
      <group {...listen}>
        <Box name="in a group" position-z={-4} />
      </group>
      <Box name="hidden by the filter" position-z={-6} {...listen} />
      {overlay}
    </>,
    { events: { preventDefault } },
  );
  const { filter } = stage.state.get().events;
  stage.state.setEvents({
    filter: (hits, state) => filter!(hits, state).filter(({ object }) => !object.name.includes('filter')),
  });
  await stage.fire('pointermove', CENTER);
  const wheel = stage.dispatch('wheel', CENTER);
  stage.state.setEvents({
    filter: (hits, state) => {
      const kept = filter!(hits, state).filter(({ object }) => !object.name.includes('filter'));
      handled.push(namesOf(kept));
      return kept;
    },
  });
  await stage.settle();
  expect(wheel.defaultPrevented).toBe(false);
  expect(handled[0].map((each) => each.replace(/ [\d.]+$/, ''))).toEqual([
    'overlay',
    'hovered',
    'behind',
    'in a group',
  ]);
  expect(known).toEqual(handled);
});
