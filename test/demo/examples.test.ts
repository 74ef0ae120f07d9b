// Each example does what its first line says, with a real mouse.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright';
import type { Camera, InstancedMesh, Mesh, MeshStandardMaterial, Object3D, Scene } from 'three';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import { browseDemo } from '../../scripts/demo-page.mjs';
import { root } from '../../scripts/run.mjs';

const folder = join(root, 'demo/examples');
const files = readdirSync(folder).filter((name) => /\.[tj]s$/.test(name) && name !== 'index.ts');
const PATIENCE = { timeout: 60_000, interval: 50 };
const SIZE = { width: 640, height: 400 };

/** What examples export for inspection. */
interface Example {
  camera: Camera;
  scene: Scene;
  boxes: InstancedMesh;
  forest: InstancedMesh;
}
declare const example: Example;

let demo: Awaited<ReturnType<typeof browseDemo>>;
let page: Page;
let faults: string[] = [];

beforeAll(async () => {
  demo = await browseDemo(inject('demoUrl'));
});
afterAll(() => demo?.close());

test.each(files)('%s has at most 80 lines, and needs three and collision-worker only', (name) => {
  const text = readFileSync(join(folder, name), 'utf8');
  expect(text.split('\n').length).toBeLessThanOrEqual(81);
  const imported = [...text.matchAll(/from '([^']+)'/g)].map(([, from]) => from);
  expect(imported.filter((from) => !/^(three|collision-worker)(\/|$)/.test(from))).toEqual([]);
});

