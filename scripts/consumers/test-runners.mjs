// Test runners, in Node and in jsdom, which has a document but no workers.
import { ANSWER, binOf, runIn } from './app.mjs';

const TEST = `
  import { pickBox } from './pick-box.js';
  test('picks', async () => {
    expect(await pickBox()).toBe('${ANSWER}');
  });
`;

/** Events of a canvas in jsdom, which has neither WebGL nor layout, answered by a thread of Node. */
const REACT_TEST = `
  import { Canvas, extend } from '@react-three/fiber';
  import { collisionEvents } from 'collision-worker/react';
  import { createElement as h } from 'react';
  import { createRoot } from 'react-dom/client';
  import * as THREE from 'three';

  extend(THREE);
  globalThis.ResizeObserver = class {
    constructor(call) { this.call = call; }
    observe(target) { this.call([{ target }]); }
    unobserve() {}
    disconnect() {}
  };
  Element.prototype.getBoundingClientRect = () => (
    { x: 0, y: 0, left: 0, top: 0, right: 800, bottom: 600, width: 800, height: 600 }
  );
  const renderer = (domElement) => ({
    domElement, shadowMap: {}, xr: { addEventListener() {}, removeEventListener() {} },
    render() {}, setSize() {}, setPixelRatio() {}, dispose() {}, forceContextLoss() {},
  });

  test('passed', async () => {
    const onError = vi.fn();
    const events = collisionEvents({ onError });
    const names = ['onPointerEnter', 'onPointerDown', 'onPointerMove', 'onPointerLeave', 'onPointerMissed'];
    const calls = [];
    const props = Object.fromEntries(names.map((name) => [name, (event) => {
      calls.push(name);
      if (name === 'onPointerDown') event.target.setPointerCapture(event.pointerId);
    }]));
    const host = document.body.appendChild(document.createElement('div'));
    const root = createRoot(host);
    await new Promise((onCreated) => {
      const box = h('mesh', props, h('boxGeometry', { args: [2, 2] }), h('meshBasicMaterial'));
      root.render(h(Canvas, { events, onCreated, gl: ({ canvas }) => renderer(canvas) }, box));
    });
    const target = host.querySelector('canvas').parentNode.parentNode;
    target.setPointerCapture = vi.fn();
    target.releasePointerCapture = vi.fn();
    const fire = async (type, x, y, ...heard) => {
      const event = new (type === 'click' ? MouseEvent : PointerEvent)(type, { pointerId: 7 });
      for (const [key, value] of Object.entries({ offsetX: x, offsetY: y })) Object.defineProperty(event, key, { value });
      calls.length = 0;
      target.dispatchEvent(event);
      await vi.waitFor(() => expect(calls).toEqual(heard), 10_000);
    };
    await fire('pointermove', 400, 300, 'onPointerEnter', 'onPointerMove');
    await fire('pointermove', 1, 1, 'onPointerLeave');
    await fire('click', 1, 1, 'onPointerMissed');
    await fire('pointerdown', 400, 300, 'onPointerDown');
    expect(target.setPointerCapture).toHaveBeenCalledWith(7);
    await fire('pointermove', 1, 1, 'onPointerEnter', 'onPointerMove');
    root.unmount();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(onError).not.toHaveBeenCalled();
  });
`;

/** The runner fails if its test does; the error then contains all of its output. */
function answered(app, command, args) {
  const { stdout, stderr } = runIn(app, command, args);
  return /1 passed/.test(stdout + stderr) ? ANSWER : stdout + stderr;
}

const vitest = (environment) => (app) => {
  return answered(app, binOf(app, 'vitest'), ['run', '--globals', '--environment', environment]);
};

/** Before Node 24.9, Jest cannot `import` packages without this flag. */
const jest = (app, options) => {
  const args = ['--experimental-vm-modules', 'node_modules/jest/bin/jest.js'];
  return answered(app, process.execPath, [...args, ...options]);
};

/** In jsdom, Jest resolves packages for browsers by default (docs/start-up.md). */
const CONDITIONS = "testEnvironmentOptions: { customExportConditions: ['node'] }";

export const TEST_RUNNERS = {
  vitest: {
    packages: ['vitest', 'jsdom'],
    files: { 'app.test.js': TEST },
    ways: { node: vitest('node'), jsdom: vitest('jsdom') },
  },
  'vitest-react': {
    packages: ['vitest', 'jsdom', 'react@19', 'react-dom@19', '@react-three/fiber@9'],
    files: { 'app.test.js': REACT_TEST },
    ways: { jsdom: vitest('jsdom') },
  },
  jest: {
    packages: ['jest', 'jest-environment-jsdom'],
    files: { 'app.test.js': TEST, 'for-jsdom.mjs': `export default { testEnvironment: 'jsdom', ${CONDITIONS} };` },
    ways: {
      node: (app) => jest(app, ['--env=node']),
      jsdom: (app) => jest(app, ['--config=for-jsdom.mjs']),
      'jsdom without the line that the error names'(app) {
        try {
          return jest(app, ['--env=jsdom']);
        } catch ({ message }) {
          return message.includes(CONDITIONS) ? ANSWER : message;
        }
      },
    },
  },
};
