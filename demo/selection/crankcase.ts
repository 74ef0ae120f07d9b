import { BoxGeometry, type Group, Matrix4, TorusGeometry, Vector3 } from 'three';
import type { Forms } from '../forms.js';
import { Assembly, placement, rodBetween } from './assembly.js';
import { CRANKPIN } from './cylinder.js';

const FORWARD = new Vector3(0, 0, 1);
/** Rotation from y to z: lathed parts are then aligned with the shaft. */
const ALONG_SHAFT = placement(0, 0, 0, FORWARD);

export function addCrankcase(root: Group, forms: Forms): void {
  const assembly = new Assembly(root);
  const crankcase = forms.ring(0.86, 1.08, 1.24);
  const nose = forms.lathe(
    [1.02, 0.62],
    [1.02, 0.72],
    [0.86, 0.8],
    [0.62, 1.2],
    [0.36, 1.6],
    [0.36, 1.75],
    [0.2, 1.75],
  );
  const blower = forms.lathe([0.2, -1.35], [0.8, -1.35], [1.0, -1.15], [1.14, -1.0], [1.14, -0.72], [1.0, -0.62]);
  const rear = forms.lathe([0, -2.05], [0.5, -2.05], [0.62, -1.95], [0.7, -1.35]);
  assembly.add('crankcase', 'crankcase', crankcase, ALONG_SHAFT);
  assembly.add('nose case', 'crankcase', nose, ALONG_SHAFT);
  assembly.add('supercharger case', 'crankcase', blower, ALONG_SHAFT);
  assembly.add('accessory case', 'crankcase', rear, ALONG_SHAFT);
  assembly.add('impeller', 'aluminium', forms.disc(0.7, 0.14, 0.5), placement(0, 0, -1.05, FORWARD));
  addBolts(assembly, 'nose bolt', 18, 0.94, 0.79, forms);
  addBolts(assembly, 'supercharger bolt', 18, 1.07, -0.68, forms);
  addBolts(assembly, 'rear bolt', 12, 0.64, -1.4, forms);
  addCrankshaft(assembly, forms);
  addRings(assembly, forms);
  addAccessories(assembly, forms);
}

export function addPropeller(root: Group, forms: Forms): void {
  const assembly = new Assembly(root, 'propeller: ');
  const blade = forms.blade(3.1, 0.55);
  const cuff = forms.disc(0.22, 0.4, 0.17);
  assembly.add('shaft', 'steel', forms.disc(0.17, 1.2), placement(0, 0, 1.9, FORWARD));
  assembly.add('hub', 'steel', forms.disc(0.34, 0.46), placement(0, 0, 2.15, FORWARD));
  assembly.add(
    'dome',
    'aluminium',
    forms.lathe([0.3, 0], [0.28, 0.2], [0.2, 0.42], [0.09, 0.55], [0, 0.58]),
    placement(0, 0, 2.38, FORWARD),
  );
  addBolts(assembly, 'hub bolt', 8, 0.25, 2.4, forms);
  for (let i = 0; i < 3; i++) {
    const turn = new Matrix4().makeRotationZ((2 * Math.PI * i) / 3 + 0.35);
    const placePart = (x: number, y: number, z: number): Matrix4 => turn.clone().multiply(placement(x, y, z));
    assembly.add(`blade ${i + 1}`, 'blade', blade, placePart(0, 0.45, 2.15));
    assembly.add(`blade cuff ${i + 1}`, 'steel', cuff, placePart(0, 0.45, 2.15));
  }
}

/** All parts of the crankshaft are inside the crankcase. */
function addCrankshaft(assembly: Assembly, forms: Forms): void {
  const journal = forms.disc(0.2, 0.5);
  const web = new BoxGeometry(0.34, 0.86, 0.14);
  const weight = forms.disc(0.36, 0.16);
  assembly.add('crankpin', 'steel', forms.disc(0.14, 0.36), placement(0, CRANKPIN.y, 0, FORWARD));
  assembly.add('master rod bearing', 'brass', forms.ring(0.15, 0.26, 0.22), placement(0, CRANKPIN.y, 0, FORWARD));
  for (const [name, side] of [
    ['front', 1],
    ['rear', -1],
  ] as const) {
    assembly.add(`${name} main journal`, 'steel', journal, placement(0, 0, 0.5 * side, FORWARD));
    assembly.add(`${name} crank web`, 'darkSteel', web, placement(0, 0.14, 0.26 * side));
    assembly.add(`${name} counterweight`, 'darkSteel', weight, placement(0, -0.42, 0.26 * side, FORWARD));
  }
}

function addRings(assembly: Assembly, { segments }: Forms): void {
  const torus = (radius: number, thickness: number): TorusGeometry => {
    return new TorusGeometry(radius, thickness, Math.max(8, segments / 2), 3 * segments);
  };
  assembly.add('front ignition harness', 'brass', torus(1.1, 0.05), placement(0, 0, 0.7));
  assembly.add('rear ignition harness', 'brass', torus(1.18, 0.05), placement(0, 0, -0.66));
  assembly.add('exhaust collector', 'copper', torus(2.25, 0.19), placement(0, 0, -1.25));
  assembly.add('mounting ring', 'paint', torus(1.45, 0.09), placement(0, 0, -2.3));
}

function addAccessories(assembly: Assembly, forms: Forms): void {
  const strut = forms.rod(0.055);
  for (let i = 0; i < 9; i++) {
    const near = new Vector3(0, 1.08, -0.85).applyAxisAngle(FORWARD, (2 * Math.PI * (i + 0.5)) / 9);
    const far = new Vector3(0, 1.45, -2.3).applyAxisAngle(FORWARD, (2 * Math.PI * (i + (i % 2 ? 0.9 : 0.1))) / 9);
    assembly.add(`mounting strut ${i + 1}`, 'paint', strut, rodBetween(near, far));
  }
  const magneto = forms.disc(0.2, 0.5);
  assembly.add('left magneto', 'rubber', magneto, placement(0.42, 0.42, -2.1, FORWARD));
  assembly.add('right magneto', 'rubber', magneto, placement(-0.42, 0.42, -2.1, FORWARD));
  assembly.add('starter', 'darkSteel', forms.disc(0.24, 0.7), placement(0, 0, -2.35, FORWARD));
  assembly.add('generator', 'darkSteel', forms.disc(0.22, 0.6), placement(0, -0.45, -2.2, FORWARD));
  assembly.add('carburettor', 'brass', new BoxGeometry(0.6, 0.42, 0.5), placement(0, 1.22, -1.62));
  assembly.add('oil sump', 'crankcase', new BoxGeometry(0.42, 0.5, 0.4), placement(0, -1.1, -1.2));
  assembly.add(
    'oil pipe',
    'copper',
    forms.pipe(0.05, [0.1, -1.2, -1.3], [0.3, -1, -1.8], [0.3, -0.5, -2], [0.1, -0.3, -2.1]),
  );
}

function addBolts(assembly: Assembly, name: string, count: number, radius: number, z: number, forms: Forms): void {
  const bolt = forms.hexagon(0.05, 0.08);
  for (let i = 0; i < count; i++) {
    const angle = (2 * Math.PI * (i + 0.5)) / count;
    const transform = placement(radius * Math.sin(angle), radius * Math.cos(angle), z, FORWARD);
    assembly.add(`${name} ${i + 1}`, 'brass', bolt, transform);
  }
}
