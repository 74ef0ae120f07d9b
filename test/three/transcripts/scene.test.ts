// What a scene and its changes send to the worker: a transcript, as in test/client/transcripts/frames.test.ts.
import {
  BackSide,
  BatchedMesh,
  BoxGeometry,
  BufferGeometry,
  DoubleSide,
  Float32BufferAttribute,
  FrontSide,
  Group,
  type InstancedBufferAttribute,
  InstancedMesh,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  Object3D,
  REVISION,
  Scene,
} from 'three';
import { test } from 'vitest';
import { SceneTranscript } from '../../fixtures/scene-transcript.js';

function named<T extends Object3D>(name: string, object: T, x = 0): T {
  object.name = name;
  object.position.x = x;
  return object;
}

const box = (size = 1) => new BoxGeometry(size, size, size);
const [front, back, both] = [FrontSide, BackSide, DoubleSide].map((side) => new MeshBasicMaterial({ side }));
const mesh = (name: string, x: number, material: MeshBasicMaterial | MeshBasicMaterial[] = front) =>
  named(name, new Mesh(box(), material), x);

test('Meshes', async () => {
  const [a, b, c] = [mesh('front', 0), mesh('back', 2, back), mesh('both', 4, both)];
  const mixed = mesh('mixed', 6, [front, back, both, front, back, front]);
  const alike = mesh('alike', 8, [front, front, front, front, front, front]);
  b.geometry = a.geometry;
  const group = named('group', new Group(), 1);
  const scene = new Scene().add(a, b, group.add(c), mixed, alike);
  const all = await SceneTranscript.track(scene, { contacts: 'any' });
  await all.change('as they are');
  await all.change('nothing');
  await all.change('one moves', () => a.position.set(0, 1, 0));
  await all.change('a group moves', () => group.position.set(2, 0, 0));
  await all.change('there, and back', () => a.position.set(0, 0, 0));
  await all.change('a group hides', () => {
    group.visible = false;
  });
  await all.change('it moves meanwhile', () => group.position.set(3, 0, 0));
  await all.change('and shows', () => {
    group.visible = true;
  });
  await all.change('one hides and moves', () => {
    a.visible = false;
    a.position.y = 3;
  });
  await all.change('and shows', () => {
    a.visible = true;
  });
  await all.change('layers', () => a.layers.set(3));
  await all.change('more layers', () => a.layers.enable(0));
  await all.change('no layers', () => a.layers.disableAll());
  await all.change('the layer of before', () => a.layers.set(0));
  await all.change('a side', () => {
    a.material = both;
  });
  await all.change('mixed sides', () => {
    a.material = [back, front, back, front, back, front];
    mixed.material = front;
  });
  await all.change('a material that is not visible', () => {
    c.material = new MeshBasicMaterial({ visible: false });
  });
  await all.change('a scale of zero', () => b.scale.set(0, 1, 1));
  await all.change('no number', () => b.scale.set(Number.NaN, 1, 1));
  await all.change('a mirror', () => b.scale.set(-1, 1, 1));
  await all.change('another geometry', () => {
    a.geometry = box(2);
  });
  await all.change('the same for two', () => {
    c.geometry = a.geometry;
    c.material = front;
  });
  await all.change('vertices that move', () => {
    a.geometry.attributes.position.setX(0, 5);
    a.geometry.attributes.position.needsUpdate = true;
  });
  await all.change('another index', () => a.geometry.setIndex([0, 1, 2, 2, 1, 3]));
  await all.change('a range', () => a.geometry.setDrawRange(0, 3));
  a.geometry.name = 'of all';
  await all.change('nothing in the range', () => all.build(() => a.geometry.setDrawRange(0, 0)));
  await all.change('all of it', () => a.geometry.setDrawRange(0, Number.POSITIVE_INFINITY));
  await all.change('frustumCulled does not matter', () => {
    a.frustumCulled = false;
  });
  await all.change('renamed', () => {
    a.name = 'other';
  });
  await all.change('one leaves', () => b.removeFromParent());
  await all.change('and comes again', () => scene.add(b));
  await all.change('to another parent', () => group.add(b));
  await all.change('a group leaves', () => group.removeFromParent());
  await all.change('and comes again', () => scene.add(group));
  await all.change('one below another', () => a.add(mesh('child', 1)));
  await all.change('by hand', () => {
    const child = mesh('by hand', -3);
    scene.children.push(child);
    child.parent = scene;
    all.tracker.changed(scene);
  });
  await all.tell('ids', () => [a, b, group].map((each) => all.tracker.idsOf(each)));
  await all.tell('no objects', () => all.tracker.objectOf(9));
  await all.tell('disposed', () => all.tracker.dispose());
  await all.tell('and again', () => all.tracker.dispose());
  await all.change('after the end');
  await all.tell('a query after the end', () => all.tracker.pick(0, 0));
  await all.tell('the service goes on', () => all.serving.update().then(({ frame }) => frame));
  await all.check('scene-meshes');
});

