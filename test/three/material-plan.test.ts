import { BackSide, BoxGeometry, DoubleSide, FrontSide, MeshBasicMaterial } from 'three';
import { describe, expect, test } from 'vitest';
import { MaterialLook, planStandIns } from '../../src/client/three/track/material-plan.js';

describe('materials in an array look the same', () => {
  const looks = () => [FrontSide, BackSide, DoubleSide].map((side) => new MeshBasicMaterial({ side }));

  test('as long as they are the same, in whatever array', () => {
    const materials = looks();
    const look = new MaterialLook(materials);
    expect(look.equals(materials)).toBe(true);
    expect(look.equals([...materials])).toBe(true);
  });

  test.each<[string, (materials: MeshBasicMaterial[]) => unknown]>([
    ['one of them is another', (materials) => materials.splice(1, 1, materials[1].clone())],
    ['one is shown from another side', (materials) => Object.assign(materials[2], { side: FrontSide })],
    ['one is no longer visible', (materials) => Object.assign(materials[0], { visible: false })],
    ['one is more', (materials) => materials.push(materials[0])],
    ['one is less', (materials) => materials.pop()],
  ])('but not where %s', (_, change) => {
    const materials = looks();
    const look = new MaterialLook(materials);
    change(materials);
    expect(look.equals(materials)).toBe(false);
    expect(look.equals(materials[0])).toBe(false);
  });
});

describe('what stands for an object', () => {
  // three gives a box a group for each of its sides.
  const plan = (sides: (typeof FrontSide | typeof BackSide | typeof DoubleSide)[], hasShape = false) =>
    planStandIns(
      new BoxGeometry(),
      sides.map((side) => new MeshBasicMaterial({ side })),
      hasShape,
    );

  test('is one, where all of its groups show the same side', () => {
    expect(plan([BackSide, BackSide])).toEqual([{ groups: [0, 1], side: 'back', isFaces: false }]);
  });

  test('is the whole and its faces of each side, where they differ', () => {
    const whole = { groups: [0, 1, 2, 3], side: 'double', isFaces: false };
    expect(plan([FrontSide, BackSide, FrontSide, DoubleSide])).toEqual([
      whole,
      { groups: [0, 2], side: 'front', isFaces: true },
      { groups: [1], side: 'back', isFaces: true },
      { groups: [3], side: 'double', isFaces: true },
    ]);
    expect(plan([FrontSide, BackSide, FrontSide, DoubleSide], true)).toEqual([whole]);
  });
});
