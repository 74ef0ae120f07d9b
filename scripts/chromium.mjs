// The Chromium for tests, demo checks and `npm run headless`: found on the machine, or else installed.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fail, run, runNode } from './run.mjs';

const { env, platform } = process;
const isRoot = process.getuid?.() === 0;

const LINUX_NAMES = [
  'chromium',
  'chromium-browser',
  'google-chrome-stable',
  'google-chrome',
  'microsoft-edge-stable',
  'microsoft-edge',
];
const MAC_APPS = ['Google Chrome', 'Chromium', 'Microsoft Edge'];
const WINDOWS_PATHS = [
  'Google\\Chrome\\Application\\chrome.exe',
  'Chromium\\Application\\chrome.exe',
  'Microsoft\\Edge\\Application\\msedge.exe',
];

function systemCandidates() {
  if (platform === 'win32') {
    const folders = [env.ProgramFiles, env['ProgramFiles(x86)'], env.LocalAppData].filter(Boolean);
    return WINDOWS_PATHS.flatMap((path) => folders.map((folder) => join(folder, path)));
  }
  if (platform === 'darwin') {
    const folders = ['/Applications', join(homedir(), 'Applications')];
    return MAC_APPS.flatMap((app) => folders.map((folder) => join(folder, `${app}.app/Contents/MacOS/${app}`)));
  }
  const folders = (env.PATH ?? '').split(delimiter).filter(Boolean);
  return LINUX_NAMES.flatMap((name) => folders.map((folder) => join(folder, name)));
}

/**
 * An installed browser may fail to start: libraries may be missing, and Ubuntu's chromium-browser only says how to install it. On
 * Windows a browser would open a window instead of printing its version.
 */
function starts(path) {
  if (!existsSync(path)) return false;
  return platform === 'win32' || spawnSync(path, ['--version'], { timeout: 30_000 }).status === 0;
}

/** Returns the path of a Chromium, Chrome or Edge on this machine; undefined if there is none. */
function findChromium() {
  if (env.CHROMIUM_PATH) {
    if (!existsSync(env.CHROMIUM_PATH)) fail(`CHROMIUM_PATH names ${env.CHROMIUM_PATH}, which is not there.`);
    return env.CHROMIUM_PATH;
  }
  const own = createRequire(import.meta.url)('playwright').chromium.executablePath();
  return [own, ...systemCandidates()].find(starts);
}

function hasCommand(name) {
  const folders = (env.PATH ?? '').split(delimiter);
  return folders.some((folder) => existsSync(join(folder, platform === 'win32' ? `${name}.exe` : name)));
}

function installByPlaywright() {
  const playwright = 'node_modules/playwright/cli.js';
  // A download that hangs must not block the system's own package forever.
  const code = runNode(playwright, ['install', 'chromium'], { timeout: 300_000 });
  if (code === 0 && platform === 'linux' && isRoot) runNode(playwright, ['install-deps', 'chromium']);
}

function installBySystem() {
  const steps = {
    'apt-get': [
      ['apt-get', 'update'],
      ['apt-get', 'install', '-y', 'chromium'],
    ],
    dnf: [['dnf', 'install', '-y', 'chromium']],
    pacman: [['pacman', '-Sy', '--noconfirm', 'chromium']],
    apk: [['apk', 'add', 'chromium']],
    zypper: [['zypper', '--non-interactive', 'install', 'chromium']],
    brew: [['brew', 'install', '--cask', 'google-chrome']],
    winget: [['winget', 'install', '--exact', '--id', 'Google.Chrome', '--silent', '--accept-package-agreements']],
  };
  const manager = Object.keys(steps).find(hasCommand);
  if (!manager) return;
  const asRoot = platform === 'linux' && !isRoot ? ['sudo', '--non-interactive'] : [];
  for (const step of steps[manager]) {
    const [command, ...args] = [...asRoot, ...step];
    run(command, args, { env: { ...env, DEBIAN_FRONTEND: 'noninteractive' }, timeout: 900_000 });
  }
}

/** Returns the path of a Chromium; installs one if there is none. */
export function ensureChromium() {
  let path = findChromium();
  for (const install of [installByPlaywright, installBySystem]) {
    if (path) break;
    console.log('No Chromium found on this machine; installing one…');
    install();
    path = findChromium();
  }
  return path ?? fail('No Chromium could be found or installed. Install Chromium or Chrome, or set CHROMIUM_PATH.');
}

/** Command line of Chromium: no network traffic of its own, and WebGL in software if there is no screen. */
const ARGS = [
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--use-angle=swiftshader',
  '--enable-unsafe-swiftshader',
  '--ignore-gpu-blocklist',
  // Chromium refuses to run sandboxed as root, which is common in continuous integration.
  ...(platform === 'linux' && isRoot ? ['--no-sandbox'] : []),
];

/** For pages whose pictures nobody looks at: the CPU composites the page itself, not through the software driver of WebGL. */
const UNSEEN_ARGS = ['--disable-gpu-compositing'];

/**
 * Returns options for playwright's `chromium.launch`. Installs a Chromium if there is none, unless `install` is false; `draws` is
 * false for pages whose pictures nobody looks at.
 */
export function chromiumLaunchOptions({ install = true, draws = true } = {}) {
  const args = draws ? ARGS : [...ARGS, ...UNSEEN_ARGS];
  return { executablePath: install ? ensureChromium() : findChromium(), args, headless: true };
}
