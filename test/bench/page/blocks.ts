import { type BufferGeometry, Group, InstancedMesh, Matrix4, Mesh, MeshBasicMaterial, SphereGeometry } from 'three';
import { sheetOf } from '../../fixtures/sheet.js';
import type { PageRow } from './page-row.js';
import { Stage } from './stage.js';

/** Number of each kind per hidden Mesh. */
const GEOMETRIES = 0.4;
const INSTANCES = 20;
const TRIANGLES = 20;

const material = new MeshBasicMaterial();

/** How long the main thread is blocked at a time while large scenes are added, changed and removed. */
export async function blocksRow(count: number): Promise<PageRow> {
  const stage = await Stage.open();
  const { scene, service } = stage;
  const group = crowdOf(count, () => BALL);
  scene.add(group);
  while (service.stats.objects < count || !stage.isQuiet) await stage.frame();
  return {
    contenders: {
      async ours(round) {
        group.visible = round % 2 === 0;
        return stage.frame();
      },
    },
    async facts() {
      group.visible = true;
      await stage.frame();
      const formatCount = (n: number) => n.toLocaleString('en');
      await stage.during(
        `${formatCount(count)} Meshes turn invisible`,
        () => setHidden(group, true),
        afterSomeFrames(),
      );
      await stage.during('they turn visible', () => setHidden(group, false), afterSomeFrames());
      await stage.during(
        'the Meshes go',
        () => scene.remove(group),
        () => service.stats.objects === 0,
      );
      const geometries = crowdOf(Math.ceil(GEOMETRIES * count), () => new SphereGeometry(0.4, 8, 4));
      const { length } = geometries.children;
      const isTracked = (n: number) => () => service.stats.objects === n && stage.isQuiet;
      await stage.during(`${formatCount(length)} geometries come`, () => scene.add(geometries), isTracked(length));
      await stage.during(
        'the geometries go',
        () => scene.remove(geometries),
        () => service.stats.meshes === 0,
      );
      const instances = new InstancedMesh(BALL, material, INSTANCES * count);
      for (let i = 0; i < instances.count; i++) instances.setMatrixAt(i, new Matrix4().makeTranslation(2 * i, 0, 0));
      await stage.during(
        `${formatCount(instances.count)} instances come`,
        () => scene.add(instances),
        isTracked(instances.count),
      );
      await stage.during('half of them go', () => halve(instances), isTracked(instances.count / 2));
      await stage.during(
        'the others go',
        () => scene.remove(instances),
        () => service.stats.objects === 0,
      );
      await addLargeMesh(stage, TRIANGLES * count);
      return stage.facts;
    },
    close: () => stage.close(),
  };
}

/**
 * Time from adding a mesh of `count` triangles until it is tracked, and how long the main thread is blocked at a time until it
 * has been removed.
 */
export async function largeMeshRow(count: number): Promise<PageRow> {
  const stage = await Stage.open();
  return {
    contenders: {
      async ours() {
        const ms = await addLargeMesh(stage, count);
        await stage.during(
          'it goes',
          () => stage.scene.clear(),
          () => stage.service.stats.meshes === 0,
        );
        return ms;
      },
    },
    facts: () => stage.facts,
    close: () => stage.close(),
  };
}

async function addLargeMesh(stage: Stage, count: number): Promise<number> {
  const side = Math.ceil(Math.sqrt(count / 2));
  const sheet = new Mesh(sheetOf(side), material);
  const description = `a mesh of ${(2 * side * side).toLocaleString('en')} triangles comes`;
  const isTracked = () => stage.service.stats.objects === 1 && stage.isQuiet;
  return stage.during(description, () => stage.scene.add(sheet), isTracked);
}

const BALL = new SphereGeometry(0.4, 8, 4);

function crowdOf(count: number, geometry: () => BufferGeometry): Group {
  const group = new Group();
  for (let i = 0; i < count; i++) {
    const mesh = new Mesh(geometry(), material);
    mesh.position.set(2 * i, 0, 0);
    group.add(mesh);
  }
  group.updateMatrixWorld();
  return group;
}

function setHidden(group: Group, isHidden: boolean): void {
  group.visible = !isHidden;
}

function halve(instances: InstancedMesh): void {
  instances.count /= 2;
}

/** Returns a function that is true after a few calls, one per frame. */
function afterSomeFrames(): () => boolean {
  let frames = 0;
  return () => ++frames > 4;
}
