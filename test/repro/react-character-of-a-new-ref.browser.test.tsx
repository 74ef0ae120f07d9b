// A ref that is made in each render, `{ current: figure }`, names the same object, and useCharacter goes on with its character. It
// made a new one in each render, which began where the first had begun.
import { Collision, useCharacter } from 'collision-worker/react';
import { type ReactNode, useState } from 'react';
import type { Group } from 'three';
import { afterEach, expect, test, vi } from 'vitest';
import { mount, unmountAll } from '../fixtures/react-stage.js';

afterEach(unmountAll);

const FRAMES = { timeout: 10_000 };

test.each([true, false])('a ref that is made in each render keeps the character, strict %s', async (isStrict) => {
  let hero!: ReturnType<typeof useCharacter>;
  let shown: Group | null = null;
  const shape = { type: 'capsule', radius: 0.3, from: [0, 0.3, 0], to: [0, 1.5, 0] } as const;
  function Walker({ figureKey }: { figureKey: string }): ReactNode {
    const [figure, setFigure] = useState<Group | null>(null);
    shown = figure;
    hero = useCharacter({ current: figure }, { shape, position: [0, 0.1, 0] });
    return <group key={figureKey} ref={setFigure} />;
  }
  const scene = (figureKey: string): ReactNode => (
    <Collision>
      <Walker figureKey={figureKey} />
    </Collision>
  );
  const stage = await mount(scene('first'), { events: null, isStrict });
  await vi.waitFor(() => expect(hero.current).not.toBe(null), FRAMES);
  const { current } = hero;
  await stage.render(scene('first'));
  expect(hero.current).toBe(current);
  // Another object continues with it.
  const before = shown;
  await stage.render(scene('second'));
  expect(shown).not.toBe(before);
  await vi.waitFor(() => expect(hero.current!.object).toBe(shown), FRAMES);
  expect(hero.current).toBe(current);
});
