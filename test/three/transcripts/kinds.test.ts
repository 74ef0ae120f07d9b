// What is sent for skinned objects, points, lines, LODs and Sprites, for clipping planes, and to the next worker: a transcript,
// as in test/client/transcripts/frames.test.ts.
import {
  BackSide,
  Bone,
  BoxGeometry,
  type BufferAttribute,
  BufferGeometry,
  DoubleSide,
  Float32BufferAttribute,
  FrontSide,
  Group,
  InstancedBufferAttribute,
  InstancedInterleavedBuffer,
  InstancedMesh,
  InterleavedBufferAttribute,
  Line,
  LineBasicMaterial,
  LineLoop,
  LineSegments,
  LOD,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  type Object3D,
  Plane,
  Points,
  PointsMaterial,
  Scene,
  Skeleton,
  SkinnedMesh,
  Sprite,
  SpriteMaterial,
  Uint16BufferAttribute,
  Vector3,
} from 'three';
import { Line2 } from 'three/addons/lines/Line2.js';
import { LineGeometry } from 'three/addons/lines/LineGeometry.js';
import { LineMaterial } from 'three/addons/lines/LineMaterial.js';
import { LineSegments2 } from 'three/addons/lines/LineSegments2.js';
import { LineSegmentsGeometry } from 'three/addons/lines/LineSegmentsGeometry.js';
import { test } from 'vitest';
import { SceneTranscript } from '../../fixtures/scene-transcript.js';

function named<T extends Object3D>(name: string, object: T, x = 0): T {
  object.name = name;
  object.position.x = x;
  return object;
}

const box = (size = 1) => new BoxGeometry(size, size, size);
const [front, _back, both] = [FrontSide, BackSide, DoubleSide].map((side) => new MeshBasicMaterial({ side }));
const mesh = (name: string, x: number, material: MeshBasicMaterial | MeshBasicMaterial[] = front) =>
  named(name, new Mesh(box(), material), x);

/** A box whose lower vertices follow the first bone, and the others the second. */
function skinned() {
  const geometry = box();
  const { position } = geometry.attributes;
  const indices = Array.from({ length: 4 * position.count }, (_, i) =>
    i % 4 === 0 && position.getY(i / 4) > 0 ? 1 : 0,
  );
  const weights = Array.from({ length: 4 * position.count }, (_, i) => (i % 4 === 0 ? 1 : 0));
  geometry.setAttribute('skinIndex', new Uint16BufferAttribute(indices, 4));
  geometry.setAttribute('skinWeight', new Float32BufferAttribute(weights, 4));
  const bones = [named('lower', new Bone()), named('upper', new Bone())];
  bones[0].add(bones[1]);
  const skin = named('skinned', new SkinnedMesh(geometry, front));
  skin.add(bones[0]);
  skin.updateMatrixWorld(true);
  skin.bind(new Skeleton(bones));
  return { skin, bones };
}

function morphed(name: string, x: number): Mesh {
  const geometry = box();
  const target = geometry.attributes.position.clone() as BufferAttribute;
  target.array.set(target.array.map((each) => 2 * each));
  geometry.morphAttributes.position = [target];
  geometry.morphTargetsRelative = true;
  return named(name, new Mesh(geometry, front), x);
}

