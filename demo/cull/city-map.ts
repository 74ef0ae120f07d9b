import type { Camera, InstancedMesh } from 'three';
import { Vector3 } from 'three';
import { element } from '../panel.js';
import type { SeenInstances } from './seen-instances.js';

/** Pixels along a side of the map. */
const SIZE = 560;
/** RGBA; the lowest byte is red. */
const COLORS = { ground: 0xff1f1812, there: 0xff5e4c3d, seen: 0xffa8d15f, car: 0xff4de1ff };

/** A map of the city, drawn pixel by pixel: all objects, with those highlighted that are visible. */
export class CityMap {
  readonly #context: CanvasRenderingContext2D;
  readonly #image: ImageData;
  readonly #pixels: Uint32Array;
  readonly #basePixels: Uint32Array;
  readonly #radius: number;
  readonly #corner = new Vector3();

  constructor(buildings: InstancedMesh, radius: number) {
    const canvas = element('map-from-above') as HTMLCanvasElement;
    canvas.width = canvas.height = SIZE;
    this.#context = canvas.getContext('2d')!;
    this.#image = this.#context.createImageData(SIZE, SIZE);
    this.#pixels = new Uint32Array(this.#image.data.buffer);
    this.#radius = radius;
    this.#pixels.fill(COLORS.ground);
    this.#paint(buildings, null, buildings.count, COLORS.there);
    this.#basePixels = this.#pixels.slice();
  }

  /** Highlights the visible instances, and outlines the camera's field of view on the ground. */
  draw(seen: readonly SeenInstances[], camera: Camera): void {
    this.#pixels.set(this.#basePixels);
    for (const { mesh, numbers, count, isCar } of seen) {
      this.#paint(mesh, numbers, count, isCar ? COLORS.car : COLORS.seen);
    }
    this.#context.putImageData(this.#image, 0, 0);
    this.#outline(camera);
  }

  #paint(
    { instanceMatrix: { array } }: InstancedMesh,
    indices: Uint32Array | null,
    count: number,
    color: number,
  ): void {
    const scale = (SIZE - 2) / (2 * this.#radius);
    for (let i = 0; i < count; i++) {
      const at = 16 * (indices === null ? i : indices[i]);
      const x = Math.round((array[at + 12] + this.#radius) * scale);
      const y = Math.round((array[at + 14] + this.#radius) * scale);
      this.#pixels[Math.min(SIZE - 1, y) * SIZE + Math.min(SIZE - 1, x)] = color;
    }
  }

  /** Draws the edges of the frustum as lines from the camera to its far plane. */
  #outline(camera: Camera): void {
    const toPixel = ({ x, z }: Vector3): [number, number] => [
      ((x + this.#radius) / (2 * this.#radius)) * SIZE,
      ((z + this.#radius) / (2 * this.#radius)) * SIZE,
    ];
    const context = this.#context;
    context.strokeStyle = '#ffe08a';
    context.lineWidth = 3;
    context.beginPath();
    const eye = toPixel(this.#corner.setFromMatrixPosition(camera.matrixWorld));
    context.moveTo(...eye);
    for (const x of [-1, 1]) context.lineTo(...toPixel(this.#corner.set(x, 0, 1).unproject(camera)));
    context.closePath();
    context.stroke();
  }
}
