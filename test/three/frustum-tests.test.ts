// Which pass answers the tests of three's frusta, also if other code replaces these tests during a pass.
import { BoxGeometry, Frustum, Matrix4, Mesh, type Object3D, OrthographicCamera } from 'three';
import { expect, onTestFinished, test } from 'vitest';
import { enterPass, leavePass, type RenderPass } from '../../src/client/three/culling/frustum-tests.js';

const camera = new OrthographicCamera(-2, 2, 2, -2, -2, 2);
const frustum = new Frustum().setFromProjectionMatrix(
  new Matrix4().multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse),
);

/** A pass that culls some objects for its own frustum, and has replaced others, which are drawn in all other frusta. */
function passOf(
  own: Frustum,
  leftOut: Object3D[],
  replaced: Object3D[] = [],
  replacements: Object3D[] = [],
): RenderPass & { asked: number } {
  return {
    asked: 0,
    isOf: (each) => each === own,
    isOwn: (object) => (replacements.includes(object) ? true : replaced.includes(object) ? false : undefined),
    isLeftOut(object) {
      this.asked++;
      return leftOut.includes(object) || replaced.includes(object);
    },
  };
}

function cube(x = 0): Mesh {
  const mesh = new Mesh(new BoxGeometry());
  mesh.position.x = x;
  mesh.updateMatrixWorld();
  return mesh;
}

test('what any pass of a frustum leaves out is not drawn by it, and all else as before', () => {
  const [seen, left, alsoLeft, outside, replaced] = [cube(), cube(), cube(), cube(9), cube(9)];
  const replacement = cube(9);
  const other = frustum.clone();
  const passes = [
    passOf(frustum, [left], [replaced], [replacement]),
    passOf(frustum, [alsoLeft]),
    passOf(other, [seen]),
  ];
  const original = Frustum.prototype.intersectsObject;
  const objects = [seen, left, alsoLeft, outside, replaced, replacement];
  const answers = (of: Frustum) => objects.map((object) => of.intersectsObject(object));
  for (const pass of passes) enterPass(pass);
  expect(answers(frustum)).toEqual([true, false, false, false, false, true]);
  expect(answers(other)).toEqual([false, true, true, false, true, true]);
  expect(answers(frustum.clone())).toEqual([true, true, true, false, true, false]);
  leavePass(passes[0]);
  expect(answers(frustum)).toEqual([true, true, false, false, false, false]);
  leavePass(passes[2]);
  leavePass(passes[1]);
  leavePass(passes[1]);
  expect(Frustum.prototype.intersectsObject).toBe(original);
  expect(answers(frustum)).toEqual([true, true, true, false, false, false]);
});

test('who replaces the tests while a pass is under way keeps what it has put there, in all passes to come', () => {
  const { prototype } = Frustum;
  const original = prototype.intersectsObject;
  onTestFinished(() => {
    prototype.intersectsObject = original;
  });
  const left = cube();
  let calls = 0;
  for (let round = 1; round <= 3; round++) {
    const pass = passOf(frustum, [left]);
    enterPass(pass);
    const before = prototype.intersectsObject;
    const wrapper = function (this: Frustum, object: Object3D): boolean {
      calls++;
      return before.call(this, object);
    };
    prototype.intersectsObject = wrapper;
    calls = 0;
    expect(frustum.intersectsObject(left)).toBe(false);
    expect(calls).toBe(round); // those of earlier rounds, too
    leavePass(pass);
    expect(prototype.intersectsObject).toBe(wrapper);
    pass.asked = 0;
    expect(frustum.intersectsObject(left)).toBe(true);
    expect(pass.asked).toBe(0);
  }
});