test('poses', async () => {
  const { skin, bones } = skinned();
  const morph = morphed('morphed', 4);
  const still = mesh('still', 8);
  const [refused, open] = [named('refused', skinned().skin, 12), named('open', skinned().skin, 16)];
  open.geometry.setDrawRange(0, 18);
  const scene = new Scene().add(skin, morph, still, refused, open);
  const all = await SceneTranscript.track(scene, {
    contacts: 'bones',
    objectOptions: ({ name }) =>
      name === 'refused' ? { clearance: -1 } : name === 'open' ? { solid: true } : undefined,
  });
  await all.change('as they are');
  await all.change('nothing');
  await all.change('a bone moves', () => bones[1].position.set(0, 1, 0));
  await all.change('of a mesh that is refused', () => refused.skeleton.bones[1].position.set(0, 1, 0));
  await all.change('the mesh moves', () => skin.position.set(0, 0, 1));
  await all.change('an influence', () => {
    morph.morphTargetInfluences![0] = 0.5;
  });
  await all.change('the same', () => {
    morph.morphTargetInfluences![0] = 0.5;
  });
  await all.change('hidden, and posed', () => {
    skin.visible = false;
    bones[1].position.set(0, 2, 0);
  });
  await all.change('shown', () => {
    skin.visible = true;
  });
  await all.change('in no layer', () => {
    skin.layers.disableAll();
    bones[1].position.set(0, 3, 0);
  });
  await all.change('in one', () => skin.layers.set(0));
  await all.change('a bone that is nowhere', () => bones[1].position.set(Number.NaN, 0, 0));
  await all.change('and stays there');
  await all.change('hidden', () => {
    skin.visible = false;
  });
  await all.change('shown', () => {
    skin.visible = true;
  });
  await all.change('and somewhere', () => bones[1].position.set(0, 1, 0));
  await all.change('an influence that is none', () => {
    morph.morphTargetInfluences![0] = Number.NaN;
  });
  await all.change('and one', () => {
    morph.morphTargetInfluences![0] = 1;
  });
  await all.change('without a scale', () => skin.scale.set(0, 0, 0));
  await all.change('it is posed there', () => bones[1].position.set(0, 2, 0));
  await all.change('and with one', () => skin.scale.set(1, 1, 1));
  await all.change('detached', () => {
    skin.bindMode = 'detached' as never;
    skin.updateMatrixWorld(true);
  });
  await all.change('bound anew', () => skin.bind(skin.skeleton, new Matrix4().setPosition(0, 0, 1)));
  await all.change('other weights', () => {
    skin.geometry.attributes.skinWeight.setX(0, 0.5);
    skin.geometry.attributes.skinWeight.needsUpdate = true;
  });
  await all.change('without influences', () => {
    morph.morphTargetInfluences = undefined;
    all.tracker.changed(morph);
  });
  await all.tell('hit', () => all.tracker.raycast({ origin: [0.25, 1, 9], direction: [0, 0, -1] }));
  await all.check('scene-poses');
});

test('points and lines', async () => {
  const places = new Float32BufferAttribute([0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0], 3);
  const of = () => new BufferGeometry().setAttribute('position', places);
  const line = new LineBasicMaterial();
  const points = named('points', new Points(of(), new PointsMaterial({ size: 0.25 })), 0);
  const strip = named('line', new Line(of(), line), 2);
  const segments = named('segments', new LineSegments(of(), line), 4);
  const loop = named('loop', new LineLoop(of(), line), 6);
  const indexed = named('indexed', new LineSegments(of().setIndex([0, 2, 1, 3]), line), 8);
  const fat = named(
    'fat',
    new Line2(new LineGeometry().setPositions([0, 0, 0, 1, 1, 0, 2, 0, 0]), new LineMaterial({ linewidth: 3 })),
    10,
  );
  (fat.material as LineMaterial).resolution.set(200, 100);
  const scene = new Scene().add(points, strip, segments, loop, indexed, fat);
  const all = await SceneTranscript.track(scene, { contacts: 'any' });
  await all.change('as they are');
  await all.change('moved', () => {
    for (const each of scene.children) each.position.y = 1;
  });
  await all.change('a range', () => strip.geometry.setDrawRange(1, 2));
  await all.change('vertices that move', () => {
    places.setX(0, -1);
    places.needsUpdate = true;
  });
  await all.change('hidden', () => {
    loop.visible = false;
    fat.visible = false;
  });
  await all.change('shown, with another width', () => {
    fat.visible = true;
    (fat.material as LineMaterial).linewidth = 9;
  });
  await all.change('in world units', () => {
    (fat.material as LineMaterial).worldUnits = true;
    (fat.material as LineMaterial).linewidth = 0.5;
  });
  await all.change('another form', () => {
    fat.geometry = new LineGeometry().setPositions([0, 0, 0, 0, 5, 0]) as never;
  });
  // On its axis, where rounding puts neither end of the ray behind it or in front of it.
  const exactly = (heading: string, z: number, tMin: number, tMax: number) =>
    all.tell(heading, () => all.tracker.raycastAll({ origin: [10, 3, z], direction: [0, 0, -1], tMin, tMax }));
  await exactly('a ray that begins on it', 0, 0, 1);
  await exactly('a ray that is meant from it on', 2, 2, 3);
  await exactly('a ray that ends on it', 2, 0, 2);
  await exactly('a ray that ends before it', 2, 0, 1.5);
  await all.check('scene-lines');
});

