// Images with `culling: { occlusion }` are the images without it, to the last pixel (see culling.browser.test.ts).
import {
  BackSide,
  BoxGeometry,
  CylinderGeometry,
  DoubleSide,
  IcosahedronGeometry,
  InstancedMesh,
  LOD,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  MeshLambertMaterial,
  PerspectiveCamera,
  Plane,
  PlaneGeometry,
  type Scene,
  Vector3,
} from 'three';
import { expect, test } from 'vitest';
import { renderer } from '../fixtures/each-renderer.js';
import { service, withService } from '../fixtures/each-service.js';
import { flyAndCompare, litScene, PICTURE, randomTransform } from '../fixtures/flights.js';
import { Random, SEED } from '../oracle/random.js';

withService();

const FRAMES = Number(import.meta.env.OCCLUSION_FRAMES ?? 60);
const options = { culling: { occlusion: true } };

function camera(): PerspectiveCamera {
  const made = new PerspectiveCamera(60, PICTURE.width / PICTURE.height, 0.1, 200);
  made.position.set(5, 1.7, 5);
  return made;
}

/** Houses, and small objects of all kinds between them. */
function city(random: Random): { scene: Scene; houses: Mesh[]; things: Mesh[] } {
  const stone = new MeshLambertMaterial({ color: 0xaa9988 });
  const box = new BoxGeometry(1, 1, 1);
  const round = new CylinderGeometry(0.5, 0.5, 1, 24);
  const houses: Mesh[] = [];
  const things: Mesh[] = [];
  const paints = [
    new MeshLambertMaterial({ color: 0xff2200 }),
    new MeshLambertMaterial({ color: 0x2200ff, transparent: true, opacity: 0.5 }),
    new MeshBasicMaterial({ color: 0x00ff22, wireframe: true }),
    new MeshBasicMaterial({ color: 0xffff00, depthTest: false }),
    new MeshLambertMaterial({ color: 0x888888, polygonOffset: true, polygonOffsetFactor: -2, polygonOffsetUnits: -2 }),
  ];
  const forms = [new IcosahedronGeometry(0.4, 1), new PlaneGeometry(1, 1), new BoxGeometry(0.5, 0.5, 0.5)];
  for (let x = -4; x <= 4; x++) {
    for (let z = -4; z <= 4; z++) {
      const house = new Mesh(random.chance(0.8) ? box : round, stone);
      const height = random.range(4, 16);
      house.position.set(10 * x, height / 2, 10 * z);
      house.scale.set(random.range(6, 8.5), height, random.range(6, 8.5));
      houses.push(house);
      for (let i = 0; i < 3; i++) {
        const thing = new Mesh(random.pick(forms), random.chance(0.85) ? paints[0] : random.pick(paints));
        thing.position.set(10 * x + random.range(-5, 5), random.range(0.2, 3), 10 * z + random.range(-5, 5));
        thing.quaternion.copy(random.rotation());
        things.push(thing);
      }
    }
  }
  const ground = new Mesh(new PlaneGeometry(120, 120).rotateX(-Math.PI / 2), stone);
  return { scene: litScene(ground, ...houses, ...things), houses, things };
}

test(`a city that stands still, and a camera that turns and walks, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const { scene } = city(random);
  const { occluded } = await flyAndCompare(random, {
    ...{ service, painter: renderer, scene, camera: camera(), options, frames: FRAMES },
    fly: (eye, frame) => {
      eye.rotation.y += 0.05 * random.range(-1, 2);
      if (frame % 20 >= 10) eye.translateZ(-0.05);
      // From a standstill around a corner.
      if (frame % 10 === 8) eye.position.set(5 + random.range(-4, 4), 1.7, 5 + random.range(-4, 4));
    },
  });
  expect(occluded).toBeGreaterThan(10 * FRAMES);
});

test(`a city in which things and houses move, come and go, and become others, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const { scene, houses, things } = city(random);
  const glass = new MeshLambertMaterial({ transparent: true, opacity: 0.4 });
  const inward = new MeshLambertMaterial({ side: BackSide });
  const stone = houses[0].material;
  const { occluded } = await flyAndCompare(random, {
    ...{ service, painter: renderer, scene, camera: camera(), options, frames: 2 * FRAMES },
    step: (frame) => {
      for (const thing of things) if (random.chance(0.02)) thing.position.y = random.range(0, 20);
      const house = random.pick(houses);
      const kind = random.integer(16);
      if (kind === 0) house.position.x += random.range(-1, 1);
      if (kind === 1) house.visible = !house.visible;
      if (kind === 2) house.material = random.pick([glass, inward, stone]);
      if (kind === 3) house.scale.y = random.range(1, 10);
      if (kind === 4) house.layers.mask = random.pick([1, 2]);
      if (kind === 5) random.pick(things).removeFromParent();
      if (kind === 6) house.removeFromParent();
      if (kind === 7) scene.add(house);
      if (frame % 30 === 29) (stone as MeshLambertMaterial).wireframe = !(stone as MeshLambertMaterial).wireframe;
      if (frame % 40 === 15) renderer.clippingPlanes = [new Plane(new Vector3(0, -1, 0), 2)];
      if (frame % 40 === 20) renderer.clippingPlanes = [];
    },
  });
  renderer.clippingPlanes = [];
  expect(occluded).toBeGreaterThan(0);
});

