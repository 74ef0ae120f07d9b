// Runs a contender in its own process, which prepares the row itself and answers requests one by one.
import { type ChildProcess, fork } from 'node:child_process';
import {
  type Answer,
  type AnyContender,
  type Checksum,
  collectGarbage,
  type Milliseconds,
  milliseconds,
  type SelfTimedContender,
} from './harness.js';
import { FULL, rowsOf } from './rows/index.js';

type Description = Omit<SelfTimedContender, 'measure' | 'checksum' | 'answer' | 'close' | 'before'> & {
  has: { checksum: boolean; answer: boolean };
};

type PeerRequest = { type: 'measure'; round: number } | { type: 'checksum'; part: number } | { type: 'answer' };
type Reply = { value: Description | Milliseconds | Checksum | Answer } | { error: string };

/** Starts `script`, which calls `servePeer`, for one contender of a row. */
export async function startPeer(script: string, row: string, index: number): Promise<SelfTimedContender> {
  const child = fork(script, [row, String(index)], {
    serialization: 'advanced',
    execArgv: ['--expose-gc', '--no-flush-bytecode'],
  });
  const { has, ...description } = await nextReply<Description>(child);
  const sendRequest = <Value>(request: PeerRequest): Promise<Value> => {
    child.send(request);
    return nextReply<Value>(child);
  };
  return {
    ...description,
    measure: (round) => sendRequest({ type: 'measure', round }),
    ...(has.checksum ? { checksum: (part: number) => sendRequest<Checksum>({ type: 'checksum', part }) } : {}),
    ...(has.answer ? { answer: () => sendRequest<Answer>({ type: 'answer' }) } : {}),
    close: () => child.kill(),
  };
}

/** Makes the contender that the arguments name, and serves it until the process is terminated. */
export async function servePeer(row: string, index: number): Promise<void> {
  const send = (message: Reply) => process.send!(message);
  try {
    const { contenders } = await rowsOf(FULL)
      .find(({ name }) => name === row)!
      .prepare({ native: false });
    const contender = await contenders[index].make();
    const { name, note, part, tolerance, target, checksum, answer } = contender;
    const has = { checksum: checksum !== undefined, answer: answer !== undefined };
    process.on('message', (request: PeerRequest) => {
      Promise.resolve(handleRequest(contender, request)).then(
        (value) => send({ value }),
        (error) => send({ error: String(error) }),
      );
    });
    send({ value: withoutUndefined({ name, note, part, tolerance, target, has }) as Description });
  } catch (error) {
    send({ error: String(error) });
  }
}

function handleRequest(contender: AnyContender, request: PeerRequest) {
  if (request.type === 'checksum') return contender.checksum!(request.part);
  if (request.type === 'answer') return contender.answer!();
  contender.before?.();
  collectGarbage('major');
  return milliseconds(contender, request.round);
}

/** Resolves with the next message of the process. Rejects when it ends. */
function nextReply<Value>(child: ChildProcess): Promise<Value> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null) => reject(new Error(`a contender's process ended with ${code}`));
    child.once('exit', onExit);
    child.once('message', (message: Reply) => {
      child.off('exit', onExit);
      if ('error' in message) reject(new Error(message.error));
      else resolve(message.value as Value);
    });
  });
}

function withoutUndefined(object: object): object {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}
