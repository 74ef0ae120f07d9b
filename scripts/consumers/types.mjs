// Compiles the types of all entries with the oldest TypeScript that is supported and with the latest, in each mode of module
// resolution, and with the libraries' own types checked.
import { ANSWER, binOf, runIn, write } from './app.mjs';

/**
 * Module resolutions, each with the `module` that TypeScript requires. TypeScript 6 accepts node10 only with a flag, and 7 not at
 * all.
 */
const RESOLUTIONS = { bundler: 'esnext', node16: 'node16', nodenext: 'nodenext', node10: 'esnext' };

/** Errors in other packages' types are ignored: those of three and of fiber do not pass with every setting. */
const OF_OTHERS = /^node_modules\/(?!collision-worker\/)/;

const USE = `
  import { CollisionError, createCollisionService, type CollisionService, type Hit, type MeshData } from 'collision-worker';
  import { clash, toBcf, type ClashReport, type Rule } from 'collision-worker/clash';
  import { clashFiles } from 'collision-worker/clash/node';
  import { createCollisionService as createInline } from 'collision-worker/inline';
  import { forwardPointerEvents } from 'collision-worker/pointer';
  import { Collision, collisionEvents } from 'collision-worker/react';
  import { meshDataFromGeometry, trackScene, viewFromCamera, type SceneTracker } from 'collision-worker/three';
  import type {} from 'collision-worker/worker';
  import { BoxGeometry, PerspectiveCamera, Scene } from 'three';

  export async function use(): Promise<Hit | null> {
    const service: CollisionService = await createCollisionService({ timeout: 5000 });
    const other: CollisionService = await createInline();
    other.dispose();
    const data: MeshData = meshDataFromGeometry(new BoxGeometry());
    const mesh = await service.addMesh(data);
    service.addObject({ shape: { type: 'mesh', mesh } });
    const camera = new PerspectiveCamera();
    service.setView(viewFromCamera(camera, { width: 1, height: 1 }));
    const tracker: SceneTracker = await trackScene(service, new Scene());
    tracker.dispose();
    // @ts-expect-error a name that there is not: types that are any would let it pass
    service.noSuchThing();
    return service.pick(1, 1);
  }
  export async function useClash(rules: Rule[]): Promise<Uint8Array> {
    const report: ClashReport = await clash([], null, rules, { workers: 2 });
    const other: ClashReport = await clashFiles('a.ifc', null, rules, { work: 'work' });
    // @ts-expect-error a name that there is not
    report.noSuchThing;
    return toBcf(other);
  }
  export const error = new CollisionError('ABORTED', 'an example');
  export { Collision, collisionEvents, forwardPointerEvents };
`;

function compile(moduleResolution, more = []) {
  return (app) => {
    write(app, { 'types.ts': USE });
    const tsc = binOf(app, 'tsc');
    const flags = ['--noEmit', '--strict', '--skipLibCheck', 'false', '--target', 'es2022', '--jsx', 'react-jsx'];
    const how = ['--module', RESOLUTIONS[moduleResolution], '--moduleResolution', moduleResolution];
    const args = [...flags, '--lib', 'es2022,dom,dom.iterable', ...how, ...more, 'types.ts'];
    const { stdout } = runIn(app, tsc, args, { mayFail: true });
    const errors = stdout.split('\n').filter((line) => line.includes('error TS') && !OF_OTHERS.test(line));
    return errors.length === 0 ? ANSWER : stdout;
  };
}

function typescript(version, resolutions, more = {}) {
  return {
    packages: [
      ...[`typescript@${version}`, '@types/three', '@types/react', 'react', '@react-three/fiber'],
      ...['@pmndrs/pointer-events'],
    ],
    ways: Object.fromEntries(resolutions.map((name) => [name, compile(name, more[name])])),
  };
}

export const TYPES = {
  'typescript-5.4': typescript('5.4', Object.keys(RESOLUTIONS)),
  'typescript-6': typescript('6', Object.keys(RESOLUTIONS), { node10: ['--ignoreDeprecations', '6.0'] }),
  typescript: typescript('latest', ['bundler', 'node16', 'nodenext']),
};
