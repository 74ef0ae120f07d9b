import type { Page } from 'playwright';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import type { DemoHook } from '../../demo/main.js';
import { PAGES } from '../../demo/pages.js';
import { browseDemo, demoStarted } from '../../scripts/demo-page.mjs';

const VIEWPORT = { width: 900, height: 560 };
const PATIENCE = { timeout: 60_000, interval: 100 };

let demo: Awaited<ReturnType<typeof browseDemo>>;
beforeAll(async () => {
  demo = await browseDemo(inject('demoUrl'));
});
afterAll(() => demo?.close());

declare global {
  interface Window {
    demo?: DemoHook;
  }
}

describe('the page', () => {
  let page: Page;
  let faults: string[];
  beforeAll(async () => {
    ({ page, faults } = await demo.open(VIEWPORT));
    await demoStarted(page);
  }, 180_000);
  afterAll(() => page?.close());
  afterEach(() => expect(faults).toEqual([]));

  const textOf = async (id: string): Promise<string> => (await page.locator(`#${id}`).textContent()) ?? '';
  const eventually = (id: string, says: string | RegExp) => expect.poll(() => textOf(id), PATIENCE).toMatch(says);
  const selected = () => page.evaluate(() => document.body.dataset.selected);

  async function figure(name: string): Promise<number> {
    const value = await page.locator(`#figures tr:has(th:text-is("${name}")) td`).textContent();
    return Number((value ?? '').replace(/[^\d.]/g, ''));
  }

  /** Waits for a few frames. */
  const frames = (count = 3) =>
    page.evaluate(async (left) => {
      for (; left > 0; left--) await new Promise(requestAnimationFrame);
    }, count);

  /** Waits until the page shows figures of frames that began after the call. */
  const reported = async () => {
    await frames(); // pending ones are answered
    await page.evaluate(() => {
      const figures = document.getElementById('figures')!;
      return new Promise<void>((resolve) => {
        const observer = new MutationObserver(() => {
          observer.disconnect();
          resolve();
        });
        observer.observe(figures, { childList: true, characterData: true, subtree: true });
      });
    });
  };

  /** A pixel where the service sees an object of that name, or null for none; nothing may move meanwhile. */
  async function pixelOf(name: string | null): Promise<{ x: number; y: number }> {
    const pixel = await page.evaluate(async (wanted) => {
      const { clientWidth, clientHeight } = document.getElementById('view')!;
      for (let y = 20; y < clientHeight; y += 20) {
        for (let x = 330; x < clientWidth; x += 20) {
          // Not where a panel covers the image.
          if (document.elementFromPoint(x, y)?.id !== 'view') continue;
          const hit = await window.demo!.demo.pick(x, y);
          if ((hit?.object.name ?? null) === wanted) return { x, y };
        }
      }
      return null;
    }, name);
    expect(pixel).not.toBeNull();
    return pixel!;
  }

  test('loads, and everything moves, is seen and touches', async () => {
    await expect.poll(() => page.locator('#progress').isHidden(), PATIENCE).toBe(true);
    await expect.poll(() => figure('objects'), PATIENCE).toBe(5005);
    await expect.poll(() => figure('of them in view, and drawn'), PATIENCE).toBeGreaterThan(500);
    expect(await figure('of them in view, and drawn')).toBeLessThan(5005);
    await expect.poll(() => figure('pairs in contact'), PATIENCE).toBeGreaterThan(50);
    const before = await figure('pairs in contact');
    await expect.poll(() => figure('pairs in contact'), PATIENCE).not.toBe(before);
  });

  test('shows both ways by turns, with a cursor of its own, until somebody touches it', async () => {
    const engine = () => page.evaluate(() => window.demo!.demo.engineName);
    await expect.poll(engine, PATIENCE).toBe('main thread');
    await expect.poll(engine, PATIENCE).toBe('worker');
    // It has pointed at something automatically, and measured both.
    expect(await page.locator('#ring').isVisible()).toBe(true);
    for (const column of [1, 2]) {
      const cells = () => page.locator(`#compare tbody td:nth-of-type(${column})`).allTextContents();
      await expect.poll(cells, PATIENCE).toEqual(Array(4).fill(expect.stringMatching(/^\d+(\.\d ms)?$/)));
    }
    await page.keyboard.press('Shift');
    expect(await page.evaluate(() => window.demo!.demo.tour.isOn)).toBe(false);
    await expect.poll(() => page.locator('#ring').isHidden(), PATIENCE).toBe(true);
  });

  test('the ring is where the mouse is', async () => {
    await page.mouse.move(650, 300);
    await frames();
    const { x, y, width, height } = (await page.locator('#ring').boundingBox())!;
    expect([x + width / 2, y + height / 2].map(Math.round)).toEqual([650, 300]);
  });

  test('leads to the other pages', async () => {
    const links = page.locator('#pages a');
    expect(await links.allTextContents()).toEqual(PAGES.map(([, title]) => title));
    expect(await page.locator('#pages a[aria-current]').allTextContents()).toEqual(['Home']);
    for (const link of await links.all()) {
      const target = await page.request.get(new URL((await link.getAttribute('href'))!, page.url()).href);
      expect(await target.text()).toMatch(/<script type="module"[^>]* src=".\/assets\//);
    }
  });

  test('while everything moves, each frame has its pick', async () => {
    const { picks, visible, pairs } = await page.evaluate(() => window.demo!.record(15));
    expect(picks).toMatchObject({ asked: 15, answered: 15 });
    expect(picks.hits).toBeGreaterThan(0);
    expect(Math.min(...visible, ...pairs)).toBeGreaterThan(0);
  });

  test('the mouse over the dragon names it, and over the sky nothing', async () => {
    await page.getByRole('checkbox', { name: 'Move' }).uncheck();
    await frames();
    const { x, y } = await pixelOf('Stanford dragon');
    await page.mouse.move(x, y);
    await eventually('hit-name', 'Stanford dragon');
    expect(await textOf('hit-detail')).toMatch(/^distance \d+\.\d{3}, triangle \d+$/);
    await demo.picture(page, 'demo-hover');
    const sky = await pixelOf(null);
    await page.mouse.move(sky.x, sky.y);
    await eventually('hit-name', 'nothing');
  });

  test('a click on the dragon selects it, a drag does not change that, a click on the sky does', async () => {
    const { x, y } = await pixelOf('Stanford dragon');
    await page.mouse.click(x, y);
    await eventually('selection', 'selected: Stanford dragon');
    expect(await selected()).toBe('Stanford dragon');
    await demo.picture(page, 'demo-selected');

    const box = await pixelOf('box');
    await page.mouse.move(box.x, box.y);
    await page.mouse.down();
    await page.mouse.move(box.x + 30, box.y, { steps: 3 });
    await page.mouse.up();
    await frames();
    expect(await selected()).toBe('Stanford dragon');

    const sky = await pixelOf(null);
    await page.mouse.click(sky.x, sky.y);
    await eventually('selection', 'selected: nothing');
    expect(await selected()).toBe('');
  });

  test('the main thread finds what the worker finds', async () => {
    const work = () =>
      page.evaluate(async () => {
        const { demo } = window.demo!;
        for (let i = 0; i < 4; i++) await new Promise(requestAnimationFrame);
        const { visible, visibleCount, touching, pairs } = demo.engine.outcome;
        const picks: (string | null)[] = [];
        for (let i = 0; i < 60; i++) {
          const hit = await demo.pick(330 + 37 * (i % 10), 60 + 80 * Math.floor(i / 10));
          picks.push(hit && `${hit.object.name} ${hit.instanceId} ${hit.distance.toPrecision(6)}`);
        }
        return { visible: [...visible.subarray(0, visibleCount)], touching: [...touching], pairs, picks };
      });
    const byWorker = await work();
    await page.getByText('on the main thread', { exact: true }).click();
    const byMain = await work();
    await page.getByText('in the worker', { exact: true }).click();

    expect(byWorker.pairs).toBeGreaterThan(50);
    expect(byMain.pairs).toBe(byWorker.pairs);
    expect(byMain.touching).toEqual(byWorker.touching);
    expect(byMain.picks).toEqual(byWorker.picks);
    // The main thread tests axis-aligned boxes, which are larger: it draws a few more.
    const drawn = new Set(byMain.visible);
    expect(byWorker.visible.filter((box) => !drawn.has(box))).toEqual([]);
    expect(byMain.visible.length).toBeLessThan(1.1 * byWorker.visible.length);
  });

  test('a frozen culling camera keeps its draw list while the camera flies', async () => {
    const drawn = () => figure('of them in view, and drawn');
    const turn = async (): Promise<void> => {
      const { x, y } = { x: 600, y: 500 };
      await page.mouse.move(x, y);
      await page.mouse.down();
      await page.mouse.move(x - 150, y + 20, { steps: 4 });
      await page.mouse.up();
      for (let i = 0; i < 6; i++) await page.mouse.wheel(0, 300);
      await reported();
    };
    await reported();
    const before = await drawn();
    await page.getByLabel('Freeze the culling camera').check();
    await turn();
    // The frozen camera's far plane is at the end of the world; nothing is beyond it.
    expect(await drawn()).toBe(before);
    await demo.picture(page, 'demo-frozen');
    await page.getByLabel('Freeze the culling camera').uncheck();
    await expect.poll(drawn, PATIENCE).toBeGreaterThan(before);
  });

  test('there can be fewer boxes, and more', async () => {
    const field = page.getByLabel('Boxes').and(page.locator('input'));
    for (const boxes of [1000, 8000]) {
      await field.fill(String(boxes));
      await field.press('Enter');
      await expect.poll(() => figure('objects'), PATIENCE).toBe(boxes + 5);
      await expect.poll(() => figure('pairs in contact'), PATIENCE).toBeGreaterThan(0);
    }
    expect(await textOf('error')).toBe('');
  });
});

test('nothing moves and nothing changes by itself for those who want less motion', async () => {
  const { page, faults } = await demo.open(VIEWPORT, '', (opened: Page) =>
    opened.emulateMedia({ reducedMotion: 'reduce' }),
  );
  await demoStarted(page);
  const state = () =>
    page.evaluate(() => {
      const { tour, settings, world } = window.demo!.demo;
      return { isOn: tour.isOn, move: settings.move, first: [...world.boxes.instanceMatrix.array.slice(0, 16)] };
    });
  const before = await state();
  expect(before).toMatchObject({ isOn: false, move: false });
  await page.waitForTimeout(500);
  expect(await state()).toEqual(before);
  expect(faults).toEqual([]);
  await page.close();
});

test('what goes wrong is shown on the page', async () => {
  const { page } = await demo.open(VIEWPORT, '', (opened: Page) =>
    opened.route('**/*.gz', (route) => route.fulfill({ status: 404 })),
  );
  await demoStarted(page);
  expect(await page.locator('#error').textContent()).toMatch(/dragon.*could not be loaded: 404/);
  await page.close();
});