test('what cannot be tracked', async () => {
  const bad = new BufferGeometry();
  bad.name = 'of nothing';
  const noIndex = box().setIndex([0, 1, 99]);
  const nowhere = box();
  nowhere.attributes.position.setX(0, Number.NaN);
  const flat = new BufferGeometry().setAttribute(
    'position',
    new Float32BufferAttribute([0, 0, 0, 0, 0, 0, 0, 0, 0], 3),
  );
  const scene = new Scene().add(
    named('no positions', new Mesh(bad, front)),
    named('an index out of range', new Mesh(noIndex, front)),
    named('a vertex that is nowhere', new Mesh(nowhere, front)),
    named('without an area', new Mesh(flat, front)),
    named('of no class', new Object3D()),
    mesh('options that throw', 0),
    mesh('bad options', 0),
    mesh('a bad shape', 0),
    mesh('open, and solid', 0),
    mesh('well', 2),
  );
  const all = await SceneTranscript.track(scene, {
    objectOptions: ({ name }) => {
      if (name === 'options that throw') throw new Error('no');
      if (name === 'bad options') return { layers: 1.5 };
      return name === 'open, and solid' ? { solid: true } : {};
    },
    shapeOf: ({ name }) => (name === 'a bad shape' ? { type: 'sphere', radius: -1 } : undefined),
  });
  await all.change('as they are');
  await all.change('it has positions', () => {
    bad.setAttribute('position', box().attributes.position);
    noIndex.setIndex([0, 1, 2]);
  });
  await all.wait();
  await all.tell('options', () => all.tracker.untracked);
  await all.check('scene-untracked');
});

test('options of objects', async () => {
  const [a, b, c, d] = ['static', 'shape', 'options', 'welded'].map((name, i) => mesh(name, 2 * i));
  const scene = new Scene().add(a, b, c, d);
  let layers = 4;
  const progress: number[] = [];
  const all = await SceneTranscript.track(scene, {
    updateMatrixWorld: true,
    view: 'own',
    quality: 'fast',
    onProgress: (part) => progress.push(part),
    contacts: 'any',
    shapeOf: ({ name }) => (name === 'shape' ? { type: 'box', halfExtents: [1, 2, 3] } : undefined),
    objectOptions: ({ name }) => {
      if (name === 'static') return { motion: 'static', layers };
      if (name === 'options') {
        return {
          contacts: 'full',
          group: 5,
          collidesWith: 6,
          pickable: false,
          cullable: false,
          side: 'double',
          occluder: true,
          clearance: 0.5,
          continuous: true,
        };
      }
      return name === 'welded' ? { solid: true, weld: 0.001 } : undefined;
    },
  });
  all.note(`  progress ${progress[0]} to ${progress.at(-1)}`);
  await all.change('as they are');
  await all.change('what is static is not looked at', () => {
    a.position.y = 3;
    a.visible = false;
  });
  await all.wait();
  await all.change('but at once where it is said', () => {
    a.visible = true;
    layers = 8;
    all.tracker.changed(a);
  });
  await all.change('one that is continuous moves', () => c.position.set(4, 3, 0));
  await all.change('and is put elsewhere', () => {
    c.position.set(4, -3, 0);
    all.tracker.teleport(c);
  });
  await all.change('a shape is not asked for again', () => b.scale.set(2, 2, 2));
  await all.change('but with another geometry', () => {
    b.geometry = box(3);
  });
  await all.tell('no object', () => all.tracker.changed(7 as never));
  await all.tell('no object to teleport', () => all.tracker.teleport({} as never));
  await all.change('another view', () =>
    all.tracker.setView(all.camera, { x: 5, y: 6, width: 10, height: 10 }, 'second', {
      margin: 1,
      minPixels: 2,
      occlusion: true,
    }),
  );
  await all.change('views with all options', () => all.camera.position.setX(1), {
    margin: 'motion',
    minPixels: 1,
    occlusion: true,
    occlusionMargin: 2,
  });
  await all.change(
    'a camera that moves',
    () => {
      all.camera.position.setX(2);
      all.camera.updateMatrixWorld();
    },
    { margin: 'motion' },
  );
  await all.change('without one', () => all.tracker.removeView('second'));
  await all.tell('no view', () => all.tracker.removeView('second'));
  await all.check('scene-options');
});

