import {
  type Checksum,
  type ContenderFactory,
  inThisProcess,
  type Milliseconds,
  type SelfTimedContender,
} from '../harness.js';
import { OURS } from '../ours.js';

export interface PageRowOptions {
  name: string;
  work: string;
  count: number;
  rounds?: number;
  /** Target for our time, if any. */
  ms?: number;
  peers: Record<string, Pick<SelfTimedContender, 'target' | 'note' | 'tolerance'>>;
  /** Targets of facts, by name. */
  atMost?: Record<string, number>;
  /** See `Row`. */
  isLarge?: boolean;
}

/** The page's side of a row. */
export interface PageWork {
  /** Names of the contenders that have a checksum. */
  has: readonly string[];
  measure(contender: string, round: number): Promise<Milliseconds>;
  checksum(contender: string): Promise<Checksum>;
}

/** Makes the contenders of a row that is measured in a page. */
export function pageContenders(
  { peers, ms }: PageRowOptions,
  { has, measure, checksum }: PageWork,
): [ContenderFactory, ...ContenderFactory[]] {
  const [ours, ...others] = ['ours', ...Object.keys(peers)].map((contender): ContenderFactory => {
    const pageContender: SelfTimedContender = {
      name: contender === 'ours' ? OURS : contender,
      ...peers[contender],
      ...(contender === 'ours' && ms !== undefined ? { atMost: ms } : {}),
      measure: (round) => measure(contender, round),
      ...(has.includes(contender) ? { checksum: () => checksum(contender) } : {}),
    };
    return inThisProcess(() => pageContender);
  });
  return [ours, ...others];
}
