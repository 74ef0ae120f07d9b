// Each error that nobody waits for is reported, and the same one once, though it comes in each frame. After one invalid option, no
// other was reported, because both errors have the same code.
import { type CharacterHookOptions, Collision, useCharacter } from 'collision-worker/react';
import { type ReactNode, useRef } from 'react';
import type { Group } from 'three';
import { afterEach, expect, test, vi } from 'vitest';
import { mount, unmountAll } from '../fixtures/react-stage.js';

afterEach(unmountAll);

test('an error is reported although another one was', async () => {
  const errors: string[] = [];
  function Walker(options: CharacterHookOptions): ReactNode {
    const figure = useRef<Group>(null);
    useCharacter(figure, { shape: { type: 'capsule', radius: 0.3, from: [0, 0.3, 0], to: [0, 1.5, 0] }, ...options });
    return <group ref={figure} />;
  }
  const scene = (options: CharacterHookOptions): ReactNode => (
    <Collision onError={(error) => errors.push(String(error))}>
      <Walker {...options} />
    </Collision>
  );
  const stage = await mount(scene({ stepHeight: -1 }), { events: null });
  await vi.waitFor(() => expect(errors).toEqual([expect.stringMatching(/stepHeight is -1/)]), 10_000);
  await stage.render(scene({ snap: -1 })); // waits for two more pictures
  await vi.waitFor(() => expect(errors.slice(1)).toEqual([expect.stringMatching(/snap is -1/)]), 10_000);
});
