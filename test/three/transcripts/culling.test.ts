// What culling leaves out, frame by frame, and in which order the rest is drawn: a transcript, as in
// test/client/transcripts/frames.test.ts.
import type { TrackOptions } from 'collision-worker/three';
import {
  BatchedMesh,
  BoxGeometry,
  type BufferGeometry,
  type Camera,
  DoubleSide,
  Group,
  InstancedBufferAttribute,
  InstancedMesh,
  LOD,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  type Object3D,
  OrthographicCamera,
  PerspectiveCamera,
  REVISION,
  Scene,
} from 'three';
import { test } from 'vitest';
import { ListPainter } from '../../fixtures/list-painter.js';
import { drawnLines, SceneTranscript } from '../../fixtures/scene-transcript.js';
import { Transcript } from '../../fixtures/transcript.js';

const HAS_INSTANCES = Number.parseInt(REVISION, 10) >= 166;
const material = new MeshBasicMaterial();
const box = (size = 1) => new BoxGeometry(size, size, size);
const at = (x: number, y = 0, z = 0) => new Matrix4().setPosition(x, y, z);

function named<T extends Object3D>(name: string, object: T, x = 0, y = 0, z = 0): T {
  object.name = name;
  object.position.set(x, y, z);
  return object;
}

function crowd(name: string, count: number): InstancedMesh {
  const many = named(name, new InstancedMesh(box(), material, count));
  for (let i = 0; i < count; i++) many.setMatrixAt(i, at(12 * (i % 5) - 24, 0, -3 * i));
  return many;
}

/** Draws, queries, and records what was drawn. */
async function flown(scene: Scene, options: TrackOptions) {
  const all = await SceneTranscript.track(scene, options);
  const painter = new ListPainter();
  const fly = async (heading: string, change: () => unknown = () => {}, frames = 2) => {
    all.note(`\n# ${heading}`);
    await change();
    for (let i = 0; i < frames; i++) {
      const lines = drawnLines(painter, all);
      const { objects, instances, triangles, occluded } = all.tracker.culled as never;
      all.note(`  drawn ${lines.join(', ')}`);
      all.note(`  culled ${JSON.stringify({ objects, instances, triangles, occluded })}`);
      await all.tracker.update(all.camera, { width: 200, height: 100 });
    }
  };
  return { all, fly, painter };
}

test('Meshes and instances', async () => {
  const group = named('group', new Group());
  const [left, right, far] = [
    named('left', new Mesh(box(), material), -4),
    named('right', new Mesh(box(), material), 4),
    named('far', new Mesh(box(), material), 0, 0, -60),
  ];
  const never = named('never culled', new Mesh(box(), material), 0, 0, 50);
  never.frustumCulled = false;
  const many = crowd('many', 12);
  many.add(named('child', new Mesh(box(), material), 0, 2, 0));
  const scene = new Scene().add(group.add(left, right), far, never, many);
  const { all, fly } = await flown(scene, { culling: true });
  await fly('at first');
  await fly('it turns', () => all.camera.quaternion.set(0, 0.6, 0, 0.8));
  await fly('it turns on', () => all.camera.quaternion.set(0, 1, 0, 0));
  await fly('and back', () => all.camera.quaternion.set(0, 0, 0, 1));
  await fly('it moves a little', () => all.camera.position.setX(0.25), 4);
  await fly('one moves out', () => left.position.set(0, 200, 0));
  await fly('and in', () => left.position.set(0, 2, 0));
  await fly('a group hides', () => {
    group.visible = false;
  });
  await fly('and shows', () => {
    group.visible = true;
  });
  const other = new PerspectiveCamera(60, 1, 1, 100);
  other.position.set(3, 0, 10);
  await fly('another camera draws in the midst', () => {
    left.onBeforeRender = () => {
      left.onBeforeRender = () => {};
      all.note(`  drawn in the midst ${drawnLines(new ListPainter(), all, other).join(', ')}`);
    };
  });
  await fly('what it draws with goes in the midst', () => {
    left.onBeforeRender = () => {
      left.onBeforeRender = () => {};
      all.note(`  there are ${many.children.length} children`);
      many.children.splice(0, many.children.length - 1);
    };
  });
  all.note(`  its children ${many.children.map(({ name }) => name)}`);
  await fly('an instance moves', () => {
    many.setMatrixAt(0, at(0, 1, 0));
    many.instanceMatrix.needsUpdate = true;
  });
  await fly('fewer', () => {
    many.count = 6;
  });
  await fly('another layer', () => right.layers.set(2));
  await fly('a camera that has it', () => all.camera.layers.enable(2));
  await fly('one leaves', () => far.removeFromParent());
  const come = () => {
    scene.add(named('new', new Mesh(box(), material), 1, 1, 1));
    return all.tracker.settled();
  };
  await fly('one comes', come, 3);
  await fly('disposed', () => {
    all.tracker.dispose();
    all.tracker.update = (async () => null) as never;
  });
  await all.check('culling-frustum');
});

