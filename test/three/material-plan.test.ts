import { BackSide, BoxGeometry, DoubleSide, FrontSide, MeshBasicMaterial } from 'three';
import { describe, expect, test } from 'vitest';
import { MaterialsSnapshot, planStandIn, sidesOfRuns } from '../../src/client/three/track/material-plan.js';

describe('materials in an array look the same', () => {
  const looks = () => [FrontSide, BackSide, DoubleSide].map((side) => new MeshBasicMaterial({ side }));

  test('as long as they are the same, in whatever array', () => {
    const materials = looks();
    const geometry = new BoxGeometry();
    const look = new MaterialsSnapshot(materials, geometry);
    expect(look.equals(materials, geometry)).toBe(true);
    expect(look.equals([...materials], geometry)).toBe(true);
  });

  test.each<[string, (materials: MeshBasicMaterial[], geometry: BoxGeometry) => unknown]>([
    ['one of them is another', (materials) => materials.splice(1, 1, materials[1].clone())],
    ['one is shown from another side', (materials) => Object.assign(materials[2], { side: FrontSide })],
    ['one is no longer visible', (materials) => Object.assign(materials[0], { visible: false })],
    ['one is more', (materials) => materials.push(materials[0])],
    ['one is less', (materials) => materials.pop()],
    ['there is a group more', (_, geometry) => geometry.addGroup(0, 3, 1)],
    ['there is a group less', (_, { groups }) => groups.pop()],
    ['a group has another one', (_, { groups }) => Object.assign(groups[3], { materialIndex: 1 })],
  ])('but not where %s', (_, change) => {
    const materials = looks();
    const geometry = new BoxGeometry();
    const look = new MaterialsSnapshot(materials, geometry);
    change(materials, geometry);
    expect(look.equals(materials, geometry)).toBe(false);
    expect(look.equals(materials[0], geometry)).toBe(false);
  });
});

describe('what stands for an object', () => {
  // three gives a box a group for each of its sides.
  const plan = (...sides: (typeof FrontSide | typeof BackSide | typeof DoubleSide)[]) =>
    planStandIn(
      new BoxGeometry(),
      sides.map((side) => new MeshBasicMaterial({ side })),
    );

  test('has one side, where all of its groups show the same', () => {
    expect(plan(BackSide, BackSide)).toEqual({ groups: [0, 1], side: 'back', sides: ['back', 'back'] });
  });

  test('has those of its materials, where they differ', () => {
    const mixed = plan(FrontSide, BackSide, FrontSide, DoubleSide);
    expect(mixed).toEqual({ groups: [0, 1, 2, 3], side: 'double', sides: ['front', 'back', 'front', 'double'] });
    const runs = [
      { start: 6, end: 12, materialIndex: 1 },
      { start: 0, end: 3, materialIndex: 3 },
      { start: 12, end: 18, materialIndex: 0 },
    ];
    expect(sidesOfRuns(mixed, runs)).toEqual({
      side: 'double',
      faceSides: [
        { start: 0, count: 2, side: 'back' },
        { start: 2, count: 1, side: 'double' },
        { start: 3, count: 2, side: 'front' },
      ],
    });
    expect(sidesOfRuns(mixed, runs.slice(0, 1))).toEqual({ side: 'back', faceSides: null });
  });
});