test('InstancedMeshes', async () => {
  const many = named('many', new InstancedMesh(box(), front, 4));
  for (let i = 0; i < 4; i++) many.setMatrixAt(i, new Matrix4().setPosition(2 * i, 0, 0));
  const scene = new Scene().add(many);
  const all = await SceneTranscript.track(scene, { contacts: 'any' });
  await all.change('as they are');
  await all.change('one moves, without a word', () => many.setMatrixAt(1, new Matrix4().setPosition(2, 1, 0)));
  await all.change('and with it', () => {
    many.instanceMatrix.needsUpdate = true;
  });
  await all.change('all move', () => many.position.set(0, 2, 0));
  await all.change('fewer', () => {
    many.count = 2;
  });
  await all.change('all again', () => {
    many.count = 4;
  });
  await all.change('more than there is room for', () => {
    many.count = 9;
  });
  await all.change('none', () => {
    many.count = 0;
  });
  await all.change('hidden with two', () => {
    many.count = 2;
    many.visible = false;
  });
  await all.change('shown', () => {
    many.visible = true;
  });
  await all.change('two that cannot be placed', () => {
    many.setMatrixAt(0, new Matrix4().makeScale(0, 0, 0));
    many.setMatrixAt(1, new Matrix4().setPosition(Number.NaN, 0, 0));
    many.instanceMatrix.needsUpdate = true;
  });
  await all.change('one is well', () => {
    many.setMatrixAt(1, new Matrix4().setPosition(1, 0, 0));
    many.instanceMatrix.needsUpdate = true;
  });
  await all.change('other matrices', () => {
    many.instanceMatrix = many.instanceMatrix.clone() as InstancedBufferAttribute;
  });
  await all.change('a side, and another geometry', () => {
    many.material = both;
    many.geometry = box(2);
  });
  await all.change('below a parent without a scale', () => many.scale.set(0, 0, 0));
  await all.change('and with one', () => many.scale.set(1, 1, 1));
  await all.tell('which of it', () => [all.tracker.idsOf(many), all.tracker.objectOf(all.tracker.idsOf(many)[1])]);
  await all.change('it leaves', () => many.removeFromParent());
  await all.check('scene-instances');
});

test.skipIf(Number.parseInt(REVISION, 10) < 166)('BatchedMeshes', async () => {
  const batch = named('batch', new BatchedMesh(6, 100, 200, front));
  const [small, large] = [batch.addGeometry(box()), batch.addGeometry(box(2))];
  const at = (x: number) => new Matrix4().setPosition(x, 0, 0);
  for (let i = 0; i < 3; i++) batch.setMatrixAt(batch.addInstance(i < 2 ? small : large), at(3 * i));
  const scene = new Scene().add(batch);
  const all = await SceneTranscript.track(scene, { contacts: 'any' });
  await all.change('as they are');
  await all.change('one moves', () => batch.setMatrixAt(1, at(9)));
  await all.change('all move', () => batch.position.set(0, 1, 0));
  await all.change('one hides', () => batch.setVisibleAt(0, false));
  await all.change('and shows', () => batch.setVisibleAt(0, true));
  await all.change('one more', () => batch.setMatrixAt(batch.addInstance(small), at(-3)));
  await all.change('one has gone', () => batch.deleteInstance(1));
  await all.change('another in its place', () => batch.setMatrixAt(batch.addInstance(large), at(-6)));
  await all.change('one has another geometry', () => batch.setGeometryIdAt(0, large));
  await all.change('a geometry is overwritten', () => batch.setGeometryAt(small, box(0.5)));
  await all.change('one cannot be placed', () => batch.setMatrixAt(2, new Matrix4().makeScale(0, 0, 0)));
  await all.change('and can', () => batch.setMatrixAt(2, at(0)));
  await all.change('hidden', () => {
    batch.visible = false;
  });
  await all.change('shown, of both sides', () => {
    batch.visible = true;
    batch.material = both;
  });
  await all.tell('which of it', () => all.tracker.objectOf(all.tracker.idsOf(batch)[1]));
  await all.change('it leaves', () => batch.removeFromParent());
  await all.check('scene-batches');
});