test('orders', async () => {
  const scene = new Scene().add(crowd('front', 8), crowd('back', 8), crowd('as it is', 8));
  const order = ({ name }: InstancedMesh) =>
    name === 'front' ? ('front-to-back' as const) : name === 'back' ? ('back-to-front' as const) : undefined;
  const { all, fly } = await flown(scene, { culling: { order } });
  await fly('at first', () => {}, 3);
  await fly(
    'from the other side',
    () => {
      all.camera.position.set(0, 0, -40);
      all.camera.quaternion.set(0, 1, 0, 0);
    },
    3,
  );
  await all.check('culling-orders');
});

test('margins, pixels and flat cameras', async () => {
  const scene = new Scene().add(
    named('small', new Mesh(box(0.25), material)),
    named('large', new Mesh(box(4), material), 3),
    crowd('many', 8),
  );
  const { all, fly, painter } = await flown(scene, { culling: { margin: 2, minPixels: 12 } });
  await fly('at first', () => {}, 3);
  await fly('farther', () => all.camera.position.setZ(60), 3);
  await fly('nearer', () => all.camera.position.setZ(5), 3);
  const flat = new OrthographicCamera(-5, 5, 5, -5, 1, 50);
  flat.position.z = 10;
  flat.updateMatrixWorld();
  const stranger = new PerspectiveCamera(30, 1, 1, 20);
  stranger.position.z = 10;
  const through = (camera: Camera) => () => {
    all.tracker.setView(flat, { width: 50, height: 50 }, 'flat');
    all.note(`  drawn through it ${drawnLines(painter, all, camera).join(', ')}`);
  };
  await fly('a second view', through(flat));
  await fly('and again', through(flat));
  await fly('a stranger', through(stranger));
  await fly(
    'a camera at infinity',
    () => {
      all.camera.far = Number.POSITIVE_INFINITY;
      all.camera.projectionMatrix.elements[10] = -1;
      all.camera.projectionMatrix.elements[14] = -2;
      all.camera.projectionMatrixInverse.copy(all.camera.projectionMatrix).invert();
    },
    4,
  );
  await all.check('culling-pixels');
});

test('what hides others', async () => {
  const wall = named('wall', new Mesh(new BoxGeometry(16, 16, 1), material), 0, 0, 4);
  const scene = new Scene().add(
    wall,
    named('behind', new Mesh(box(), material)),
    named('beside', new Mesh(box(), material), 14, 0, 0),
    crowd('many', 8),
  );
  const { all, fly } = await flown(scene, { culling: { occlusion: true } });
  await fly('at first', () => {}, 4);
  await fly('it turns a little', () => all.camera.quaternion.set(0, 0.28, 0, 0.96), 3);
  await fly('it moves', () => all.camera.position.set(1, 0, 10), 4);
  await fly('what is hidden moves', () => scene.getObjectByName('behind')!.position.setX(0.5), 4);
  const behind = scene.getObjectByName('behind') as Mesh;
  const built = async (change: () => unknown) => {
    change();
    await all.tracker.settled();
  };
  const is = (change: Partial<Mesh>) => () => built(() => Object.assign(behind, change));
  await fly('what is hidden has another geometry', is({ geometry: box(1.5) }), 4);
  await fly(
    'its vertices move',
    () =>
      built(() => {
        behind.geometry.attributes.position.setX(0, 2);
        behind.geometry.attributes.position.needsUpdate = true;
      }),
    4,
  );
  await fly('it has another side', is({ material: new MeshBasicMaterial({ side: DoubleSide }) }), 4);
  await fly('it is drawn over all', is({ material: new MeshBasicMaterial({ depthTest: false }) }), 3);
  await fly('and as before', is({ material }), 4);
  await fly('it is in another layer', () => behind.layers.set(1), 2);
  await fly('that the camera sees', () => all.camera.layers.enable(1), 4);
  await fly('it has the layer of before', () => behind.layers.set(0), 4);
  await fly('and the camera', () => all.camera.layers.disable(1), 4);
  await fly('it is never culled', is({ frustumCulled: false }), 3);
  await fly('and is', is({ frustumCulled: true }), 3);
  await fly(
    'an instance moves out of the shadow',
    () => {
      const many = scene.getObjectByName('many') as InstancedMesh;
      many.setMatrixAt(2, at(9, 0, -6));
      many.instanceMatrix.needsUpdate = true;
    },
    4,
  );
  await fly('the wall moves', () => wall.position.setY(0.5), 4);
  await fly(
    'the wall shows less',
    () => {
      wall.material = new MeshBasicMaterial({ transparent: true, opacity: 0.5 });
    },
    4,
  );
  await fly(
    'no wall',
    () => {
      wall.visible = false;
    },
    3,
  );
  await all.check('culling-occlusion');
});

