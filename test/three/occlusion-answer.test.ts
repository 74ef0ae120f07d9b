// How long an answer of the service about occluded objects stays valid: with objects that declare their state.
import {
  BoxGeometry,
  Frustum,
  Group,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  OrthographicCamera,
  PerspectiveCamera,
  Scene,
} from 'three';
import { beforeEach, describe, expect, test } from 'vitest';
import { OcclusionAnswer } from '../../src/client/three/culling/occlusion-answer.js';
import { makeId, slotOf } from '../../src/shared/ids.js';

const LAYERS = 1;
const [WALL, HIDDEN] = [makeId(1, 1), makeId(2, 1)];

/** An object as the tracker has it; with one id, unless it has instances. */
class Owner {
  isInstanced = false;
  cullable = false;
  occluder: boolean | undefined = undefined;
  drawn: Mesh | undefined = undefined;
  /** The newest update that has seen it with its current triangles or instances. */
  seen = Number.POSITIVE_INFINITY;
  readonly object: Mesh;
  id: number;

  constructor(object: Mesh, id: number) {
    this.object = object;
    this.id = id;
  }

  idAt(): number {
    return this.id;
  }

  onMeshChange(): void {
    told.push('it is another');
  }

  wasSeenInShape(update: number, layers: number): boolean {
    return !this.isInstanced && layers === LAYERS && update <= this.seen;
  }

  wasSeenAsItIs(update: number, layers: number): boolean {
    return this.isInstanced && layers === LAYERS && update <= this.seen;
  }
}

let [scene, group] = [new Scene(), new Group()];
let [wall, hidden] = [new Owner(new Mesh(), WALL), new Owner(new Mesh(), HIDDEN)];
let camera: PerspectiveCamera | OrthographicCamera = new PerspectiveCamera();
let view = viewOf(camera);
let answer = new OcclusionAnswer();
/** What the service was sent, and which objects it was asked about. */
let told: unknown[] = [];
let asked: number[] = [];
/** The transforms in the service. */
let places = new Map<number, readonly number[]>();
let levels: object | null = null;

const service = {
  isPlacedAs(id: number, matrix: ArrayLike<number>): boolean {
    asked.push(id);
    return places.get(id)?.every((each, i) => each === matrix[i]) === true;
  },
  setObject: (...args: unknown[]) => told.push(args),
};

function viewOf(of: PerspectiveCamera | OrthographicCamera, occlusionMargin?: number) {
  of.updateMatrixWorld();
  const [projection, view] = [[...of.projectionMatrix.elements], [...of.matrixWorldInverse.elements]];
  return { layers: LAYERS, options: { projection, view, occlusionMargin } };
}

/** Sends all transforms to the service and queries it, as the update of that number. */
function ask(update: number): void {
  scene.updateMatrixWorld();
  for (const { id, object } of [wall, hidden]) places.set(id, [...object.matrixWorld.elements]);
  answer.ask(update, service as never);
}

/** Takes an answer. For an object with instances, it names these. */
function take(occluders = [WALL], occluded = [HIDDEN], instances = [0]): void {
  const objects = {
    forEach(ids: number[], each: (owner: Owner, index: number, slot: number) => void) {
      for (const id of ids) {
        const owner = id === WALL ? wall : hidden;
        for (const index of owner.isInstanced ? instances : [0]) each(owner, index, slotOf(id));
      }
    },
    idOf: (slot: number) => makeId(slot, 1),
  };
  answer.set({ occluders, occluded } as never, objects as never);
}

function holds(update = 1): boolean {
  camera.updateMatrixWorld();
  const { projectionMatrix, matrixWorldInverse } = camera;
  const frustum = new Frustum().setFromProjectionMatrix(
    new Matrix4().multiplyMatrices(projectionMatrix, matrixWorldInverse),
  );
  return answer.holds(
    camera,
    { frustum } as never,
    scene,
    update,
    view as never,
    service as never,
    { levelsOf: () => levels } as never,
  );
}

const hides = (update = 1, layers = LAYERS, mesh = hidden.object) =>
  answer.hides(hidden as never, mesh, update, layers);

beforeEach(() => {
  scene = new Scene();
  group = new Group();
  camera = new PerspectiveCamera(60, 1, 0.1, 100);
  camera.position.set(0, 0, 10);
  view = viewOf(camera);
  const make = (z: number) => new Mesh(new BoxGeometry(), new MeshBasicMaterial()).translateZ(z);
  wall = new Owner(make(2), WALL);
  hidden = new Owner(make(-2), HIDDEN);
  scene.add(group.add(wall.object), hidden.object);
  answer = new OcclusionAnswer();
  [told, asked, places, levels] = [[], [], new Map(), null];
  take();
  ask(1);
  take();
  asked = [];
});

test('it is true from the first update on that was asked where what it names is', () => {
  expect([holds(), hides()]).toEqual([true, true]);
  expect([holds(0), hides(0)]).toEqual([false, false]);
  expect(told).toEqual([]);
});

test('what the service has elsewhere is noted when it is told', () => {
  wall.object.translateX(1e-3);
  scene.updateMatrixWorld();
  expect(holds()).toBe(false);
  answer.ask(2, service as never); // it was not sent yet
  expect(asked).toEqual([WALL, HIDDEN]);
  expect(holds(2)).toBe(false);
  ask(3);
  expect([holds(2), holds(3), hides(1)]).toEqual([false, true, true]);
});

test('an answer that hides nothing says nothing', () => {
  take([WALL], []);
  expect([holds(), hides()]).toEqual([false, false]);
});

