import type { Character, CharacterState, CharacterTouch } from 'collision-worker';
import type { Actor } from './actor.js';
import type { Point } from './solids.js';

const MAX_CHARACTERS = 6;
const RADIUS = 0.3;

export const CHARACTER_STEPS = {
  'add a character': add,
  'walk with a character': walk,
  'put a character': teleport,
  'look at characters': checkStates,
  'remove a character': remove,
};

function add(actor: Actor): void {
  const { random, service, characters } = actor;
  if (characters.size >= MAX_CHARACTERS) return;
  const character = service.createCharacter({
    shape: { type: 'capsule', radius: RADIUS, from: [0, RADIUS, 0], to: [0, 1.5, 0] },
    position: random.point(6).toArray() as Point,
    layers: random.pick([1, 2, 3, 0xffffffff]),
    ignore: actor.ids(random.integer(2)),
  });
  characters.set(character, undefined);
}

function randomCharacter({ random, characters }: Actor): Character | undefined {
  return characters.size > 0 ? random.pick([...characters.keys()]) : undefined;
}

function walk(actor: Actor): void {
  const { random } = actor;
  const character = randomCharacter(actor);
  const velocity = random.point(1).toArray() as Point;
  if (random.chance(0.2)) character?.move(velocity);
  else character?.advance(velocity, random.range(0, 0.1));
  if (random.chance(0.1)) character?.jump(3);
}

function teleport(actor: Actor): void {
  const character = randomCharacter(actor);
  character?.set({ position: actor.random.point(6).toArray() as Point });
  if (character) actor.characters.set(character, undefined);
}

function remove(actor: Actor): void {
  const character = randomCharacter(actor);
  character?.remove();
  if (character) actor.characters.delete(character);
}

/**
 * Every frame reports the characters' states: they must be plausible, and must neither go back nor start over after a lost
 * worker.
 */
function checkStates(actor: Actor): void {
  for (const [character, lastState] of actor.characters) {
    const { state } = character;
    const fault = faultOf(state, lastState, (id) => actor.life.hasSeen(id));
    if (fault) actor.life.blame(`character.state is wrong, ${fault}: ${JSON.stringify(state)}`);
    actor.characters.set(character, state);
  }
}

function faultOf(
  state: CharacterState,
  lastState: CharacterState | undefined,
  isKnown: (id: number) => boolean,
): string {
  const { position, interpolated, speed, depth, ground, touches, steps, frame, isStanding } = state;
  if (![...position, ...interpolated, speed, depth].every(Number.isFinite)) return 'a number is not finite';
  if (depth < 0) return 'its depth is below 0';
  if (isStanding && !ground) return 'it stands on nothing';
  if (touches.length > 8) return 'there are more than eight touches';
  for (const touch of ground ? [...touches, ground] : touches) {
    const fault = faultOfTouch(touch, position, isKnown);
    if (fault) return fault;
  }
  if (!lastState) return '';
  if (frame < lastState.frame) return `it was of frame ${lastState.frame}`;
  if (steps < lastState.steps) return `it had made ${lastState.steps} steps`;
  return frame === lastState.frame && position.some((coordinate, i) => coordinate !== lastState.position[i])
    ? 'it moved in one frame'
    : '';
}

/** A character touches no object farther away than its own size; if it is pushed, the object that pushes it is reported, too. */
function faultOfTouch({ object, point, normal }: CharacterTouch, position: Point, isKnown: (id: number) => boolean) {
  if (!isKnown(object)) return `there was no object ${object}`;
  if (![...point, ...normal].every(Number.isFinite)) return 'a touch is not finite';
  if (Math.abs(Math.hypot(...normal) - 1) > 1e-6) return 'a normal has no unit length';
  return Math.hypot(...point.map((coordinate, i) => coordinate - position[i])) > 100 ? 'a touch is far away' : '';
}
