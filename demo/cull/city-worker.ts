// Plans a city in a worker, since it takes longer than a frame (main.ts).
import { planCity } from './city-plan.js';

addEventListener('message', ({ data }: MessageEvent<Parameters<typeof planCity>[0]>) => {
  const plan = planCity(data);
  const arrays = [plan.buildings, plan.cars].flatMap(({ matrices, colors }) => [matrices.buffer, colors.buffer]);
  postMessage(plan, { transfer: arrays });
});
