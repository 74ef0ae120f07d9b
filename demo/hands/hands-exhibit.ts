import type { SceneFrame, SceneIntersection } from 'collision-worker/three';
import { Box3, Group, type Object3D, type SkinnedMesh, Vector3 } from 'three';
import type { Exhibit } from '../live-page.js';
import { element } from '../panel.js';
import { beat, type Key, Keyboard } from './keyboard.js';
import type { RiggedHand } from './rigged-hand.js';

/** Metres that the fingers rest above the keys, and press into them. */
const [REST_HEIGHT, PRESS_DEPTH] = [0.018, 0.01];
/** Distance of the hands from the middle of the keyboard, and from the front of the keys. */
const [HAND_OFFSET, KEY_INSET] = [0.12, 0.055];

/** Two hands that play, with the bones that touch each key. */
export class HandsExhibit implements Exhibit {
  readonly root = new Group();
  readonly marks: readonly Object3D[] = [];
  readonly keyboard = new Keyboard(3, 3);
  readonly hands: readonly RiggedHand[];
  readonly box: Box3;
  readonly from = new Vector3(0.1, 0.75, 1);
  /** Descriptions of the bones that touch keys. */
  touching: string[] = [];
  #touchedKeys = new Set<Key>();
  #seconds = 0;

  constructor(hands: readonly RiggedHand[]) {
    this.hands = hands;
    this.root.add(this.keyboard.root, ...hands.map(({ root }) => root));
    for (const hand of hands) {
      hand.standOver(0, REST_HEIGHT, PRESS_DEPTH);
      const { x, z } = hand.reach;
      hand.root.position.x += (hand.side === 'right' ? HAND_OFFSET : -HAND_OFFSET) - x;
      hand.root.position.z += -KEY_INSET - z;
    }
    const { width, length } = this.keyboard;
    this.box = new Box3(new Vector3(-width / 2, -0.02, -length), new Vector3(width / 2, 0.06, 0.1));
  }

  pose(seconds: number): void {
    for (const hand of this.hands) {
      for (let finger = 0; finger < hand.fingers; finger++) {
        // Each hand begins with its outer finger.
        const turn = hand.side === 'right' ? finger : hand.fingers - 1 - finger;
        hand.press(finger, beat(seconds, turn, hand.fingers));
      }
    }
    this.keyboard.settle(this.#touchedKeys, Math.abs(seconds - this.#seconds));
    this.#seconds = seconds;
  }

  read(frame: SceneFrame): void {
    // #region code
    const touchedKeys = new Set<Key>();
    const lines: string[] = [];
    for (const hand of this.hands) {
      for (const { b, bones } of frame.contactsBetween(hand.root, this.keyboard.root)) {
        touchedKeys.add(b.object as Key);
        const names = bones.map(({ boneA }) => readableName(boneA!.name));
        lines.push(`${hand.side} ${names.join(', ')} – ${b.object.name}`);
      }
    }
    // #endregion
    this.#touchedKeys = touchedKeys;
    if (lines.join() === this.touching.join()) return;
    this.touching = lines;
    element('touching').replaceChildren(
      ...lines.map((line) => {
        const item = document.createElement('li');
        item.textContent = line;
        return item;
      }),
    );
  }

  nameOf({ object, bone }: SceneIntersection): string {
    const { skeleton } = object as SkinnedMesh;
    return skeleton === undefined
      ? `key ${object.name}`
      : `${object.name}: ${readableName(skeleton.bones[bone!].name)}`;
  }

  detailOf({ distance }: SceneIntersection): string {
    return `${(100 * distance).toFixed(0)} cm away`;
  }

  light(): void {}

  figures(): Record<string, string> {
    const bones = this.hands.reduce((sum, { mesh }) => sum + mesh.skeleton.bones.length, 0);
    return {
      bones: String(bones),
      keys: String(this.keyboard.keys.length),
      'bones on keys': String(this.touching.length),
    };
  }
}

/** Turns 'index-finger-phalanx-distal' into a readable name. */
function readableName(bone: string): string {
  return bone.replace('-finger', '').replace('phalanx-', '').replaceAll('-', ' ');
}
