// A component passes on handlers and options that it was given, or not. With `exactOptionalPropertyTypes` that was a type error
// for the handlers of `useContact`, for `preventDefault` and for the prop `collision`, which have always taken undefined.
import { type CollisionService, createCollisionService } from 'collision-worker';
import {
  type CollisionEventsOptions,
  type CollisionProp,
  type ContactHandlers,
  useContact,
} from 'collision-worker/react';
import { type ReactNode, useRef } from 'react';
import type { Mesh } from 'three';
import { afterEach, expect, test, vi } from 'vitest';
import { CENTER, mount, unmountAll } from '../fixtures/react-stage.js';

interface CrateProps extends ContactHandlers {
  shape?: CollisionProp['shape'];
  group?: CollisionProp['group'];
  onClick: () => void;
}

let service: CollisionService;
afterEach(() => {
  unmountAll();
  service.dispose();
});

function Crate({ onContactBegin, onContact, onContactEnd, shape, group, ...handlers }: CrateProps): ReactNode {
  const ref = useRef<Mesh>(null);
  useContact(ref, { onContactBegin, onContact, onContactEnd });
  return (
    <mesh ref={ref} collision={{ shape, group }} {...handlers}>
      <boxGeometry />
    </mesh>
  );
}

test('handlers and options may be undefined', async () => {
  service = await createCollisionService();
  const { preventDefault }: CollisionEventsOptions = {};
  const [onError, onClick] = [vi.fn(), vi.fn()];
  const stage = await mount(<Crate onClick={onClick} />, { events: { service, preventDefault, onError } });
  await stage.click(CENTER);
  expect(onClick).toHaveBeenCalledOnce();
  expect(service.stats.objects).toBe(1);
  expect(onError).not.toHaveBeenCalled();
});