test(`instances behind walls that are moved, and from inside of a room, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const many = new InstancedMesh(new IcosahedronGeometry(0.5, 1), new MeshLambertMaterial({ color: 0x33aaff }), 800);
  for (let i = 0; i < many.count; i++) many.setMatrixAt(i, randomTransform(random, 40));
  const wall = new Mesh(new BoxGeometry(60, 20, 1), new MeshLambertMaterial({ color: 0x775533 }));
  wall.position.z = -5;
  const screens = [0, 1, 2].map((i) => {
    const screen = new Mesh(new PlaneGeometry(12, 12), new MeshLambertMaterial({ side: DoubleSide }));
    screen.position.set(15 * Math.cos(2 * i), 0, 15 * Math.sin(2 * i));
    screen.lookAt(0, 0, 0);
    return screen;
  });
  const room = new Mesh(new BoxGeometry(100, 60, 100), new MeshBasicMaterial({ color: 0x101010, side: BackSide }));
  const matrix = new Matrix4();
  const scene = litScene(many, wall, room, ...screens);
  const { occluded } = await flyAndCompare(random, {
    ...{
      service,
      painter: renderer,
      scene,
      camera: camera(),
      options,
      frames: FRAMES,
    },
    fly: (eye) => {
      if (random.chance(0.5)) eye.rotation.y += random.range(-0.2, 0.2);
      if (random.chance(0.1)) eye.position.set(random.range(-8, 8), 1, random.range(-4, 8));
    },
    step: (frame) => {
      // After it has occluded others for some frames.
      wall.visible = frame % 36 !== 0;
      if (frame % 36 === 19) wall.removeFromParent();
      if (frame % 36 === 20) scene.add(wall);
      if (frame % 9 === 5) wall.position.y = wall.position.y === 0 ? 15 : 0;
      if (frame % 7 !== 6) return;
      for (let i = 0; i < 5; i++)
        many.setMatrixAt(random.integer(many.count), matrix.copy(randomTransform(random, 40)));
      many.instanceMatrix.needsUpdate = true;
    },
  });
  expect(occluded).toBeGreaterThan(FRAMES);
});

test(`LODs behind houses are not drawn, whatever level they show, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const { scene, houses, things } = city(random);
  for (const thing of things) thing.removeFromParent();
  const paints = [0xff2200, 0x22ff00, 0x2200ff].map((color) => new MeshLambertMaterial({ color }));
  // A coarser level may reach farther, and be elsewhere.
  const forms = [3, 1, 0].map((detail, i) => new IcosahedronGeometry(0.4 + 0.2 * i, detail));
  const lods = Array.from({ length: 60 }, () => {
    const lod = new LOD();
    forms.forEach((form, i) => {
      const level = new Mesh(form, paints[i]);
      level.position.y = 0.2 * i;
      lod.addLevel(level, 8 * i);
    });
    lod.position.set(random.range(-40, 40), random.range(0.2, 3), random.range(-40, 40));
    return lod;
  });
  scene.add(...lods);
  const own = camera();
  /** With culling, and without. */
  const drawn = [0, 0];
  for (const lod of lods) {
    for (const { object } of lod.levels) object.onAfterRender = (...[, , eye]) => drawn[eye === own ? 0 : 1]++;
  }
  await flyAndCompare(random, {
    ...{ service, painter: renderer, scene, camera: own, options, frames: 2 * FRAMES },
    fly: (eye, frame) => {
      if (frame % 12 < 6) eye.translateZ(-0.06);
      else if (frame % 12 < 10) eye.rotation.y += 0.08;
      if (frame % 30 === 29) eye.position.set(10 * random.integer(6) - 25, 1.7, 10 * random.integer(6) - 25);
    },
    step: (frame) => {
      if (frame % 5 === 0) random.pick(lods).position.set(random.range(-40, 40), 1, random.range(-40, 40));
      if (frame % 20 === 10) random.pick(houses).position.y += 3;
    },
  });
  expect(drawn[0]).toBeLessThan(0.8 * drawn[1]);
});

test('what has a shader of its own is left out where it is said to be cullable, and drawn where not', async () => {
  const wall = new Mesh(new BoxGeometry(60, 20, 1), new MeshLambertMaterial({ color: 0x775533 }));
  wall.position.z = -5;
  const own = () => Object.assign(new MeshLambertMaterial({ color: 0xff0000 }), { onBeforeCompile: () => {} });
  const many = new InstancedMesh(new BoxGeometry(0.5, 0.5, 0.5), own(), 50);
  for (let i = 0; i < 50; i++) many.setMatrixAt(i, new Matrix4().setPosition(i / 5, 1, -15));
  const single = new Mesh(new BoxGeometry(1, 1, 1), own());
  single.position.set(2, 1, -12);
  const scene = litScene(wall, many, single);
  const occluded = async (own: { cullable?: boolean }) => {
    const sum = await flyAndCompare(new Random(SEED), {
      ...{ service, painter: renderer, scene, camera: camera(), frames: 10 },
      options: { ...options, objectOptions: (object) => (object === wall ? {} : own) },
      fly: () => {},
    });
    return sum.occluded;
  };
  expect(await occluded({})).toBe(0);
  expect(await occluded({ cullable: true })).toBeGreaterThanOrEqual(51 * 5);
});
