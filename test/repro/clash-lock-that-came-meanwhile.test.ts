// Of two processes that found a stale lock, one removed it and locked the folder, and the other removed this lock, too: it looked
// between the two, and took a lock that was gone for a stale one. Both ran in the folder.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { afterAll, expect, test, vi } from 'vitest';
import { lockWork } from '../../src/clash/node/work-lock.js';
import { TemporaryFolder } from '../fixtures/clash-cli.js';

/** Called around each look at a file, with what looks. */
let aroundStat = <T>(_path: string, look: () => Promise<T>): Promise<T> => look();

vi.mock('node:fs/promises', async (importOriginal) => {
  const actual = await importOriginal<typeof import('node:fs/promises')>();
  return { ...actual, stat: (path: string) => aroundStat(path, () => actual.stat(path)) };
});

const folder = new TemporaryFolder();
afterAll(() => folder.remove());

const ENDED = JSON.stringify({ pid: 2 ** 30, host: hostname() });
const ALIVE = JSON.stringify({ pid: process.ppid, host: hostname() });

test.each(['lock', 'lock.removal'])('a process that looks while there is no %s removes none', async (name) => {
  const work = folder.file(name);
  mkdirSync(work);
  writeFileSync(`${work}/lock`, ENDED);
  if (name === 'lock.removal') writeFileSync(`${work}/${name}`, ENDED);
  let looks = 0;
  aroundStat = async (path, look) => {
    // The first look at the lock finds that it is stale. Another process is faster than the next one.
    if (!path.endsWith(`/${name}`) || ++looks !== (name === 'lock' ? 2 : 1)) return look();
    rmSync(`${work}/${name}`);
    return look().finally(() => writeFileSync(`${work}/${name}`, ALIVE));
  };
  const message = expect.stringContaining(`process ${process.ppid} on ${hostname()} has it`);
  await expect(lockWork(work)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', message });
  expect(looks).toBeGreaterThan(1);
  expect(readFileSync(`${work}/${name}`, 'utf8')).toBe(ALIVE);
  expect(existsSync(`${work}/lock.removal`)).toBe(name === 'lock.removal');
});
