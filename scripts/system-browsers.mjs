// Runs vitest in the system's Firefox and WebKit: playwright supports neither of these builds. The browser's own command line
// opens a page; real mouse input and Chromium's protocol are not available this way.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineBrowserProvider } from '@vitest/browser';

/** Settings without which Firefox prompts, reports telemetry, or throttles timers of background pages. */
const FIREFOX_SETTINGS = {
  'app.update.enabled': false,
  'browser.shell.checkDefaultBrowser': false,
  'browser.aboutwelcome.enabled': false,
  'datareporting.policy.dataSubmissionEnabled': false,
  'dom.min_background_timeout_value': 4,
  'dom.timeout.enable_budget_timer_throttling': false,
  'toolkit.telemetry.reportingpolicy.firstRun': false,
  'webgl.force-enabled': true,
};

const onPath = (name) => {
  const { status, stdout } = spawnSync('which', [name], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
};

function miniBrowser() {
  const libraries = '/usr/lib/x86_64-linux-gnu';
  const folders = existsSync(libraries) ? readdirSync(libraries).filter((name) => name.startsWith('webkit2gtk-4')) : [];
  return folders.map((name) => join(libraries, name, 'MiniBrowser')).find((path) => existsSync(path));
}

/** By name: the Debian packages, and the command that opens an address in a fresh profile. */
export const SYSTEM_BROWSERS = {
  firefox: {
    // Without a screen Firefox has no WebGL, and with a virtual one that of Mesa, in software.
    packages: ['firefox-esr', 'libegl1', 'libgl1-mesa-dri', 'xvfb', 'xauth'],
    find: () => (onPath('xvfb-run') ? ['firefox-esr', 'firefox'].map(onPath).find(Boolean) : undefined),
    command(path, profile, url) {
      const lines = Object.entries(FIREFOX_SETTINGS).map(([key, value]) => `user_pref('${key}', ${value});`);
      writeFileSync(join(profile, 'user.js'), lines.join('\n'));
      return ['xvfb-run', ['--auto-servernum', path, '--no-remote', '--profile', profile, url]];
    },
  },
  webkit: {
    // The driver's package includes MiniBrowser, which needs a screen.
    packages: ['webkit2gtk-driver', 'xvfb', 'xauth'],
    find: () => (onPath('xvfb-run') ? miniBrowser() : undefined),
    command: (path, _profile, url) => ['xvfb-run', ['--auto-servernum', path, '--private', url]],
  },
};

/** Returns the vitest provider of a browser, by name. */
export function systemBrowser(name) {
  return defineBrowserProvider({
    name: 'system',
    supportedBrowser: Object.keys(SYSTEM_BROWSERS),
    providerFactory: () => new SystemBrowser(name),
  });
}

class SystemBrowser {
  name = 'system';
  supportsParallelism = false;
  initScripts = [];
  #browser;
  #child;
  #profile;

  constructor(browser) {
    this.#browser = SYSTEM_BROWSERS[browser];
    process.on('exit', () => this.close());
  }

  getCommandsContext() {
    return {};
  }

  async openPage(_session, url) {
    this.close();
    this.#profile = mkdtempSync(join(tmpdir(), 'collision-worker-browser-'));
    const [command, args] = this.#browser.command(this.#browser.find(), this.#profile, url);
    // In its own process group, because it starts other processes.
    this.#child = spawn(command, args, {
      detached: true,
      stdio: 'ignore',
      env: {
        ...process.env,
        HOME: this.#profile,
        LIBGL_ALWAYS_SOFTWARE: '1',
        WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1',
      },
    });
  }

  close() {
    if (this.#child === undefined) return;
    try {
      process.kill(-this.#child.pid);
    } catch {
      // it has ended
    }
    this.#child = undefined;
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 5 });
  }
}
