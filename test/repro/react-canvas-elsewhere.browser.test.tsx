// A canvas in a shadow root, as in web components, or in the document of an iframe or of a window that the page has opened. There,
// a finger that was lifted before its handler captured it made that handler throw NotFoundError: the target of an event in a shadow
// root is null after its dispatch, and elements and errors of another document are of other classes.
import { Canvas, type RootState, type ThreeEvent } from '@react-three/fiber';
import { collisionEvents } from 'collision-worker/react';
import { createRoot } from 'react-dom/client';
import { afterEach, expect, test, vi } from 'vitest';

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
  vi.restoreAllMocks();
});

const STARTED = { timeout: 10_000 };

/** Returns an element in that place, which is removed after the test. */
function hostIn(place: string): HTMLElement {
  const outer = document.createElement(place === 'an iframe' ? 'iframe' : 'div');
  outer.style.cssText = 'position: fixed; left: 0; top: 0; width: 400px; height: 300px; border: 0';
  document.body.append(outer);
  const parent =
    outer instanceof HTMLIFrameElement ? outer.contentDocument!.body : outer.attachShadow({ mode: 'open' });
  const host = parent.ownerDocument.createElement('div');
  host.style.cssText = 'position: fixed; left: 0; top: 0; width: 400px; height: 300px';
  parent.append(host);
  cleanups.push(() => outer.remove());
  return host;
}

test.each(['a shadow root', 'an iframe'])('a finger that is gone can be captured without harm in %s', async (place) => {
  const reported = vi.spyOn(globalThis, 'reportError').mockImplementation(() => {});
  const host = hostIn(place);
  const root = createRoot(host);
  cleanups.unshift(() => root.unmount());
  const heard: string[] = [];
  const onPointerDown = (event: ThreeEvent<PointerEvent>): void => {
    heard.push('down');
    (event.target as Element).setPointerCapture(event.pointerId);
    heard.push('captured');
  };
  let state: RootState | undefined;
  root.render(
    <Canvas
      events={collisionEvents()}
      onCreated={(created) => {
        state = created;
      }}
    >
      <mesh onPointerDown={onPointerDown} onPointerUp={() => heard.push('up')}>
        <boxGeometry />
      </mesh>
    </Canvas>,
  );
  await vi.waitFor(() => expect(state?.gl.info.render.frame).toBeGreaterThan(1), STARTED);
  const canvas = host.querySelector('canvas')!;
  const { PointerEvent } = host.ownerDocument.defaultView as Window & typeof globalThis;
  for (const type of ['pointerdown', 'pointerup']) {
    const init = { pointerId: 77, pointerType: 'touch', bubbles: true, composed: true, clientX: 200, clientY: 150 };
    canvas.dispatchEvent(new PointerEvent(type, init));
  }
  await vi.waitFor(() => expect(heard).toContain('up'), STARTED);
  expect(reported.mock.calls).toEqual([]);
  expect(heard).toEqual(['down', 'captured', 'up']);
});
