// Which meshes are convex: in a concavity of another mesh, its hull would be far deeper.
import { Matrix4, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import { NearScene } from '../../fixtures/near-scene.js';
import { boxMesh, icosphere, merged, type Triangles, transformed } from '../../oracle/meshes.js';
import { ConvexSolid, penetration } from '../../oracle/penetration.js';
import type { AnyShape } from '../../oracle/shapes.js';

const HERE = new Matrix4();
const ball = (radius: number): AnyShape => ({ shape: { type: 'sphere', radius } });
const at = (x: number, y: number, z: number) => new Matrix4().setPosition(x, y, z);

describe('which meshes are convex', () => {
  test.each([
    ['a box', () => boxMesh(1, 2, 3), true, at(0.6, 0, 0)],
    ['a ball', () => icosphere(1, 5), true, at(0, 0.5, 0.9)],
    ['a ball far from its origin', () => moved(icosphere(1, 3), 1000), true, at(999.1, 0, 0)],
    ['two boxes', () => merged([boxMesh(1, 1, 1), moved(boxMesh(1, 1, 1), 3)]), false, at(0.6, 0, 0)],
    ['a ball with a dent', () => dented(icosphere(1, 4)), false, at(0, 0, 0.9)],
    ['an open box', () => openBox(), false, at(0.3, 0, 0.4)],
  ])('%s', async (_, make, isConvex, place) => {
    const scene = await NearScene.at(new Vector3());
    const mesh = scene.mesh(make());
    const contact = scene.manifoldOf(mesh, HERE, ball(0.2), place);
    const hull = penetration(new ConvexSolid(mesh, HERE), new ConvexSolid(ball(0.2), place));
    expect(Math.abs((contact?.depth ?? 0) - hull) < 1e-4).toBe(isConvex);
  });

  test('a mesh that is dented and mended', async () => {
    const scene = await NearScene.at(new Vector3());
    const mesh = scene.mesh(icosphere(1, 4));
    const depthNow = () => scene.manifoldOf(mesh, HERE, ball(0.2), at(0, 0, 0.9))?.depth ?? 0;
    const address = mesh.shape.type === 'mesh' ? mesh.shape.mesh : 0;
    const whole = depthNow();
    expect(whole).toBeGreaterThan(0.25);
    scene.core.refitMesh(address, dented(icosphere(1, 4)).positions);
    expect(depthNow()).toBeLessThan(0.2);
    scene.core.refitMesh(address, icosphere(1, 4).positions);
    expect(depthNow()).toBe(whole);
  });
});

function moved(mesh: Triangles, x: number): Triangles {
  return transformed(mesh, (vertex) => vertex.setX(vertex.x + x));
}

function dented(mesh: Triangles): Triangles {
  return transformed(mesh, (vertex) => vertex.multiplyScalar(vertex.z > 0.9 ? 0.8 : 1));
}

function openBox() {
  const { positions, indices } = boxMesh(1, 1, 1);
  return { positions, indices: indices.slice(6) };
}
