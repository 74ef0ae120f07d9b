// Flights through six scenes, with culling and with occlusion: no value of an image
// differs from what three draws on its own. FLIGHT=1000 npx vitest run --project browser
// test/three/culling-flights.browser.test.ts: this many frames each, instead of a few.
import { type CollisionService, createCollisionService } from 'collision-worker';
import { WebGLRenderer } from 'three';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FLIGHT_SCENES } from '../fixtures/flight-scenes.js';
import { compareCulling, flyAndCompare, PICTURE } from '../fixtures/flights.js';
import { Random, SEED } from '../oracle/random.js';

const WISHED = Number(import.meta.env.FLIGHT || 0);
/** By default, a bit of each kind of motion. */
const FRAMES = WISHED || 30;
/** Milliseconds that a frame may take on a busy machine with a software renderer. */
const PATIENCE = 3000;

let service: CollisionService;
let renderer: WebGLRenderer;
beforeEach(async () => {
  service = await createCollisionService();
  renderer = new WebGLRenderer({ antialias: false });
  renderer.setSize(PICTURE.width, PICTURE.height);
});
afterEach(() => {
  service.dispose();
  renderer.dispose();
  renderer.forceContextLoss();
});

/** What is culled without occlusion is also culled with it. */
const KINDS = WISHED > 0 ? [true, false] : [true];
const CASES = KINDS.flatMap((occlusion) => Object.keys(FLIGHT_SCENES).map((name) => ({ name, occlusion })));

test.each(CASES)(
  `$name, with occlusion: $occlusion, ${FRAMES} frames, seed ${SEED}`,
  async ({ name, occlusion }) => {
    const random = new Random(SEED);
    const { scene, camera, second, fly, step } = FLIGHT_SCENES[name](random, renderer);
    const sum = await flyAndCompare(random, {
      ...{ service, painter: renderer, scene, camera, frames: FRAMES },
      options: { culling: { occlusion } },
      // Short flights have all phases of a long one.
      fly: (eye, frame) => fly(eye, WISHED > 0 ? frame : Math.floor((frame * 100) / FRAMES)),
      step: (frame, tracker) => {
        step?.(frame, tracker);
        if (second === undefined) return;
        const view = second(frame);
        if (frame > 0) expect([frame, compareCulling(renderer, scene, view).count]).toEqual([frame, 0]);
        tracker.setView(view, PICTURE, 'second');
      },
    });
    if (occlusion) expect(sum.occluded).toBeGreaterThan(0);
    // In the rooms, little is out of view that three itself does not cull.
    expect(sum.objects + sum.instances).toBeGreaterThan(occlusion ? FRAMES : FRAMES / 2);
    const each = (count: number) => (count / FRAMES).toFixed(1);
    console.log(
      `${name}, occlusion ${occlusion}: of a picture ${each(sum.objects)} Meshes, ${each(sum.instances)} instances ` +
        `and ${each(sum.triangles)} triangles were left out, ${each(sum.occluded)} of them hidden`,
    );
  },
  Math.max(60_000, FRAMES * PATIENCE),
);
