import { BOX_NUMBERS, type PackedBoxes } from '../../shared/baked-boxes.js';
import { CollisionError } from '../../shared/errors.js';
import { areEqual } from '../../shared/typed-arrays.js';
import type { MeshInfo, NamedBox } from '../../shared/types.js';
import { checkNumbers, checkVec3, guardRead, readOptions, throwInvalid } from '../check/validate.js';

export type Boxes = readonly Required<NamedBox>[];

const KEYS = ['name', 'center', 'halfExtents', 'rotation'];
const MAX_BOXES = 256;
const MAX_NAME_LENGTH = 256;
export const NO_BOXES: Boxes = Object.freeze([]);

const packedBoxes = new WeakMap<Boxes, PackedBoxes>();

/** Checks boxes and completes them; the returned list is a copy of ours. */
export function checkBoxes(operation: string, argument: string, value: unknown): Boxes {
  return guardRead(operation, argument, () => {
    if (!Array.isArray(value)) throwInvalid(operation, argument, value, 'an array of boxes');
    const count = value.length;
    if (count > MAX_BOXES) throwInvalid(operation, `the length of ${argument}`, count, `at most ${MAX_BOXES}`);
    if (count === 0) return NO_BOXES;
    const names = new Set<string>();
    const boxes: Required<NamedBox>[] = [];
    for (let i = 0; i < count; i++) {
      const box = checkBox(operation, `${argument}[${i}]`, value[i]);
      if (names.has(box.name))
        throwInvalid(operation, `${argument}[${i}].name`, box.name, 'a name that no other box has');
      names.add(box.name);
      boxes.push(box);
    }
    return Object.freeze(boxes);
  });
}

function checkBox(operation: string, argument: string, value: unknown): Required<NamedBox> {
  const { name, center, halfExtents, rotation } = readOptions(operation, argument, value as NamedBox, KEYS);
  if (typeof name !== 'string' || name.length === 0 || name.length > MAX_NAME_LENGTH) {
    throwInvalid(operation, `${argument}.name`, name, `a string of 1 to ${MAX_NAME_LENGTH} characters`);
  }
  const half = checkVec3(operation, `${argument}.halfExtents`, halfExtents);
  if (!half.every((each) => each >= 0))
    throwInvalid(operation, `${argument}.halfExtents`, halfExtents, 'three numbers >= 0');
  return Object.freeze({
    name,
    center: center === undefined ? [0, 0, 0] : checkVec3(operation, `${argument}.center`, center),
    halfExtents: half,
    rotation: rotation === undefined ? [0, 0, 0, 1] : checkRotation(operation, `${argument}.rotation`, rotation),
  } as Required<NamedBox>);
}

/** Checks a unit quaternion xyzw. */
export function checkRotation(operation: string, argument: string, value: unknown): readonly number[] {
  const rotation = checkNumbers(operation, argument, value, 4);
  const length = Math.hypot(...rotation);
  // Unit within the precision of float32; the remaining error is divided out.
  if (!(Math.abs(length - 1) < 1e-5)) throwInvalid(operation, argument, value, 'a unit quaternion xyzw');
  return rotation.map((each) => each / length);
}

/** Checks that boxes can stand for a mesh. */
export function checkBoxable(
  operation: string,
  value: unknown,
  { topology, bones, morphs }: Pick<MeshInfo, 'topology' | 'bones' | 'morphs'>,
): void {
  if (topology !== 'triangles') throwInvalid(operation, 'boxes', value, `none for a mesh of ${topology}`);
  if (bones + morphs > 0) throwInvalid(operation, 'boxes', value, 'none for a mesh that bones or morph targets move');
}

/** Packs boxes that were checked; undefined if there are none. The same list is packed once. */
export function packBoxes(boxes: Boxes): PackedBoxes | undefined {
  if (boxes.length === 0) return undefined;
  let pack = packedBoxes.get(boxes);
  if (!pack) {
    const records = boxes.flatMap(({ center, halfExtents, rotation }) => [...center, ...halfExtents, ...rotation]);
    pack = { names: boxes.map(({ name }) => name), records: Float64Array.from(records) };
    packedBoxes.set(boxes, pack);
  }
  return pack;
}

/** Unpacks boxes and checks them, since somebody else may have written them. Throws BAD_DATA. */
export function unpackBoxes(operation: string, pack: PackedBoxes | null): Boxes {
  const damaged = 'the boxes that are baked with the mesh were changed';
  if (!pack) throw new CollisionError('BAD_DATA', `${operation}: ${damaged}`);
  try {
    return checkBoxes(operation, 'boxes', boxesOf(pack));
  } catch (cause) {
    throw new CollisionError('BAD_DATA', `${operation}: ${damaged}: ${(cause as Error).message}`, { cause });
  }
}

function boxesOf({ names, records }: PackedBoxes): NamedBox[] {
  return names.map((name, i) => {
    const [cx, cy, cz, hx, hy, hz, x, y, z, w] = records.subarray(BOX_NUMBERS * i, BOX_NUMBERS * (i + 1));
    return { name, center: [cx, cy, cz], halfExtents: [hx, hy, hz], rotation: [x, y, z, w] };
  });
}

/** Returns the boxes of a tree, named by numbers. */
export function numberedBoxes(records: Float64Array): NamedBox[] {
  const names = Array.from({ length: records.length / BOX_NUMBERS }, (_, i) => `box ${i + 1}`);
  return boxesOf({ names, records });
}

export function areSameBoxes(a: PackedBoxes | undefined, b: PackedBoxes | undefined): boolean {
  if (a === b) return true;
  if (!a || !b || !areEqual(a.records, b.records)) return false;
  return a.names.every((name, i) => name === b.names[i]);
}