test('levels', async () => {
  const lod = named('lod', new LOD());
  lod.addLevel(named('fine', new Mesh(box(2), material)), 0).addLevel(named('coarse', new Mesh(box(2), material)), 20);
  const scene = new Scene().add(lod, crowd('many', 8));
  const levels = (object: InstancedMesh | LOD) =>
    object.name === 'lod'
      ? [{ pixels: 10 }]
      : [
          { pixels: 8, geometry: box(0.5) },
          { pixels: 3, geometry: box(0.25), hysteresis: 0.5 },
        ];
  const objectOptions = ({ name }: Object3D) => (name === 'many' ? { cullable: true } : undefined);
  const { all, fly } = await flown(scene, { culling: { levels }, objectOptions });
  // The stand-ins draw other geometries than the mesh: the mesh's own callback is told which.
  for (const each of [...scene.children, ...lod.children]) {
    each.onBeforeRender = (_: unknown, __: unknown, ___: unknown, geometry: BufferGeometry) => {
      if ('parameters' in geometry) all.note(`  ${each.name} in ${(geometry as BoxGeometry).parameters.width}`);
    };
  }
  for (const z of [10, 15, 30, 28, 26, 50, 80, 10]) await fly(`from ${z}`, () => all.camera.position.setZ(z));
  await all.check('culling-levels');
});

