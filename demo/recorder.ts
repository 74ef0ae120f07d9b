import type { Demo } from './demo.js';
import type { FrameCost } from './meter.js';

/** Measurements of a run, frame by frame. */
export interface Recording {
  objects: number;
  triangles: number;
  costs: FrameCost[];
  visible: number[];
  pairs: number[];
  workerMs: number[];
  picks: { asked: number; answered: number; hits: number; latencies: number[]; names: string[] };
}

/** Runs the demo for `frames` frames with one pick on each, and records them. */
export async function record(demo: Demo, frames: number): Promise<Recording> {
  demo.tour.end();
  demo.use('worker');
  const { outcome } = demo.engine;
  const { size } = demo.stage.viewer;
  const costs: FrameCost[] = [];
  const recording: Recording = {
    objects: demo.world.boxes.count + demo.world.dragons.length,
    triangles: demo.world.triangles,
    costs,
    visible: [],
    pairs: [],
    workerMs: [],
    picks: { asked: 0, answered: 0, hits: 0, latencies: [], names: [] },
  };
  const { picks } = recording;
  const answers: Promise<void>[] = [];
  const names = new Set<string>();

  const pick = async (x: number, y: number): Promise<void> => {
    const start = performance.now();
    picks.asked++;
    const hit = await demo.pick(x, y);
    picks.answered++;
    picks.latencies.push(performance.now() - start);
    if (hit === null) return;
    picks.hits++;
    names.add(hit.object.name);
  };

  await new Promise<void>((resolve) => {
    let frame = 0;
    demo.onFrame = () => {
      // Frames of the warm-up are discarded.
      const { last } = demo.meter;
      if (last === undefined) return;
      // The cost of a frame is complete once the next one has begun.
      if (frame > 0) {
        costs.push(last);
        recording.visible.push(outcome.visibleObjects);
        recording.pairs.push(outcome.pairs);
        recording.workerMs.push(outcome.workerMs);
      }
      if (frame === frames) {
        demo.onFrame = null;
        resolve();
        return;
      }
      // A figure of eight over the middle of the picture.
      const angle = (2 * Math.PI * frame) / frames;
      answers.push(
        pick(size.width * (0.5 + 0.3 * Math.sin(3 * angle)), size.height * (0.5 + 0.25 * Math.sin(7 * angle))),
      );
      frame++;
    };
  });
  await Promise.all(answers);
  picks.names = [...names];
  return recording;
}