describe('it is true no more', () => {
  test.each<[string, () => unknown]>([
    ['where what hides is not drawn', () => Object.assign(wall.object, { visible: false })],
    ['where what it is below is not', () => Object.assign(group, { visible: false })],
    ['where it has left the scene', () => group.removeFromParent()],
    ['where the camera does not see its layers', () => wall.object.layers.set(3)],
    ['where it was not seen with these triangles', () => Object.assign(wall, { seen: 0 })],
    ['where another level is drawn', () => Object.assign(wall, { drawn: new Mesh() })],
    ['where it is out of view', () => wall.object.geometry.boundingSphere!.center.set(0, 0, 1000)],
    ['where it cannot be read', () => Object.defineProperty(wall.object, 'layers', { get: () => never() })],
    ['where all has another material', () => Object.assign(scene, { overrideMaterial: new MeshBasicMaterial() })],
    ['where the eye has moved', () => camera.translateX(1e-3)],
    [
      'with another projection',
      () => {
        (camera as PerspectiveCamera).fov = 61;
        camera.updateProjectionMatrix();
      },
    ],
  ])('%s', (_, change) => {
    wall.object.geometry.computeBoundingSphere();
    expect(holds()).toBe(true);
    change();
    expect(holds()).toBe(false);
    expect(told).toEqual([]);
  });

  test('where what hides is drawn so that it does not: the service learns it, unless the caller says that it does', () => {
    levels = {}; // those of instances only
    expect(holds()).toBe(true);
    Object.assign(wall.object, { isInstancedMesh: true });
    expect(holds()).toBe(false);
    expect(told).toEqual([[WALL, { occluder: false }]]);
    (wall.object.material as MeshBasicMaterial).alphaTest = 0.5;
    expect(holds()).toBe(false);
    expect(told).toEqual([[WALL, { occluder: false }], 'it is another']);
    wall.occluder = true;
    expect(holds()).toBe(true);
    expect(told.length).toBe(2);
  });
});

test('three draws what it does not cull, and what a camera sees that turns', () => {
  wall.object.geometry.boundingSphere = null;
  wall.object.frustumCulled = false;
  camera.rotateY(Math.PI);
  expect(holds()).toBe(true);
  wall.object.frustumCulled = true; // it is behind the camera, by its sphere and by its vertices
  expect(holds()).toBe(true);
});

test('the eye may move within the margin', () => {
  view = viewOf(camera, 0.5);
  camera.translateX(0.499);
  expect(holds()).toBe(true);
  camera.translateX(0.002);
  expect(holds()).toBe(false);
});

test.each(['x', 'y', 'z'] as const)('far away along %s, an eye stands still within the digits that it has', (axis) => {
  wall.object.frustumCulled = false;
  camera.position.set(0, 0, 0)[axis] = -1e9; // eight times its rounding is 1.8e-6
  view = viewOf(camera);
  camera.position[axis] += 1e-6;
  expect(holds()).toBe(true);
  camera.position[axis] += 4e-6;
  expect(holds()).toBe(false);
});

test('with parallel lines of sight, a camera may not turn', () => {
  camera = new OrthographicCamera(-5, 5, 5, -5, 0.1, 100);
  camera.position.set(0, 0, 10);
  view = viewOf(camera, 0.5);
  expect(holds()).toBe(true);
  camera.translateX(0.4);
  expect(holds()).toBe(true);
  camera.rotateZ(1e-6);
  expect(holds()).toBe(false);
});

describe('an object is hidden no more', () => {
  test.each<[string, () => unknown]>([
    ['that has moved', () => hidden.object.translateX(1)],
    ['that was not seen with these triangles', () => Object.assign(hidden, { seen: 0 })],
    ['of which another level is drawn', () => Object.assign(hidden, { drawn: new Mesh() })],
    ['that has another id', () => Object.assign(hidden, { id: makeId(3, 1) })],
    ['whose depth is not tested', () => Object.assign(hidden.object.material, { depthTest: false })],
    ['that the next answer does not name', () => take([WALL], [WALL])],
    ['and nothing is', () => take([WALL], [])],
  ])('%s', (_, change) => {
    change();
    scene.updateMatrixWorld();
    expect(hides()).toBe(false);
  });

  test('for other layers, and another Mesh is not', () => {
    expect(hides(1, 2)).toBe(false);
    expect(hides(1, LAYERS, new Mesh())).toBe(false);
  });
});

test('the hidden instances of an object ascend, however many', () => {
  hidden.isInstanced = true;
  const numbers = Array.from({ length: 200 }, (_, i) => (i * 77) % 200);
  take([WALL], [HIDDEN], numbers);
  const { numbers: found, count } = answer.instancesOf(hidden as never)!;
  expect([...found.subarray(0, count)]).toEqual(numbers.toSorted((a, b) => a - b));
  expect(answer.instancesOf(wall as never)).toBeNull();
  take([WALL], [HIDDEN], [7]);
  expect(answer.instancesOf(hidden as never)).toMatchObject({ count: 1 });
  take([WALL], [WALL]);
  expect(answer.instancesOf(hidden as never)).toBeNull();
});

test('instances hide as long as they are as they were', () => {
  wall.isInstanced = true;
  take();
  expect(holds()).toBe(true);
  wall.seen = 0;
  expect(holds()).toBe(false);
});

test('what no answer has named for long is looked at no more', () => {
  for (let i = 0; i < 120; i++) take([WALL], [WALL]);
  ask(2);
  expect(asked).toEqual([WALL, HIDDEN]);
  asked = [];
  take([WALL], [WALL]);
  ask(3);
  expect(asked).toEqual([WALL]);
});

function never(): never {
  throw new Error('it cannot be read');
}
