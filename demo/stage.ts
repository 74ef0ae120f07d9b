import {
  CameraHelper,
  Color,
  DynamicDrawUsage,
  Fog,
  InstancedBufferAttribute,
  InstancedMesh,
  Mesh,
  MeshLambertMaterial,
  MeshPhongMaterial,
  PerspectiveCamera,
  type WebGLRenderer,
} from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import type { Viewer } from './engine.js';
import type { Outcome } from './outcome.js';
import { animate, BACKGROUND, createFloor, createScene, fitToCanvas, freeWidth } from './scenery.js';
import { MAX_BOXES, type World } from './world.js';

const DRAGON_COLOR = new Color(0x5fae97);
const TOUCHING_DRAGON_COLOR = new Color(0xe0894a);
const TOUCHING_COLOR = new Color(0xff8a3c);
const SHADES = [0x4d6a94, 0x5b7cab, 0x6f8fbd, 0x47628a, 0x8198bb].map((hex) => new Color(hex));

/** Draws only the part of the world that the culling camera sees. */
export class Stage {
  readonly scene = createScene();
  readonly camera = new PerspectiveCamera(40, 1, 0.1, 200);
  readonly controls: OrbitControls;
  readonly #renderer: WebGLRenderer;
  readonly #world: World;
  readonly #boxes: InstancedMesh;
  readonly #dragons: Mesh[];
  readonly #frozenCamera = new PerspectiveCamera();
  readonly #frustum: CameraHelper;
  #isFrozen = false;

  constructor(renderer: WebGLRenderer, world: World) {
    this.#world = world;
    this.#renderer = renderer;

    this.#dragons = world.dragons.map(
      ({ geometry }) =>
        new Mesh(geometry, new MeshPhongMaterial({ color: DRAGON_COLOR, specular: 0x2a3a36, shininess: 40 })),
    );
    this.#boxes = new InstancedMesh(world.boxes.geometry, new MeshLambertMaterial(), MAX_BOXES);
    this.#boxes.instanceColor = new InstancedBufferAttribute(new Float32Array(3 * MAX_BOXES), 3);
    for (const attribute of [this.#boxes.instanceMatrix, this.#boxes.instanceColor])
      attribute.setUsage(DynamicDrawUsage);
    for (const mesh of [...this.#dragons, this.#boxes]) {
      mesh.frustumCulled = false; // the engine has already culled it
      mesh.matrixAutoUpdate = false;
    }

    this.#frustum = new CameraHelper(this.#frozenCamera);
    this.#frustum.visible = false;
    this.scene.fog = new Fog(BACKGROUND, 35, 130);
    this.scene.add(createFloor(30));
    this.scene.add(...this.#dragons, this.#boxes, this.#frustum);

    this.resize();
    this.controls = new OrbitControls(this.camera, renderer.domElement);
    this.controls.target.set(0, 2.4, 0);
    // In a narrow picture, the camera is farther away from the dragon.
    const distance = Math.max(1, 1 / freeWidth(this.#renderer));
    this.camera.position.set(-6.5, 4.2, 13).multiplyScalar(distance).add(this.controls.target);
    this.controls.maxDistance = 55;
    this.controls.maxPolarAngle = 0.49 * Math.PI;
    this.controls.update();
    addEventListener('resize', () => this.resize());
  }

  get viewer(): Viewer {
    const { clientWidth: width, clientHeight: height } = this.#renderer.domElement;
    return { camera: this.camera, culler: this.#isFrozen ? this.#frozenCamera : this.camera, size: { width, height } };
  }

  /** Calls `frame` before each repaint of the screen. */
  run(frame: (time: number) => void): Promise<void> {
    return animate(this.#renderer, this.scene, this.camera, frame);
  }

  /** Keeps drawing what the camera sees at this moment, wherever it moves. */
  freeze(isFrozen: boolean): void {
    this.#isFrozen = isFrozen;
    this.#frustum.visible = isFrozen;
    if (!isFrozen) return;
    this.#frozenCamera.copy(this.camera, false);
    this.#frozenCamera.far = 45; // up to the edge of the world
    this.#frozenCamera.updateProjectionMatrix();
    this.#frozenCamera.updateMatrixWorld(true);
    this.#frustum.update();
  }

  draw(outcome: Outcome): void {
    this.#dragons.forEach((mesh, i) => {
      mesh.visible = outcome.visibleDragons[i] === true;
      mesh.matrix.copy(this.#world.dragons[i].matrixWorld);
      const material = mesh.material as MeshPhongMaterial;
      material.color.copy(outcome.touchingDragons[i] === true && i > 0 ? TOUCHING_DRAGON_COLOR : DRAGON_COLOR);
    });
    this.#drawBoxes(outcome);
    this.controls.update();
    this.#renderer.render(this.scene, this.camera);
  }

  resize(): void {
    fitToCanvas(this.#renderer, this.camera);
  }

  /** Builds the draw list: the matrices and colours of the visible boxes in sequence. */
  #drawBoxes({ visible, visibleCount, touching }: Outcome): void {
    const sourceMatrices = this.#world.boxes.instanceMatrix.array;
    const matrices = this.#boxes.instanceMatrix;
    const colors = this.#boxes.instanceColor!;
    for (let i = 0; i < visibleCount; i++) {
      const box = visible[i];
      for (let k = 0; k < 16; k++) matrices.array[16 * i + k] = sourceMatrices[16 * box + k];
      (touching[box] === 1 ? TOUCHING_COLOR : SHADES[box % SHADES.length]).toArray(colors.array, 3 * i);
    }
    this.#boxes.count = visibleCount;
    for (const attribute of [matrices, colors]) {
      attribute.clearUpdateRanges();
      attribute.addUpdateRange(0, visibleCount * attribute.itemSize);
      attribute.needsUpdate = true;
    }
  }
}
