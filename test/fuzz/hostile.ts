// Values that a caller may pass by mistake or by malice. Each is created anew, since some are consumed by being read.

const throwTrap = (): never => {
  throw new Error('a trap of the caller');
};

/** A proxy on which every operation throws. */
function trap(target: object): object {
  const names = Object.getOwnPropertyNames(Reflect) as (keyof ProxyHandler<object>)[];
  return new Proxy(target, Object.fromEntries(names.map((name) => [name, throwTrap])));
}

function revoked(target: object): object {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

/** An array-like object of infinite length, with the same item at every index. */
function endlessArrayLike(target: object, item: unknown): object {
  return new Proxy(target, {
    get: (_, key) => (key === 'length' ? 2 ** 32 - 1 : typeof key === 'string' && /^\d+$/.test(key) ? item : undefined),
  });
}

/** Its iterator never ends, although its length is right. */
function endlessIterator(items: readonly unknown[]): object {
  return Object.assign(Object.create(null), items, {
    length: items.length,
    *[Symbol.iterator]() {
      for (;;) yield 0;
    },
  });
}

function cyclic(): object {
  const object: Record<string, unknown> = {};
  object.self = object;
  return Object.assign(object, { shape: object, options: object, origin: object });
}

export function detached<T extends ArrayBufferView>(view: T): T {
  structuredClone(view.buffer, { transfer: [view.buffer as ArrayBuffer] });
  return view;
}

type Resizable = ArrayBuffer & { resize(bytes: number): void };

/** ES2024, which is newer than the library's own target. */
export function resizable(bytes: number): Resizable {
  const options = { maxByteLength: 2 * bytes + 64 };
  return new (ArrayBuffer as unknown as new (bytes: number, options: object) => Resizable)(bytes, options);
}

/** The SharedArrayBuffer constructor, which pages without cross-origin isolation can only reach through WebAssembly. */
const SharedBuffer = new WebAssembly.Memory({ shared: true, initial: 0, maximum: 0 }).buffer
  .constructor as SharedArrayBufferConstructor;

type Realm = Record<'Object' | 'Array' | 'ArrayBuffer' | `Float${32 | 64}Array` | `Uint${16 | 32}Array`, unknown>;
let realm: Realm = globalThis;

/** The window of an iframe or, in Node, another context: its objects have different classes. */
export function useRealm(newRealm: Realm): void {
  realm = newRealm;
}

function fromRealm<T>(name: keyof Realm | string, ...args: unknown[]): T {
  return new (realm[name as keyof Realm] as new (...all: unknown[]) => T)(...args);
}

function outOfBounds(): Float32Array {
  const buffer = resizable(64);
  const view = new Float32Array(buffer, 0, 16);
  buffer.resize(8);
  return view;
}

class ThrowingSpecies extends Float32Array {
  static get [Symbol.species](): never {
    return throwTrap();
  }
}

class Mislabelled {
  get [Symbol.toStringTag](): string {
    return 'Float32Array';
  }
}

const signalLike = (aborted: unknown, addEventListener: unknown) => ({
  aborted,
  addEventListener,
  removeEventListener: () => {},
});

/** By name. */
export const HOSTILE_VALUES: Record<string, () => unknown> = {
  undefined: () => undefined,
  null: () => null,
  true: () => true,
  false: () => false,
  '0': () => 0,
  '-0': () => -0,
  '1': () => 1,
  '-1': () => -1,
  half: () => 0.5,
  NaN: () => Number.NaN,
  Infinity: () => Number.POSITIVE_INFINITY,
  '-Infinity': () => Number.NEGATIVE_INFINITY,
  denormal: () => 5e-324,
  'negative denormal': () => -5e-324,
  largest: () => Number.MAX_VALUE,
  'negative largest': () => -Number.MAX_VALUE,
  'beyond float32': () => 1e39,
  '2^31': () => 2 ** 31,
  '2^32': () => 2 ** 32,
  '2^53': () => 2 ** 53,
  'empty string': () => '',
  'a number as string': () => '5',
  'lone surrogate': () => '\ud800',
  'huge string': () => 'x'.repeat(2 ** 24),
  __proto__string: () => '__proto__',
  symbol: () => Symbol('s'),
  bigint: () => 1n,
  'huge bigint': () => 10n ** 400n,
  function: () => () => 1,
  'throwing function': () => throwTrap,
  class: () => class {},
  'empty object': () => ({}),
  'null prototype': () => Object.create(null),
  cyclic,
  'unknown key': () => ({ surprise: 1 }),
  'unknown symbol': () => ({ [Symbol('s')]: 1 }),
  date: () => new Date(Number.NaN),
  regexp: () => /x/,
  map: () => new Map([['shape', 1]]),
  error: () => new Error('none'),
  'boxed number': () => Object(1),
  'boxed string': () => Object('main'),
  'boxed symbol': () => Object(Symbol('s')),
  thenable: () => Object.defineProperty({}, 'then', { value: (resolve: (value: unknown) => void) => resolve(1) }),
  'throwing thenable': () => Object.defineProperty({}, 'then', { get: throwTrap }),
  promise: () => Promise.resolve(1),
  'throwing toString': () => ({ toString: throwTrap, valueOf: throwTrap, [Symbol.toPrimitive]: throwTrap }),
  'throwing tag': () => ({
    get [Symbol.toStringTag]() {
      return throwTrap();
    },
  }),
  'trapped object': () => trap({}),
  'trapped array': () => trap([]),
  'trapped function': () => trap(() => {}),
  'revoked object': () => revoked({}),
  'revoked array': () => revoked([]),
  'proxy of proxies': () => new Proxy({}, { get: (_, key) => (key === 'then' ? undefined : trap({})) }),
  'endless prototype chain': () => {
    const chain: object = new Proxy({}, { getPrototypeOf: () => chain });
    return chain;
  },
  'empty array': () => [],
  holes: () => new Array(3),
  'sixteen holes': () => new Array(16),
  'longest array': () => new Array(2 ** 32 - 1),
  strings: () => ['1', '2', '3'],
  'three numbers': () => [1, 2, 3],
  'three bigints': () => [1n, 2n, 3n],
  'three symbols': () => [Symbol('a'), Symbol('b'), Symbol('c')],
  'three traps': () => [trap({}), trap({}), trap({})],
  'sixteen zeros': () => new Array(16).fill(0),
  'sixteen bigints': () => new Array(16).fill(1n),
  'sixteen strings': () => new Array(16).fill('1'),
  'sixteen largest': () => new Array(16).fill(Number.MAX_VALUE),
  'sixteen denormals': () => new Array(16).fill(5e-324),
  'length 2^32': () => ({ length: 2 ** 32 }),
  'length NaN': () => ({ length: Number.NaN }),
  'length bigint': () => ({ length: 3n }),
  'length symbol': () => ({ length: Symbol('s') }),
  'throwing length': () => ({
    get length() {
      return throwTrap();
    },
  }),
  'throwing item': () => ({
    length: 3,
    0: 1,
    get 1() {
      return throwTrap();
    },
    2: 1,
  }),
  'throwing item of sixteen': () => ({
    length: 16,
    0: 1,
    get 5() {
      return throwTrap();
    },
  }),
  'endless array': () => endlessArrayLike([], 1),
  'endless object': () => endlessArrayLike({}, 1),
  'two that spin': () => endlessIterator([1, 1]),
  'three that spin': () => endlessIterator([1, 1, 1]),
  'sixteen that spin': () => endlessIterator(new Array(16).fill(1)),
  'array that spins': () => Object.assign([1], { [Symbol.iterator]: () => ({ next: () => ({ value: 1 }) }) }),
  'no bytes': () => new ArrayBuffer(0),
  'zero bytes': () => new ArrayBuffer(4096),
  'detached buffer': () => detached(new Uint8Array(64)).buffer,
  'shared buffer': () => new SharedBuffer(4096),
  'resizable buffer': () => resizable(4096),
  'fake buffer': () => ({ [Symbol.toStringTag]: 'ArrayBuffer', byteLength: 64 }),
  'fake array': () => new Mislabelled(),
  'fake float32': () => Object.defineProperty(new Float64Array(18), Symbol.toStringTag, { value: 'Float32Array' }),
  'throwing array tag': () => Object.defineProperty(new Float32Array(18), Symbol.toStringTag, { get: throwTrap }),
  'empty floats': () => new Float32Array(0),
  floats: () => new Float32Array(144).fill(1),
  'NaN floats': () => new Float32Array(144).fill(Number.NaN),
  'infinite floats': () => new Float32Array(144).fill(Number.POSITIVE_INFINITY),
  'denormal floats': () => new Float32Array(144).fill(1e-45),
  'detached floats': () => detached(new Float32Array(144)),
  'detached ids': () => detached(new Uint32Array(1)),
  'floats out of bounds': outOfBounds,
  'shared floats': () => new Float32Array(new SharedBuffer(576)),
  'resizable floats': () => new Float32Array(resizable(576)),
  'grabbing floats': () => new ThrowingSpecies(144).fill(1),
  'floats of a lying length': () => Object.defineProperty(new Float32Array(9).fill(1), 'length', { value: 144 }),
  'floats of no buffer': () => Object.defineProperty(new Float32Array(9).fill(1), 'buffer', { get: throwTrap }),
  doubles: () => new Float64Array(16).fill(1),
  bytes: () => new Uint8Array(64),
  bigints: () => new BigInt64Array(16),
  ids: () => new Uint32Array(4).fill(0xffffffff),
  'data view': () => new DataView(new ArrayBuffer(64)),
  'aborted signal': () => AbortSignal.abort(),
  'aborted by a symbol': () => AbortSignal.abort(Symbol('s')),
  'signal that throws': () => signalLike(false, throwTrap),
  'signal that cannot forget': () => ({ aborted: false, addEventListener: () => {} }),
  'signal that throws when it forgets': () => ({ ...signalLike(false, () => {}), removeEventListener: throwTrap }),
  'signal that fires at once': () => signalLike(false, (_: string, listener: () => void) => listener()),
  'signal that fires later': () => signalLike(false, (_: string, listener: () => void) => queueMicrotask(listener)),
  'signal without a reason': () => ({
    ...signalLike(true, () => {}),
    get reason() {
      return throwTrap();
    },
  }),
  'signal that throws when asked': () => ({
    ...signalLike(false, () => {}),
    get aborted() {
      return throwTrap();
    },
  }),
};

const HOSTILE_AFTER_ONE: (() => unknown)[] = [
  () => 1n,
  () => Symbol('s'),
  throwTrap,
  () => undefined,
  () => Number.NaN,
];

/** Equivalents of a value in other types: a call must give the same answer as with the original. */
export function disguises(value: unknown): Record<string, () => unknown> {
  if (value instanceof ArrayBuffer) {
    return {
      'of another realm': () => {
        const copy = fromRealm<ArrayBuffer>('ArrayBuffer', value.byteLength);
        new Uint8Array(copy).set(new Uint8Array(value));
        return copy;
      },
    };
  }
  if (ArrayBuffer.isView(value) && 'length' in value) return typedDisguises(value as Float32Array);
  if (Array.isArray(value)) return { ...arrayDisguises(value), ...objectDisguises(value) };
  const isPlain = typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
  return isPlain ? objectDisguises(value) : {};
}

function objectDisguises(value: object): Record<string, () => unknown> {
  const descriptors = () => Object.getOwnPropertyDescriptors(value) as PropertyDescriptorMap;
  const emptyCopy = () => (Array.isArray(value) ? [] : {});
  const withGetters = (change: (key: string, item: unknown) => () => unknown) => {
    const copy = emptyCopy();
    for (const [key, { value: item, enumerable }] of Object.entries(descriptors())) {
      if (key !== 'length') Object.defineProperty(copy, key, { get: change(key, item), enumerable: enumerable! });
    }
    return copy;
  };
  const changingLater = (laterValue: () => unknown) => () =>
    withGetters((_, item) => {
      let reads = 0;
      return () => (reads++ === 0 ? item : laterValue());
    });
  return {
    frozen: () => Object.freeze(Object.assign(emptyCopy(), value)),
    'of getters': () => withGetters((_, item) => () => item),
    proxied: () => new Proxy(Object.assign(emptyCopy(), value), {}),
    'of another realm': () =>
      Object.assign(Array.isArray(value) ? fromRealm<[]>('Array') : fromRealm<object>('Object'), value),
    'of no prototype': () => Object.create(null, descriptors()),
    inherited: () => Object.create(value),
    ...Object.fromEntries(HOSTILE_AFTER_ONE.map((laterValue, i) => [`changing ${i}`, changingLater(laterValue)])),
  };
}

/** Reads by index, because the iterator may never end; and only the first items, because the length may be false. */
function itemsOf(value: ArrayLike<unknown>): unknown[] {
  return Array.prototype.slice.call(value, 0, 1000);
}

function arrayDisguises(value: readonly unknown[]): Record<string, () => unknown> {
  const isNumbers = value.every((item) => typeof item === 'number');
  return {
    'an array-like': () => ({ ...value, length: value.length }),
    'an array that spins': () =>
      Object.assign(itemsOf(value), { [Symbol.iterator]: () => ({ next: () => ({ value: 1 }) }) }),
    'an array of another map': () =>
      Object.assign(itemsOf(value), { map: throwTrap, every: throwTrap, slice: throwTrap, sort: throwTrap }),
    ...(isNumbers && { 'a Float64Array': () => Float64Array.from(value as number[]) }),
  };
}

function typedDisguises(value: Float32Array): Record<string, () => unknown> {
  const Kind = value.constructor as Float32ArrayConstructor;
  class Species extends Kind {
    static get [Symbol.species](): never {
      return throwTrap();
    }
  }
  const copyOn = (buffer: ArrayBufferLike) => {
    const copy = new Kind(buffer as ArrayBuffer);
    copy.set(value);
    return copy;
  };
  const withProperties = (properties: PropertyDescriptorMap) => Object.defineProperties(new Kind(value), properties);
  return {
    'on a shared buffer': () => copyOn(new SharedBuffer(value.byteLength)),
    'of another realm': () => fromRealm(Kind.name, itemsOf(value)),
    'on a resizable buffer': () => copyOn(resizable(value.byteLength)),
    'in the middle of a buffer': () => {
      const larger = new Kind(value.length + 8);
      larger.set(value, 4);
      return larger.subarray(4, 4 + value.length);
    },
    'of a species': () => new Species(value),
    'of own methods': () =>
      withProperties({
        slice: { value: throwTrap },
        set: { value: throwTrap },
        subarray: { value: throwTrap },
        constructor: { value: throwTrap },
      }),
    'of a lying length': () =>
      withProperties({ length: { value: 2 ** 31 }, byteLength: { value: 0 }, buffer: { value: null } }),
    'of a throwing length': () =>
      withProperties({ length: { get: throwTrap }, byteOffset: { get: throwTrap }, buffer: { get: throwTrap } }),
    'that spins': () => withProperties({ [Symbol.iterator]: { value: () => ({ next: () => ({ value: 1 }) }) } }),
  };
}
