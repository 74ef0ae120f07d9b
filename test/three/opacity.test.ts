// Which materials occlude what is behind them, and which leave
// no trace where they are occluded: as three draws them.
import {
  AdditiveBlending,
  AlwaysDepth,
  DoubleSide,
  GreaterDepth,
  LessDepth,
  type Material,
  Mesh,
  MeshBasicMaterial,
  MeshPhysicalMaterial,
  MeshStandardMaterial,
  NoBlending,
  Plane,
  ShaderMaterial,
  Texture,
} from 'three';
import { expect, test } from 'vitest';
import { isOccludable, isOccluder } from '../../src/client/three/track/opacity.js';

const nodes = (): Material => Object.assign(new MeshBasicMaterial(), { isNodeMaterial: true });
const patched = (): Material => Object.assign(new MeshBasicMaterial(), { onBeforeCompile: () => {} });
class Patched extends MeshBasicMaterial {
  override onBeforeCompile(): void {}
}

class Hooked extends Mesh {
  override onBeforeRender(): void {}
}

test.each<[string, Material | Material[], hides: boolean, isHidden: boolean, isHiddenIfCullable: boolean]>([
  ['plain', new MeshBasicMaterial(), true, true, true],
  ['of both sides', new MeshBasicMaterial({ side: DoubleSide }), true, true, true],
  ['nearer only', new MeshBasicMaterial({ depthFunc: LessDepth }), true, true, true],
  ['without blending', new MeshBasicMaterial({ blending: NoBlending }), true, true, true],
  ['invisible', new MeshBasicMaterial({ visible: false }), false, true, true],
  ['transparent', new MeshBasicMaterial({ transparent: true }), false, true, true],
  ['without a depth', new MeshBasicMaterial({ depthWrite: false }), false, true, true],
  ['without a colour', new MeshBasicMaterial({ colorWrite: false }), false, true, true],
  ['with holes', new MeshBasicMaterial({ alphaTest: 0.5 }), false, true, true],
  ['with holes by hash', new MeshBasicMaterial({ alphaHash: true }), false, true, true],
  ['with holes by coverage', new MeshBasicMaterial({ alphaToCoverage: true }), false, true, true],
  ['that adds', new MeshBasicMaterial({ blending: AdditiveBlending }), false, true, true],
  ['that lets light through', new MeshPhysicalMaterial({ transmission: 0.5 }), false, true, true],
  ['of wires', new MeshBasicMaterial({ wireframe: true }), false, true, true],
  ['that is cut', new MeshBasicMaterial({ clippingPlanes: [new Plane()] }), false, true, true],
  ['drawn over all', new MeshBasicMaterial({ depthTest: false }), false, false, false],
  ['always drawn', new MeshBasicMaterial({ depthFunc: AlwaysDepth }), false, false, false],
  ['drawn behind', new MeshBasicMaterial({ depthFunc: GreaterDepth }), false, false, false],
  ['with an offset', new MeshBasicMaterial({ polygonOffset: true }), false, false, false],
  ['with a stencil', new MeshBasicMaterial({ stencilWrite: true }), false, false, false],
  ['that is displaced', new MeshStandardMaterial({ displacementMap: new Texture() }), false, false, true],
  ['of an own shader', new ShaderMaterial(), false, false, true],
  ['of nodes', nodes(), false, false, true],
  ['of a changed shader', patched(), false, false, true],
  ['of a class that changes its shader', new Patched(), false, false, true],
  ['of several, all of them plain', [new MeshBasicMaterial(), new MeshBasicMaterial()], false, true, true],
  ['of several, one of an own shader', [new MeshBasicMaterial(), new ShaderMaterial()], false, false, true],
  ['of several, one drawn over all', [new MeshBasicMaterial({ depthTest: false }), nodes()], false, false, false],
])('%s', (_, material, hides, isHidden, isHiddenIfCullable) => {
  const mesh = new Mesh(undefined, material);
  expect(isOccluder(mesh), 'hides others').toBe(hides);
  expect(isOccludable(mesh, false), 'can be hidden').toBe(isHidden);
  expect(isOccludable(mesh, true), 'can be hidden, if its shaders leave it where it is').toBe(isHiddenIfCullable);
  expect(isOccluder(Object.assign(mesh, { onBeforeRender: () => {} })), 'hides others with a hook').toBe(false);
  expect(isOccluder(new Hooked(undefined, material)), 'hides others with a hook of its class').toBe(false);
});