test('lines that have a width', async () => {
  const line = (name: string, x: number, geometry: LineSegmentsGeometry, options = {}) => {
    const material = new LineMaterial({ linewidth: 6, ...options });
    material.resolution.set(200, 100);
    return named(name, new LineSegments2(geometry, material), x);
  };
  const ends = (): number[] => [0, 0, 0, 1, 1, 0, 1, 1, 0, 2, 0, 0];
  const apart = new LineSegmentsGeometry();
  apart.setAttribute('instanceStart', new InstancedBufferAttribute(Float32Array.of(0, 0, 0, 1, 1, 0), 3));
  apart.setAttribute('instanceEnd', new InstancedBufferAttribute(Float32Array.of(1, 1, 0, 2, 0, 0), 3));
  const wide = new LineSegmentsGeometry();
  // Each row begins with a value that is no position, and the end comes first.
  const rows = (values: Float32Array | Float64Array) => new InstancedInterleavedBuffer(values as Float32Array, 8, 1);
  const data = rows(Float32Array.of(9, 1, 1, 0, 0, 0, 0, 9, 9, 2, 0, 0, 1, 1, 0, 9));
  wide.setAttribute('instanceEnd', new InterleavedBufferAttribute(data, 3, 1));
  wide.setAttribute('instanceStart', new InterleavedBufferAttribute(data, 3, 4));
  const double = new LineSegmentsGeometry();
  const sixes = new InstancedInterleavedBuffer(Float64Array.from(ends()) as never, 6, 1);
  double.setAttribute('instanceStart', new InterleavedBufferAttribute(sixes, 3, 0));
  double.setAttribute('instanceEnd', new InterleavedBufferAttribute(sixes, 3, 3));
  const turned = new LineSegmentsGeometry();
  const six = new InstancedInterleavedBuffer(Float32Array.from(ends()), 6, 1);
  turned.setAttribute('instanceStart', new InterleavedBufferAttribute(six, 3, 3));
  turned.setAttribute('instanceEnd', new InterleavedBufferAttribute(six, 3, 0));
  const scene = new Scene().add(
    line('as they are made', -9, new LineSegmentsGeometry().setPositions(ends())),
    line('apart', -6, apart),
    line('in wide rows', -3, wide),
    line('of doubles', 0, double),
    line('turned', 3, turned),
    line('in the world', 6, new LineSegmentsGeometry().setPositions(ends()), { worldUnits: true, linewidth: 0.5 }),
  );
  const all = await SceneTranscript.track(scene);
  await all.change('as they are');
  const name = (hits: readonly { object: Object3D; faceIndex?: unknown }[]) =>
    hits.map(({ object, faceIndex }) => `${object.name} ${faceIndex}`);
  for (const [x, y] of [
    [0.75, 0.75],
    [1.5, 0.5625],
    [1, 1.125],
    [1, 1.75],
  ]) {
    for (const { name: its, position } of scene.children) {
      const [left, top] = [100 + 5 * (position.x + x), 50 - 5 * y];
      await all.tell(`${its} at ${x} ${y}`, () => all.tracker.pickAll(left, top));
      await all.tell(`${its} within`, async () => name(await all.tracker.pickAll(left, top, { radius: 5 })));
      await all.tell(`${its} by params`, async () =>
        name(await all.tracker.pickAll(left, top, { params: { Line2: { threshold: 4 } } as never })),
      );
      const ray = { origin: [position.x + x, y, 9], direction: [0, 0, -1] } as const;
      await all.tell(`${its} by a ray`, async () => name(await all.tracker.raycastAll(ray)));
      await all.tell(`${its} by a ray, by params`, async () =>
        name(await all.tracker.raycastAll(ray, { params: { Line2: { threshold: 1 } } as never })),
      );
    }
  }
  await all.change('fewer segments', () => {
    apart.instanceCount = 1;
  });
  await all.change('ends that move', () => {
    apart.attributes.instanceEnd.setX(0, 2);
    apart.attributes.instanceEnd.needsUpdate = true;
    six.array[0] = 0.5;
    six.needsUpdate = true;
  });
  await all.check('scene-fat-lines');
});

