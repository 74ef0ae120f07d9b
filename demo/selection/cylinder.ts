import { type BufferGeometry, CapsuleGeometry, type Group, Matrix4, Vector3 } from 'three';
import type { Forms } from '../forms.js';
import { Assembly, type Metal, placement, rodBetween } from './assembly.js';

/** Position of the crankpin in the model. */
export const CRANKPIN = new Vector3(0, 0.42, 0);
const ROD_LENGTH = 1.25;
const FORWARD = new Vector3(0, 0, 1);

/** A part of each cylinder, placed with y outwards and z forwards. */
type Part = [name: string, metal: Metal, geometry: BufferGeometry, transform: Matrix4];

/**
 * Adds the cylinders of a radial engine one by one, evenly spaced about z. They share their geometries and differ only in the
 * position of the piston.
 */
export function* addCylinders(root: Group, count: number, forms: Forms): Generator<void> {
  const parts: Part[] = [];
  for (const createParts of [barrel, head, valveGear, ignition, pipes]) {
    parts.push(...createParts(forms));
    yield;
  }
  const piston = forms.disc(0.37, 0.42);
  const pin = forms.disc(0.09, 0.62);
  const rod = forms.rod(0.085);
  for (let i = 0; i < count; i++) {
    const angle = (2 * Math.PI * i) / count;
    const assembly = new Assembly(root, `cylinder ${i + 1}: `, new Matrix4().makeRotationZ(angle));
    for (const part of parts) assembly.add(...part);
    // The crankpin in this cylinder's frame.
    const crankpin = CRANKPIN.clone().applyMatrix4(new Matrix4().makeRotationZ(-angle));
    const height = crankpin.y + Math.sqrt(ROD_LENGTH ** 2 - crankpin.x ** 2);
    assembly.add('piston', 'aluminium', piston, placement(0, height, 0));
    assembly.add('piston pin', 'steel', pin, placement(0, height, 0, FORWARD));
    assembly.add('connecting rod', 'steel', rod, rodBetween(crankpin, new Vector3(0, height, 0)));
    yield;
  }
}

function barrel(forms: Forms): Part[] {
  const nut = forms.hexagon(0.06, 0.1);
  const fin = forms.ring(0.41, 0.6, 0.032);
  return [
    ['base flange', 'steel', forms.ring(0.4, 0.62, 0.08), placement(0, 1.08, 0)],
    ['barrel', 'darkSteel', forms.ring(0.39, 0.44, 1.2), placement(0, 1.7, 0)],
    ...repeatPart('base nut', 8, (i): Part => {
      const angle = ((i + 0.5) * Math.PI) / 4;
      return ['', 'brass', nut, placement(0.54 * Math.sin(angle), 1.16, 0.54 * Math.cos(angle))];
    }),
    ...repeatPart('barrel fin', 12, (i): Part => ['', 'darkSteel', fin, placement(0, 1.26 + 0.078 * i, 0)]),
  ];
}

function head(forms: Forms): Part[] {
  const dome = forms.lathe([0.38, 2.2], [0.5, 2.2], [0.5, 2.6], [0.4, 2.8], [0.2, 2.88], [0, 2.9]);
  return [
    ['head', 'aluminium', dome, placement(0, 0, 0)],
    ...repeatPart('head fin', 7, (i): Part => {
      return ['', 'aluminium', forms.ring(0.36, 0.66 - 0.004 * i * i, 0.03), placement(0, 2.24 + 0.085 * i, 0)];
    }),
  ];
}

/** Rocker boxes, push rod tubes, and the valves, which are inside. */
function valveGear(forms: Forms): Part[] {
  const box = new CapsuleGeometry(0.15, 0.5, Math.ceil(forms.segments / 4), forms.segments);
  const tube = forms.rod(0.05);
  const valve = forms.lathe([0, 0], [0.17, 0], [0.17, 0.03], [0.035, 0.12], [0.035, 0.6], [0, 0.6]);
  return (['intake', 'exhaust'] as const).flatMap((name, i): Part[] => {
    const side = i === 0 ? 1 : -1;
    const foot = new Vector3(0.2 * side, 1.02, 0.68);
    return [
      [`${name} rocker box`, 'crankcase', box, placement(0.3 * side, 2.88, 0.14, FORWARD)],
      [`${name} push rod tube`, 'steel', tube, rodBetween(foot, new Vector3(0.3 * side, 2.86, 0.42))],
      [`${name} valve`, 'steel', valve, placement(0.14 * side, 2.3, 0, new Vector3(0.35 * side, 1, 0))],
    ];
  });
}

function ignition(forms: Forms): Part[] {
  const plug = forms.lathe([0, 0], [0.05, 0], [0.05, 0.1], [0.085, 0.1], [0.085, 0.18], [0.045, 0.18], [0.045, 0.32]);
  return (['front', 'rear'] as const).flatMap((name, i): Part[] => {
    const side = i === 0 ? 1 : -1;
    const lead = forms.pipe(
      0.022,
      [0, 2.52, 0.82 * side],
      [0.1, 2.2, 0.9 * side],
      [0.12, 1.5, 0.78 * side],
      [0, 1.1, 0.7 * side],
    );
    return [
      [`${name} spark plug`, 'ceramic', plug, placement(0, 2.5, 0.5 * side, new Vector3(0, 0.05, side))],
      [`${name} ignition lead`, 'rubber', lead, placement(0, 0, 0)],
    ];
  });
}

function pipes(forms: Forms): Part[] {
  const intake = forms.pipe(0.13, [0.3, 1, -0.85], [0.42, 1.5, -0.75], [0.46, 2.1, -0.65], [0.34, 2.5, -0.3]);
  const exhaust = forms.pipe(0.13, [-0.34, 2.5, -0.3], [-0.44, 2.5, -0.62], [-0.4, 2.35, -0.95], [-0.3, 2.25, -1.2]);
  return [
    ['intake pipe', 'aluminium', intake, placement(0, 0, 0)],
    ['exhaust stub', 'copper', exhaust, placement(0, 0, 0)],
  ];
}

function repeatPart(name: string, count: number, createPart: (i: number) => Part): Part[] {
  return Array.from({ length: count }, (_, i) => {
    const [, ...rest] = createPart(i);
    return [`${name} ${i + 1}`, ...rest];
  });
}
