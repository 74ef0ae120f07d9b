// Each of many picks with `latest` searched all waiting calls, and so did each update(): with 20,000 in one task, the picks
// blocked the main thread for 50 s, and picks and updates in alternation for 17.
import { expect, test } from 'vitest';
import { FramePump } from '../../src/client/frame/frame-pump.js';
import { ViewTable } from '../../src/client/frame/view-table.js';
import type { Deferred } from '../../src/client/link/worker-link.js';
import { LatestTurn } from '../../src/client/query/latest-turn.js';
import { ReplayLog } from '../../src/client/transforms/replay-log.js';
import { TransformTable } from '../../src/client/transforms/transform-table.js';

const MANY = 1000;

test('picks with `latest` that wait are looked at once, and all have the answer of the newest', async () => {
  let looks = 0;
  const turn = new LatestTurn<number>('pick');
  const ready: (() => void)[] = [];
  const asked: number[] = [];
  const answers = Array.from({ length: MANY }, (_, i) => {
    const answer = deferred(() => looks++);
    const ask = async () => {
      asked.push(i);
      answer.resolve(i);
      return true;
    };
    turn.add(answer, ask, (call) => ready.push(call));
    return answer.promise;
  });
  for (const call of ready) call();
  expect(new Set(await Promise.all(answers))).toEqual(new Set([MANY - 1]));
  expect(asked).toEqual([MANY - 1]);
  expect(looks).toBeLessThan(5 * MANY);
});

function deferred(onLook: () => void): Deferred<number> {
  let settle!: (value: number) => void;
  const promise = new Promise<number>((resolve) => {
    settle = resolve;
  });
  return {
    ...{ promise, mayAskAgain: true, resolve: settle, reject: () => {} },
    get settled() {
      onLook();
      return false;
    },
  };
}

test('what stays behind a frame that waits is looked at once, however often that is joined', () => {
  let looks = 0;
  const table = new TransformTable();
  const link = { life: 1, post: () => {}, defer: () => ({ promise: Promise.resolve() }) };
  const pump = new FramePump(link as never, 0, new ViewTable(), new ReplayLog(table, true), table);
  pump.update();
  for (let i = 0; i < MANY; i++) {
    pump.update();
    pump.enqueue({
      mesh: i,
      get type() {
        looks++;
        return 'removeMesh' as const;
      },
    });
  }
  expect(looks).toBeLessThan(5 * MANY);
});
