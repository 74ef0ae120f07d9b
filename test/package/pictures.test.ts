import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../../scripts/run.mjs';
import { drawPictures } from '../pictures/main.js';

const folder = join(root, 'docs/pictures');

test('the pictures of docs/ are those of the trees and contacts as they are (npm run pictures)', async () => {
  const pictures = await drawPictures();
  expect(readdirSync(folder).sort()).toEqual(Object.keys(pictures).sort());
  for (const [name, picture] of Object.entries(pictures)) {
    expect(readFileSync(join(folder, name), 'utf8') === picture, name).toBe(true);
  }
});