test('wishes that are none, and what cannot be read', async () => {
  const two = () =>
    new LOD()
      .addLevel(named('fine', new Mesh(box(2), material)), 0)
      .addLevel(named('coarse', new Mesh(box(), material)), 20);
  const [coarse, coarser] = [box(0.5), box(0.25)];
  const levels: Record<string, unknown> = {
    'no array': 7,
    'no levels': [],
    'no pixels': [{ geometry: coarse }],
    'no geometry': [{ pixels: 3 }],
    'an unknown key': [{ pixels: 3, geometry: coarse, size: 1 }],
    'less than no pixels': [{ pixels: -1, geometry: coarse }],
    'a bad hysteresis': [{ pixels: 3, geometry: coarse, hysteresis: -1 }],
    'the wrong way round': [
      { pixels: 3, geometry: coarse },
      { pixels: 3, geometry: coarser },
    ],
    'as many as a LOD has': [{ pixels: 8 }, { pixels: 3 }],
    'a geometry for a LOD': [{ pixels: 8, geometry: coarse }],
    'well, for a LOD': [{ pixels: 8 }],
    null: null,
    well: [{ pixels: 8, geometry: coarse, hysteresis: 0 }],
  };
  const throwing = 'what throws';
  const names = [...Object.keys(levels), throwing];
  const lods = names.slice(8).map((name) => named(name, two()));
  const crowds = names.slice(0, 8).map((name) => crowd(name, 3));
  const wishes = {
    order: ({ name }: InstancedMesh) => {
      if (name === 'no levels') throw new Error('no order');
      return (name === 'no pixels' ? 'upwards' : undefined) as undefined;
    },
    levels: ({ name }: Object3D) => {
      if (name === throwing) throw new TypeError('not today');
      return levels[name] as undefined;
    },
  };
  const scene = new Scene().add(...crowds, crowd('well', 3), ...lods);
  const { all, fly } = await flown(scene, { culling: wishes });
  await fly('at first', () => {}, 3);
  await fly('far away', () => all.camera.position.setZ(60), 2);
  const [first, second] = crowds;
  const gone = () => {
    throw new Error('it is gone');
  };
  await fly('and near', () => all.camera.position.setZ(10), 2);
  await fly('one cannot be read', () => Object.defineProperty(first, 'morphTexture', { get: gone }), 2);
  await fly(
    'a second takes nothing in',
    () => {
      second.add(named('child', new Mesh(box(), material)));
      Object.defineProperty(second.children, 'unshift', { value: gone });
    },
    2,
  );
  all.note(`  its children ${second.children.map(({ name }) => name)}`);
  const lod = lods.find(({ name }) => name === 'well, for a LOD')!;
  await fly('a LOD that the app switches', () => {
    lod.autoUpdate = false;
  });
  await fly('and not', () => {
    lod.autoUpdate = true;
  });
  await fly('far away', () => all.camera.position.setZ(90));
  // When unreadable objects are removed from the service is not recorded.
  const told = new Transcript();
  for (const line of all.text.split('\n')) if (/^(#|\*| {2}(drawn|culled|its))/.test(line)) told.note(line);
  await told.check('culling-wishes');
});

test('what the app says may be left out, and may not', async () => {
  const [never, always, unsaid, mesh, lone] = ['never', 'always', 'unsaid', 'mesh', 'lone'];
  const cullable: Record<string, boolean> = { [never]: false, [always]: true, [mesh]: false };
  const scene = new Scene().add(crowd(never, 5), crowd(always, 5), crowd(unsaid, 5));
  for (const each of scene.children.slice(1)) each.frustumCulled = false;
  scene.add(named(mesh, new Mesh(box(), material), 3), named(lone, new Mesh(box(), material), -3));
  const { all, fly } = await flown(scene, {
    culling: true,
    objectOptions: ({ name }) => (name in cullable ? { cullable: cullable[name] } : undefined),
  });
  await fly('at first', () => {}, 3);
  const kept = scene.children.map(({ name, frustumCulled }) => `${name} ${frustumCulled}`);
  all.note(`  frustumCulled ${kept.join(', ')}`);
  await fly('it turns', () => all.camera.quaternion.set(0, 0.6, 0, 0.8), 3);
  await fly('it turns away', () => all.camera.quaternion.set(0, 1, 0, 0), 3);
  const many = scene.children[1] as InstancedMesh;
  await fly('none are left', () => {
    many.count = 0;
  });
  await fly('with an attribute of their own', () => {
    many.count = 5;
    many.geometry.setAttribute('own', new InstancedBufferAttribute(new Float32Array(5), 1));
  });
  await fly(
    'of another geometry, larger than itself',
    () => {
      many.geometry = box(4);
      return all.tracker.settled();
    },
    3,
  );
  await fly('moved as a whole', () => many.position.set(0, 0, 40), 3);
  await fly('in another layer', () => many.layers.set(3));
  await fly('it leaves', () => many.removeFromParent());
  await all.check('culling-cullable');
});

test.skipIf(!HAS_INSTANCES)('batches', async () => {
  const batch = named('batch', new BatchedMesh(8, 100, 200, material));
  const [small, large] = [batch.addGeometry(box()), batch.addGeometry(box(2))];
  for (let i = 0; i < 8; i++)
    batch.setMatrixAt(batch.addInstance(i % 2 === 0 ? small : large), at(12 * (i % 4) - 18, 0, -3 * i));
  const scene = new Scene().add(batch);
  const { all, fly } = await flown(scene, { culling: true });
  await fly('at first', () => {}, 3);
  await fly('it turns', () => all.camera.quaternion.set(0, 0.6, 0, 0.8));
  await fly('unsorted', () => {
    all.camera.quaternion.set(0, 0, 0, 1);
    batch.sortObjects = false;
  });
  await fly('one is hidden', () => batch.setVisibleAt(2, false));
  await fly('one has gone', () => batch.deleteInstance(1));
  await fly('one moves', () => batch.setMatrixAt(3, at(0, 1, 1)));
  await fly('all at once or none', () => {
    batch.perObjectFrustumCulled = false;
  });
  const bad = named('bad', new BatchedMesh(4, 100, 200, material));
  const parts = [bad.addGeometry(box()), bad.addGeometry(new BoxGeometry(0, 0, 0))];
  for (let i = 0; i < 4; i++) bad.setMatrixAt(bad.addInstance(parts[i % 2]), at(30 * i - 45, 2, 0));
  const come = () => {
    scene.add(bad);
    return all.tracker.settled();
  };
  await fly('one with a bad part', come, 3);
  await fly('it turns from that', () => all.camera.quaternion.set(0, 0.6, 0, 0.8), 3);
  await all.check('culling-batches');
});
