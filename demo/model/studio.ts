import {
  type Box3,
  CanvasTexture,
  CircleGeometry,
  DataTexture,
  type DirectionalLight,
  EquirectangularReflectionMapping,
  Group,
  type Light,
  Mesh,
  MeshBasicMaterial,
  NeutralToneMapping,
  type Object3D,
  PMREMGenerator,
  type Scene,
  ShadowMaterial,
  SRGBColorSpace,
  type Texture,
  Vector3,
  VSMShadowMap,
  type WebGLRenderer,
} from 'three';
import { askWorker } from '../ask-worker.js';
import type { Quality } from '../quality.js';
import { IS_LIGHT } from '../scenery.js';
import type { ExrPicture } from './exr-worker.js';

/** Shadow map: pixels along each side, blur radius in pixels, and number of samples. */
const SHADOW = { low: { size: 512, radius: 8, samples: 12 }, high: { size: 1024, radius: 14, samples: 24 } };
const SHADOW_OPACITY = 0.6;
/** Direction to the sun. */
const SUN = new Vector3(-3, 8, 4).normalize();
/** In multiples of the model's diagonal. The shadow ends inside its map; `gap` keeps objects that lie on the floor out of it. */
const FLOOR = { radius: 1.6, shadow: 0.9, gap: 1e-3 };
const FLOOR_COLOR = IS_LIGHT ? '#fafbfd' : '#34435e';
/** Shares of the lamps that all pages have, and of the environment lighting. */
const LIGHT_SHARES = { lamps: 0.5, surroundings: 0.22 };

/** The environment lighting, and a floor with a soft shadow of the model. */
export class Studio {
  readonly root = new Group();
  readonly #renderer: WebGLRenderer;
  readonly #scene: Scene;
  readonly #sun: DirectionalLight;
  readonly #quality: Quality;
  readonly #floor = new Mesh(
    new CircleGeometry(1, 64).rotateX(-Math.PI / 2),
    new MeshBasicMaterial({ map: fadingDisc(), transparent: true, depthWrite: false, toneMapped: false }),
  );
  readonly #shadow = new Mesh(this.#floor.geometry, new ShadowMaterial({ opacity: SHADOW_OPACITY, depthWrite: false }));

  constructor(renderer: WebGLRenderer, scene: Scene, quality: Quality) {
    this.#renderer = renderer;
    this.#scene = scene;
    this.#quality = quality;
    this.#sun = scene.children.find((each): each is DirectionalLight => 'isDirectionalLight' in each)!;
    renderer.toneMapping = NeutralToneMapping;
    renderer.shadowMap.enabled = true;
    renderer.shadowMap.type = VSMShadowMap;
    // Updates the shadow only when the model has moved.
    renderer.shadowMap.autoUpdate = false;
    const { shadow } = this.#sun;
    const { size, radius, samples } = SHADOW[quality];
    shadow.mapSize.setScalar(size);
    shadow.radius = radius;
    shadow.blurSamples = samples;
    this.#sun.castShadow = true;
    this.#shadow.receiveShadow = true;
    this.#floor.renderOrder = -2;
    this.#shadow.renderOrder = -1;
    this.root.add(this.#floor, this.#shadow, this.#sun.target);
    this.root.visible = false;
  }

  /**
   * Lights the scene with an environment map of a studio, for metals, which show only reflections. A software driver takes 10 s
   * to prefilter it, whatever its size (three 0.187), and goes without.
   */
  async light(): Promise<void> {
    if (this.#quality === 'low') return;
    const { default: url } = await import('@pmndrs/assets/hdri/studio.exr.js');
    const reader = new Worker(new URL('./exr-worker.ts', import.meta.url), { type: 'module' });
    const compressed = await (await fetch(url)).arrayBuffer();
    const { data, width, height, format, type } = await askWorker<ExrPicture>(
      reader,
      'reads the surroundings',
      compressed,
    );
    const picture = new DataTexture(data, width, height, format, type);
    picture.mapping = EquirectangularReflectionMapping;
    picture.needsUpdate = true;
    const generator = new PMREMGenerator(this.#renderer);
    this.#scene.environment = generator.fromEquirectangular(picture).texture;
    this.#scene.environmentIntensity = LIGHT_SHARES.surroundings;
    for (const each of this.#scene.children) if ('isLight' in each) (each as Light).intensity *= LIGHT_SHARES.lamps;
    generator.dispose();
    picture.dispose();
  }

  /** Puts a model onto the floor. */
  place(model: Object3D, box: Box3): void {
    const center = box.getCenter(new Vector3());
    const size = box.getSize(new Vector3()).length();
    this.root.position.set(center.x, box.min.y - FLOOR.gap * size, center.z);
    this.#floor.scale.setScalar(FLOOR.radius * size);
    this.#shadow.scale.setScalar(FLOOR.shadow * size);
    model.traverse((each) => {
      each.castShadow = 'isMesh' in each;
    });
    this.#sun.target.position.y = center.y - this.root.position.y;
    this.#sun.position
      .copy(SUN)
      .multiplyScalar(2 * size)
      .add(center);
    const { camera } = this.#sun.shadow;
    camera.left = camera.bottom = -size;
    camera.right = camera.top = size;
    [camera.near, camera.far] = [size, 4 * size];
    camera.updateProjectionMatrix();
    this.root.visible = true;
    this.refresh();
  }

  /** Marks the shadow as out of date. */
  refresh(): void {
    this.#renderer.shadowMap.needsUpdate = true;
  }
}

/** A texture of a light disc that fades to transparent. */
function fadingDisc(): Texture {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 256;
  const context = canvas.getContext('2d')!;
  const gradient = context.createRadialGradient(128, 128, 0, 128, 128, 128);
  gradient.addColorStop(0, FLOOR_COLOR);
  gradient.addColorStop(0.35, `${FLOOR_COLOR}a0`);
  gradient.addColorStop(1, `${FLOOR_COLOR}00`);
  context.fillStyle = gradient;
  context.fillRect(0, 0, 256, 256);
  const texture = new CanvasTexture(canvas);
  texture.colorSpace = SRGBColorSpace;
  return texture;
}