test('node.js says what its arm runs into', () => {
  const { stdout, stderr } = spawnSync(process.execPath, ['demo/examples/node.js'], { cwd: root, encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(stdout.trim().split('\n')).toEqual([
    '180°: the tank is in the way',
    '270°: the pillar is in the way',
    'From above the tank is 7 away',
  ]);
});

describe('in a page,', () => {
  afterEach(async () => {
    await page.close();
    expect(faults).toEqual([]);
  });

  const said = () => page.locator('output').textContent();
  const saysOnly = (text: string | RegExp) => {
    const polled = expect.poll(said, PATIENCE);
    return typeof text === 'string' ? polled.toBe(text) : polled.toMatch(text);
  };

  async function open(name: string): Promise<void> {
    ({ page, faults } = await demo.open(SIZE, `examples/?${name}`));
    await page.waitForFunction(() => 'example' in window, null, { timeout: 60_000 });
    // Without WebGPU, three and the browser report that.
    const rest = faults.filter(
      (fault) => name !== 'webgpu' || !/WebGPU is not available|No available adapters/.test(fault),
    );
    faults.splice(0, faults.length, ...rest);
  }

  /** Where an object's centre is drawn, or a place relative to it. */
  async function placeOf(name: string, by: [number, number, number] = [0, 0, 0]): Promise<{ x: number; y: number }> {
    return page.evaluate(
      ([name, [x, y, z]]) => {
        const object = example.scene.getObjectByName(name) as Object3D;
        const place = object.localToWorld(object.position.clone().set(x, y, z)).project(example.camera);
        return { x: ((1 + place.x) / 2) * innerWidth, y: ((1 - place.y) / 2) * innerHeight };
      },
      [name, by] as const,
    );
  }

  const positionOf = (name: string) =>
    page.evaluate((name) => example.scene.getObjectByName(name)!.position.toArray(), name);

  test('the list leads to each', async () => {
    ({ page, faults } = await demo.open(SIZE, 'examples/'));
    await expect.poll(() => page.locator('li').count(), PATIENCE).toBe(files.length - 1);
    await page.getByText('hover', { exact: true }).click();
    await expect.poll(() => page.locator('strong').textContent(), PATIENCE).toBe('hover');
    await page.waitForFunction(() => 'example' in window, null, { timeout: 60_000 });
  });

  test('hover names what turns past a pointer that rests', async () => {
    await open('hover');
    await page.mouse.move(SIZE.width / 2, SIZE.height / 2 + 25);
    const names = new Set<string | undefined>();
    await expect
      .poll(async () => names.add((await said())?.replace(/,.*/s, '') || undefined).size, PATIENCE)
      .toBeGreaterThan(3);
    expect([...names].filter((name) => name && !['box', 'cone', 'knot', 'sphere'].includes(name))).toEqual([]);
    await page.mouse.move(3, SIZE.height - 3);
    await saysOnly('');
  });

  test('instances: the one that is clicked is painted', async () => {
    await open('instances');
    for (const [x, y] of [
      [320, 200],
      [200, 260],
      [450, 220],
    ]) {
      const before = await said();
      await page.mouse.click(x, y);
      await expect.poll(said, PATIENCE).not.toBe(before);
      await saysOnly(/^instance \d+$/);
      const instance = Number((await said())?.slice('instance '.length));
      // It is where the click was, give or take its motion meanwhile.
      const [at, color] = await page.evaluate((i) => {
        const { boxes, camera } = example;
        const place = boxes.position
          .clone()
          .fromArray(boxes.instanceMatrix.array, 16 * i + 12)
          .project(camera);
        const at = [((1 + place.x) / 2) * innerWidth, ((1 - place.y) / 2) * innerHeight];
        return [at, Array.from(boxes.instanceColor!.array.slice(3 * i, 3 * i + 3))];
      }, instance);
      expect(Math.hypot(at[0] - x, at[1] - y)).toBeLessThan(25);
      expect(color[0]).toBeGreaterThan(color[2]);
      await page.mouse.move(0, 0);
    }
  });

  test('contacts-by-name: what the ball touches is named while it does', async () => {
    await open('contacts-by-name');
    // Meshes are surfaces: the ball has to be on the flank of the cone, not in it.
    const { x, y } = await placeOf('cone', [0.5, 0, 0]);
    await page.mouse.move(x, y);
    await saysOnly('touches cone');
    const knot = await placeOf('knot', [0.9, 0, 0]);
    await page.mouse.move(knot.x, knot.y);
    await saysOnly('touches knot');
    // The middle of the ring is a hole, which the ball fits through.
    const ring = await placeOf('ring');
    await page.mouse.move(ring.x, ring.y);
    await saysOnly('');
  });

  test('drag: a crate goes where there is room, and stops at another', async () => {
    await open('drag');
    const drag = async (name: string, to: [number, number, number]): Promise<void> => {
      const from = await placeOf(name);
      const target = await placeOf('crate 4', to);
      await page.mouse.move(from.x, from.y);
      await page.mouse.down();
      await page.waitForTimeout(500); // until the pick is answered
      for (let i = 1; i <= 20; i++) {
        await page.mouse.move(from.x + ((target.x - from.x) * i) / 20, from.y + ((target.y - from.y) * i) / 20);
        await page.waitForTimeout(30);
      }
    };
    await drag('crate 5', [0, 0, 0]);
    await saysOnly('crate 4 is in the way');
    await page.mouse.up();
    const [x, , z] = await positionOf('crate 5');
    expect(Math.max(Math.abs(x), Math.abs(z))).toBeGreaterThan(1.2);
    expect(x).toBeLessThan(2.2);

    await drag('crate 8', [3.6, 0, 1.2]);
    await page.mouse.up();
    const [freeX, , freeZ] = await positionOf('crate 8');
    expect(freeX).toBeCloseTo(3.6, 1);
    expect(freeZ).toBeCloseTo(1.2, 1);
  });

  test('marquee: all that the rectangle touches is selected, and only that', async () => {
    await open('marquee');
    const select = async (x: number, y: number, toX: number, toY: number): Promise<string[]> => {
      await page.mouse.move(x, y);
      await page.mouse.down();
      await page.mouse.move(toX, toY, { steps: 2 });
      await saysOnly(/selected/);
      await page.waitForTimeout(500);
      await page.mouse.up();
      return page.evaluate(() =>
        (example.scene.children as Mesh<never, MeshStandardMaterial>[])
          .filter((each) => each.isMesh && each.material.color.r > 0.9)
          .map(({ name }) => name),
      );
    };
    expect((await select(1, 60, SIZE.width - 1, SIZE.height - 1)).length).toBeGreaterThan(100);
    expect((await select(1, 1, SIZE.width - 1, SIZE.height - 1)).length).toBe(200);
    const { x, y } = await placeOf('knot 60');
    const few = await select(x - 4, y - 4, x + 4, y + 4);
    expect(few).toContain('knot 60');
    expect(few.length).toBeLessThan(10);
    expect(await said()).toBe(`${few.length} selected`);
  });

  test('culling: all trees in view are drawn, and few others', async () => {
    await open('culling');
    for (const x of [100, 500]) {
      await page.mouse.move(x, 200);
      const counted = async () => {
        await page.waitForTimeout(300);
        return page.evaluate(() => {
          const { forest, camera } = example;
          const all = forest.instanceMatrix.array;
          let inView = 0;
          for (let i = 0; i < forest.count; i++) {
            const p = forest.position
              .clone()
              .fromArray(all, 16 * i + 12)
              .project(camera);
            if (Math.max(Math.abs(p.x), Math.abs(p.y), Math.abs(p.z)) <= 1) inView++;
          }
          const drawn = Number(document.querySelector('output')!.textContent!.split(' ')[0]);
          return { missing: drawn < inView, tooMany: drawn > 1.5 * inView, drawsSome: inView > 1000 };
        });
      };
      await expect.poll(counted, PATIENCE).toEqual({ missing: false, tooMany: false, drawsSome: true });
    }
    await saysOnly(/^\d+ of 40000 trees are drawn$/);
  });

  test('kill-and-go-on: the next worker knows what the last one knew', async () => {
    await open('kill-and-go-on');
    for (const [knot, number] of [
      ['left knot', 2],
      ['right knot', 3],
    ] as const) {
      await page.getByText('end the worker').click();
      await saysOnly(new RegExp(`worker ${number} goes on$`));
      const { x, y } = await placeOf(knot, [0, 0.9, 0]);
      await page.mouse.move(x, y);
      await saysOnly(new RegExp(`^${knot}; worker ${number}`));
    }
  });

  test('webgpu: what turns under the pointer is named', async () => {
    await open('webgpu');
    const { x, y } = await placeOf('green knot', [0, 0.8, 0]);
    await page.mouse.move(x, y);
    await saysOnly(/^green knot, drawn by Web(GPU|GL)$/);
    const violet = await placeOf('violet knot', [0, 0.8, 0]);
    await page.mouse.move(violet.x, violet.y);
    await saysOnly(/^violet knot, drawn by Web(GPU|GL)$/);
  });
});
