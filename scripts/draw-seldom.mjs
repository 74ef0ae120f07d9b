// Saves a page most of its drawing when only its states are checked: WebGL runs in software there, and a frame of 100,000
// triangles takes a core a quarter of a second.

/** Milliseconds between two frames: 10 frames per second, of which a slow machine drew three. */
const INTERVAL = 100;

/**
 * Makes a page draw seldom, from its first script on. The work in a frame is done as usual, at ten frames per second; but a
 * draw call reaches the driver only if it is new: the first one of a program with a vertex array, and one that draws at
 * least twice as much with them as any before. So all shaders are compiled, and WebGL still reports errors of draw calls.
 *
 * @param {import('playwright').Page} page
 */
export async function drawSeldom(page) {
  await page.addInitScript(frameSeldom, INTERVAL);
  await page.addInitScript(drawNews);
}

/** Runs in the page: `requestAnimationFrame` calls back once per `interval` milliseconds; all waiting callbacks share a frame. */
function frameSeldom(interval) {
  const nextFrame = window.requestAnimationFrame.bind(window);
  const waiting = new Map();
  let count = 0;
  let earliest = 0;
  let isAsked = false;
  const run = (time) => {
    earliest = performance.now() + interval;
    isAsked = false;
    // Callbacks requested meanwhile run in the next frame; callbacks cancelled meanwhile do not run.
    for (const [id, callback] of [...waiting]) {
      if (!waiting.delete(id)) continue;
      try {
        callback(time);
      } catch (error) {
        reportError(error);
      }
    }
  };
  window.requestAnimationFrame = (callback) => {
    waiting.set(++count, callback);
    if (!isAsked) setTimeout(nextFrame, earliest - performance.now(), run);
    isAsked = true;
    return count;
  };
  window.cancelAnimationFrame = (id) => {
    waiting.delete(id);
  };
}

/** Runs in the page: skips draw calls that are not new. */
function drawNews() {
  const { prototype } = WebGL2RenderingContext;
  const used = new WeakMap();
  const stateOf = (context) => {
    if (!used.has(context)) used.set(context, { program: null, array: null, most: new WeakMap() });
    return used.get(context);
  };
  const note = (name, key) => {
    const method = prototype[name];
    prototype[name] = function (value) {
      stateOf(this)[key] = value;
      method.call(this, value);
    };
  };
  note('useProgram', 'program');
  note('bindVertexArray', 'array');

  const isNews = (context, amount) => {
    const { program, array, most } = stateOf(context);
    if (program === null) return true;
    if (!most.has(program)) most.set(program, new WeakMap());
    const byArray = most.get(program);
    const key = array ?? context;
    if (amount < (byArray.get(key) ?? 0)) return false;
    byArray.set(key, 2 * Math.max(1, amount));
    return true;
  };
  const spare = (owner, name, amountOf, contextOf = (self) => self) => {
    const method = owner[name];
    owner[name] = function (...values) {
      if (isNews(contextOf(this), amountOf(...values))) method.apply(this, values);
    };
  };
  spare(prototype, 'drawArrays', (_mode, first, count) => first + count);
  spare(prototype, 'drawElements', (_mode, count) => count);
  spare(prototype, 'drawRangeElements', (_mode, _start, _end, count) => count);
  spare(prototype, 'drawArraysInstanced', (_mode, first, count, instances) => (first + count) * instances);
  spare(prototype, 'drawElementsInstanced', (_mode, count, _type, _offset, instances) => count * instances);

  const getExtension = prototype.getExtension;
  const spared = new WeakSet();
  prototype.getExtension = function (name) {
    const extension = getExtension.call(this, name);
    if (extension === null || name.toLowerCase() !== 'webgl_multi_draw' || spared.has(extension)) return extension;
    spared.add(extension);
    for (const each of [
      'multiDrawArrays',
      'multiDrawElements',
      'multiDrawArraysInstanced',
      'multiDrawElementsInstanced',
    ]) {
      // Their last argument is the number of draws.
      spare(
        extension,
        `${each}WEBGL`,
        (...values) => values.at(-1),
        () => this,
      );
    }
    return extension;
  };
}
