// With `culling`, a Mesh was culled by its vertices where the app had given its geometry a larger bounding sphere, as is
// done if a shader moves them: three culls it by that sphere. The same happened to instances.
import { trackScene } from 'collision-worker/three';
import {
  BoxGeometry,
  InstancedMesh,
  Matrix4,
  Mesh,
  MeshStandardMaterial,
  PerspectiveCamera,
  ShaderMaterial,
  Sphere,
  SphereGeometry,
} from 'three';
import { expect, test } from 'vitest';
import { renderer } from '../fixtures/each-renderer.js';
import { service, withService } from '../fixtures/each-service.js';
import { compareCulling, litScene, PICTURE } from '../fixtures/flights.js';

withService();

/** A material that draws far to the right. */
const aside = () =>
  new ShaderMaterial({
    vertexShader: `void main() {
      vec4 place = vec4(position.x + 7.0, position.yz, 1.0);
      #ifdef USE_INSTANCING
        place = instanceMatrix * place;
      #endif
      gl_Position = projectionMatrix * modelViewMatrix * place;
    }`,
    fragmentShader: 'void main() { gl_FragColor = vec4(1.0); }',
  });

/** A box whose vertices may be that far away. */
function roomy(radius: number): BoxGeometry {
  const geometry = new BoxGeometry();
  geometry.computeBoundingSphere();
  geometry.boundingSphere!.radius = radius;
  return geometry;
}

function row(radius: number): InstancedMesh {
  const mesh = new InstancedMesh(roomy(radius), aside(), 40);
  for (let i = 0; i < 40; i++) mesh.setMatrixAt(i, new Matrix4().makeTranslation(4 * i - 80, (i % 5) - 2, -12));
  return mesh;
}

function alone(radius: number): Mesh {
  const mesh = new Mesh(roomy(radius), aside());
  mesh.position.set(-9, 0, -8);
  return mesh;
}

test.each([
  ['a Mesh with a larger sphere', () => alone(9)],
  ['a Mesh without an end', () => alone(Infinity)],
  ['instances with a larger sphere', () => row(9)],
  ['instances without an end', () => row(Infinity)],
])('%s', async (_, make) => {
  const scene = litScene(make());
  const camera = new PerspectiveCamera(60, PICTURE.width / PICTURE.height, 0.1, 100);
  const tracker = await trackScene(service, scene, { culling: true });
  let painted = 0;
  for (let frame = 0; frame < 8; frame++) {
    camera.rotation.y = -0.06 * (frame - 2);
    const found = compareCulling(renderer, scene, camera);
    expect([frame, found.count]).toEqual([frame, 0]);
    painted += found.painted;
    await tracker.update(camera, PICTURE);
  }
  expect(painted).toBeGreaterThan(1000);
});

test('what a loader gives a geometry, a sphere about its box, leaves nothing in the picture', async () => {
  const geometry = new SphereGeometry(1, 16, 12);
  geometry.computeBoundingBox();
  geometry.boundingSphere = geometry.boundingBox!.getBoundingSphere(new Sphere());
  const mesh = new Mesh(geometry, new MeshStandardMaterial());
  mesh.position.set(-8.88, 0, -9); // by its sphere it would be in the image
  const scene = litScene(mesh);
  const camera = new PerspectiveCamera(60, PICTURE.width / PICTURE.height, 0.1, 100);
  const tracker = await trackScene(service, scene, { culling: true });
  for (let frame = 0; frame < 3; frame++) {
    compareCulling(renderer, scene, camera);
    await tracker.update(camera, PICTURE);
  }
  expect(tracker.culled.objects).toBe(1);
});
