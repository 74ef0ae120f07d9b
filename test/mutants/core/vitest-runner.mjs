// Runs test files one at a time in a Vitest that stays, as told by messages of the process that forked this one:
// { file } in, { passed, milliseconds, processorMs } out. It is killed and started anew where a mutant hangs.
import { createVitest } from 'vitest/node';

const [root] = process.argv.slice(2);
process.chdir(root);
const vitest = await createVitest('test', {
  root,
  watch: false,
  project: ['node'],
  bail: 1,
  maxWorkers: 1,
  reporters: [{}],
  onConsoleLog: () => false,
});

process.on('message', async ({ file }) => {
  const begin = performance.now();
  vitest.state.filesMap.clear();
  vitest.state.errorsSet.clear();
  await vitest.start([file]);
  const files = vitest.state.getFiles();
  const passed = files.length > 0 && files.every(({ result }) => result?.state === 'pass');
  process.exitCode = undefined;
  // Its forks take time that this process knows nothing of.
  const milliseconds = performance.now() - begin;
  process.send({
    passed: passed && vitest.state.errorsSet.size === 0,
    milliseconds,
    processorMs: milliseconds,
    failure: failureOf(files),
  });
});
process.send({ ready: true });

/** The names of what failed first, and why. */
function failureOf(tasks) {
  for (const { name, result, tasks: below } of tasks) {
    if (result?.state !== 'fail') continue;
    const deeper = below && failureOf(below);
    return deeper ? `${name} > ${deeper}` : `${name}: ${result.errors?.[0]?.message?.split('\n')[0]}`;
  }
  return undefined;
}