test('LODs and Sprites', async () => {
  const lod = named('lod', new LOD());
  const [fine, coarse] = [mesh('fine', 0), mesh('coarse', 0, both)];
  lod.addLevel(fine, 0).addLevel(coarse, 20);
  const several = named('several', new LOD(), 4);
  several.addLevel(new Group().add(mesh('left', 0), mesh('right', 1)), 0).addLevel(mesh('both in one', 0), 20);
  const sprite = named('sprite', new Sprite(new SpriteMaterial()), 8);
  sprite.center.set(0, 1);
  const scene = new Scene().add(lod, several, sprite);
  const all = await SceneTranscript.track(scene, { contacts: 'any' });
  const far = (z: number) => () => {
    all.camera.position.z = z;
    all.camera.updateMatrixWorld();
    for (const each of [lod, several]) each.update(all.camera);
  };
  await all.change('near', far(10));
  await all.change('far', far(40));
  await all.change('it moves', () => lod.position.set(0, 1, 0));
  await all.change('near again', far(10));
  await all.change('both levels', () => {
    lod.autoUpdate = false;
    coarse.visible = true;
    all.tracker.changed(lod);
  });
  await all.change('none', () => {
    coarse.visible = false;
    fine.visible = false;
  });
  await all.change('one, by itself again', () => {
    fine.visible = true;
    lod.autoUpdate = true;
    all.tracker.changed(lod);
  });
  await all.change('a camera that turns', () => {
    all.camera.quaternion.set(0, 0.6, 0, 0.8);
    all.camera.updateMatrixWorld();
  });
  await all.change('a sprite that is turned and stretched', () => {
    sprite.material.rotation = 0.5;
    sprite.scale.set(2, 3, 1);
  });
  await all.change('of one size', () => {
    sprite.material.sizeAttenuation = false;
  });
  await all.change('another level', () => all.build(() => lod.addLevel(mesh('coarsest', 0), 60)));
  const holder = new Group().add(mesh('first', 0));
  const held = named('held', new LOD(), 12);
  held.addLevel(holder, 0).addLevel(mesh('second', 0), 20);
  await all.change('a level that is a group', () => all.build(() => scene.add(held)));
  await all.change('another Mesh in it', () =>
    all.build(() => holder.clear().add(named('other', new Mesh(box(2), front)))),
  );
  await all.change('one that moves in it', () => holder.children[0].position.setY(1));
  await all.change('they leave', () => scene.clear());
  await all.check('scene-levels');
});

test('clipping planes', async () => {
  const cut = (...planes: Plane[]) => new MeshBasicMaterial({ clippingPlanes: planes });
  const planes = [new Plane(new Vector3(1, 0, 0), 0), new Plane(new Vector3(0, 1, 0), 0.25)];
  const [a, b] = [mesh('cut', 0, cut(planes[0])), mesh('cut by both', 0.25, cut(...planes))];
  b.position.z = -3;
  const renderer = { clippingPlanes: [] as Plane[], localClippingEnabled: true };
  const all = await SceneTranscript.track(new Scene().add(a, b), { renderer: renderer as never });
  const shoot = (heading: string) =>
    all.tell(heading, () =>
      Promise.all([-0.25, 0.25].map((x) => all.tracker.raycastAll({ origin: [x, -0.375, 9], direction: [0, 0, -1] }))),
    );
  await all.change('as they are');
  await all.tell('picked', () => Promise.all([95, 105].map((x) => all.tracker.pick(x, 53))));
  await shoot('a ray');
  await all.change('a plane moves', () => {
    planes[0].constant = 0.5;
  });
  await all.tell('picked', () => Promise.all([95, 105].map((x) => all.tracker.pick(x, 53))));
  await all.change('only where both agree', () => {
    (b.material as MeshBasicMaterial).clipIntersection = true;
  });
  await all.tell('picked', () => all.tracker.pickAll(103, 51));
  renderer.clippingPlanes = [new Plane(new Vector3(0, 0, -1), 0)];
  await all.tell('everything is cut', () => all.tracker.pickAll(103, 51));
  renderer.localClippingEnabled = false;
  await all.tell('and nothing else', () => all.tracker.pickRegion({ x: 0, y: 0, width: 200, height: 100 }));
  await all.check('scene-clipping');
});

test('a worker that is lost', async () => {
  const many = named('many', new InstancedMesh(box(), front, 2), 3);
  for (let i = 0; i < 2; i++) many.setMatrixAt(i, new Matrix4().setPosition(0, 2 * i, 0));
  const { skin, bones } = skinned();
  const scene = new Scene().add(mesh('one', 0), many, skin, morphed('morphed', -3));
  const all = await SceneTranscript.track(scene, { contacts: 'any' });
  await all.change('as they are', () => bones[1].position.set(0, 1, 0));
  all.note('\n# lost');
  const restored = new Promise((resolve) => all.serving.addEventListener('restored', resolve, { once: true }));
  all.workers[0].dispatchEvent(Object.assign(new Event('error', { cancelable: true }), { message: 'it is broken' }));
  many.setMatrixAt(1, new Matrix4().setPosition(0, 5, 0));
  many.instanceMatrix.needsUpdate = true;
  await restored;
  await all.change('and there again');
  await all.check('scene-lost');
});
