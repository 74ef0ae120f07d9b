// With `culling`, what is drawn in place of an InstancedMesh was drawn, or not, where it should not have been, by renders in the
// midst of a render: by the same camera, turned, whose instances were then drawn by the outer render as well; of a part of the
// scene, which drew the instances twice. And a material's own `onBeforeRender` was given an object that the app does not know.
import { trackScene } from 'collision-worker/three';
import {
  BoxGeometry,
  Color,
  Group,
  InstancedMesh,
  type Material,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  type Object3D,
  PlaneGeometry,
  Scene,
  ShaderMaterial,
  WebGLRenderTarget,
} from 'three';
import { expect, test } from 'vitest';
import { pictureCamera, renderer } from '../fixtures/each-renderer.js';
import { service, withService } from '../fixtures/each-service.js';
import { compareCulling, PICTURE } from '../fixtures/flights.js';

withService();

const COUNT = 41;

/** A row from side to side; the camera sees its middle. */
function row(material: Material): InstancedMesh {
  const mesh = new InstancedMesh(new BoxGeometry(), material, COUNT);
  for (let i = 0; i < COUNT; i++) {
    mesh.setMatrixAt(i, new Matrix4().makeTranslation(2 * (i - (COUNT - 1) / 2), 0, -10));
    mesh.setColorAt(i, new Color(i / COUNT, 1 - i / COUNT, 0.5));
  }
  return mesh;
}

/** Compares images with those of three, and returns what was culled from the last. */
async function culledOf(scene: Scene, cullable?: boolean): Promise<number> {
  const camera = pictureCamera();
  const objectOptions = cullable === undefined ? undefined : () => ({ cullable });
  const tracker = await trackScene(service, scene, { culling: true, ...(objectOptions && { objectOptions }) });
  for (let frame = 0; frame < 4; frame++) {
    const { count, painted } = compareCulling(renderer, scene, camera);
    expect([frame, count]).toEqual([frame, 0]);
    expect(painted).toBeGreaterThan(1000);
    await tracker.update(camera, PICTURE);
  }
  const { instances } = tracker.culled;
  tracker.dispose();
  return instances;
}

/** A screen in front of the row that shows a target. */
function screenWith(target: WebGLRenderTarget): Mesh {
  const screen = new Mesh(new PlaneGeometry(4, 4), new MeshBasicMaterial({ map: target.texture }));
  screen.position.set(0, 2.5, -8);
  screen.renderOrder = -1; // drawn before the row
  return screen;
}

test.each([false, true])('by the same camera, turned, where three culls the mesh: %s', async (frustumCulled) => {
  const target = new WebGLRenderTarget(PICTURE.width, PICTURE.height);
  const screen = screenWith(target);
  screen.material = new MeshBasicMaterial({ color: 0xff0000 }); // the outer picture is compared: the twin camera does not turn
  const mesh = row(new MeshBasicMaterial());
  mesh.frustumCulled = frustumCulled;
  const scene = new Scene().add(mesh, screen);
  let renders = 0;
  screen.onBeforeRender = (own, _scene, camera) => {
    if (own.getRenderTarget() === target) return;
    screen.visible = false;
    camera.rotation.y += 0.8;
    own.setRenderTarget(target);
    own.render(scene, camera);
    own.setRenderTarget(null);
    camera.rotation.y -= 0.8;
    camera.updateMatrixWorld();
    screen.visible = true;
    renders++;
  };
  await culledOf(scene, true);
  expect(renders).toBe(8);
});

test.each([false, true])('of a part of the scene, where three culls the mesh: %s', async (frustumCulled) => {
  const target = new WebGLRenderTarget(PICTURE.width, PICTURE.height);
  const mesh = row(new MeshBasicMaterial({ transparent: true, opacity: 0.5 }));
  mesh.frustumCulled = frustumCulled;
  const part = new Group().add(mesh);
  const screen = screenWith(target);
  const other = pictureCamera();
  other.position.x = 1;
  screen.onBeforeRender = (own) => {
    own.setRenderTarget(target);
    own.render(part as unknown as Scene, other);
    own.setRenderTarget(null);
  };
  expect(await culledOf(new Scene().add(part, screen), true)).toBeGreaterThan(20);
});

test('a material that looks up the mesh that it draws', async () => {
  for (const cullable of [undefined, true]) {
    const material = new ShaderMaterial({
      uniforms: { color: { value: new Color() } },
      vertexShader: `void main() {
        gl_Position = projectionMatrix * modelViewMatrix * instanceMatrix * vec4(position, 1.0);
      }`,
      fragmentShader: 'uniform vec3 color; void main() { gl_FragColor = vec4(color, 1.0); }',
    });
    const mesh = row(material);
    const colors = new Map<Object3D, Color>([[mesh, new Color(1, 0.5, 0)]]);
    material.onBeforeRender = (_renderer, _scene, _camera, _geometry, object) => {
      // Its type in @types/three is that of the mesh or its group.
      const color = colors.get(object as unknown as Object3D);
      material.uniforms.color.value = color ?? new Color(cullable ? 0xff8000 : 0);
      if (color && cullable) material.uniforms.color.value = new Color(0xff8000);
      material.uniformsNeedUpdate = true;
    };
    const culled = await culledOf(new Scene().add(mesh), cullable);
    cullable ? expect(culled).toBeGreaterThan(20) : expect(culled).toBe(0);
  }
});
