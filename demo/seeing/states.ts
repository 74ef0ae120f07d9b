/** Visibility states of a target in the guard's view. */
export const STATES = {
  inside: { title: 'wholly in it, and seen', color: 0xff5a4d },
  crossing: { title: 'crossing its edge, and seen', color: 0xffb13d },
  hidden: { title: 'in it or crossing, not seen', color: 0x5f86ff },
  outside: { title: 'out of it', color: 0x6d7889 },
} as const;

export type State = keyof typeof STATES;

export function stateOf(isInside: boolean, isCrossing: boolean, isSeen: boolean): State {
  if (!isInside && !isCrossing) return 'outside';
  if (!isSeen) return 'hidden';
  return isInside ? 'inside' : 'crossing';
}
