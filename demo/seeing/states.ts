/** How a target stands to the guard's field of view. */
export const STATES = {
  inside: { title: 'wholly in the field of view, seen', color: 0xff5a4d },
  crossing: { title: 'crossing its edge, seen', color: 0xffb13d },
  hidden: { title: 'in or crossing it, hidden', color: 0x5f86ff },
  outside: { title: 'out of it', color: 0x6d7889 },
} as const;

export type State = keyof typeof STATES;

export function stateOf(isInside: boolean, isCrossing: boolean, isSeen: boolean): State {
  if (!isInside && !isCrossing) return 'outside';
  if (!isSeen) return 'hidden';
  return isInside ? 'inside' : 'crossing';
}
