// Runs a contender in its own process, which prepares the row itself and answers requests one by one.
import { type ChildProcess, fork } from 'node:child_process';
import {
  type Answer,
  type AnyContender,
  type Checksum,
  type ContenderElsewhere,
  collectGarbage,
  type Milliseconds,
  milliseconds,
} from './harness.js';
import { FULL, rowsOf } from './rows/index.js';

type Description = Omit<ContenderElsewhere, 'measure' | 'checksum' | 'answer' | 'close' | 'before'> & {
  has: { checksum: boolean; answer: boolean };
};

type Question = { type: 'measure'; round: number } | { type: 'checksum'; part: number } | { type: 'answer' };
type Reply = { value: Description | Milliseconds | Checksum | Answer } | { error: string };

/** Starts `script`, which calls `servePeer`, for one contender of a row. */
export async function startPeer(script: string, row: string, index: number): Promise<ContenderElsewhere> {
  const child = fork(script, [row, String(index)], {
    serialization: 'advanced',
    execArgv: ['--expose-gc', '--no-flush-bytecode'],
  });
  const { has, ...description } = await reply<Description>(child);
  const ask = <Value>(question: Question): Promise<Value> => {
    child.send(question);
    return reply<Value>(child);
  };
  return {
    ...description,
    measure: (round) => ask({ type: 'measure', round }),
    ...(has.checksum ? { checksum: (part: number) => ask<Checksum>({ type: 'checksum', part }) } : {}),
    ...(has.answer ? { answer: () => ask<Answer>({ type: 'answer' }) } : {}),
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
    process.on('message', (question: Question) => {
      Promise.resolve(answerTo(contender, question)).then(
        (value) => send({ value }),
        (error) => send({ error: String(error) }),
      );
    });
    send({ value: defined({ name, note, part, tolerance, target, has }) as Description });
  } catch (error) {
    send({ error: String(error) });
  }
}

function answerTo(contender: AnyContender, question: Question) {
  if (question.type === 'checksum') return contender.checksum!(question.part);
  if (question.type === 'answer') return contender.answer!();
  contender.before?.();
  collectGarbage('major');
  return milliseconds(contender, question.round);
}

/** Resolves with the next message of the process. Rejects when it ends. */
function reply<Value>(child: ChildProcess): Promise<Value> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null) => reject(new Error(`a contender's process ended with ${code}`));
    child.once('exit', ended);
    child.once('message', (message: Reply) => {
      child.off('exit', ended);
      if ('error' in message) reject(new Error(message.error));
      else resolve(message.value as Value);
    });
  });
}

function defined(object: object): object {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}
