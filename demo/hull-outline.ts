import { BackSide, Color, Group, Mesh, ShaderMaterial, Vector2 } from 'three';

const OUTLINE_PIXELS = 2.5;

/**
 * Outlines meshes: behind each, it draws the back faces of the same geometry, pushed outwards by some pixels along its normals
 * (inverted hull). This costs one draw call for each outlined mesh, and no pass over the picture.
 */
export class HullOutlines {
  readonly root = new Group();
  readonly #hulls = new Map<Mesh, Mesh>();
  readonly #material: ShaderMaterial;

  constructor(color: number) {
    this.#material = new ShaderMaterial({
      side: BackSide,
      uniforms: {
        color: { value: new Color(color) },
        size: { value: new Vector2(1, 1) },
        pixels: { value: OUTLINE_PIXELS },
      },
      vertexShader: `
        uniform vec2 size;
        uniform float pixels;
        void main() {
          gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
          vec2 outwards = (projectionMatrix * vec4(normalMatrix * normal, 0.0)).xy * size;
          float length = length(outwards);
          if (length > 0.0) gl_Position.xy += 2.0 * pixels * outwards / (length * size) * gl_Position.w;
        }`,
      fragmentShader: `
        uniform vec3 color;
        void main() {
          gl_FragColor = vec4(color, 1.0);
          #include <colorspace_fragment>
        }`,
    });
  }

  /** Outlines only these meshes, which do not move, in a picture that is `width` by `height` CSS pixels. */
  show(meshes: ReadonlySet<Mesh>, width: number, height: number): void {
    this.#material.uniforms.size.value.set(width, height);
    for (const [mesh, hull] of this.#hulls) {
      if (meshes.has(mesh)) continue;
      this.root.remove(hull);
      this.#hulls.delete(mesh);
    }
    for (const mesh of meshes) {
      if (this.#hulls.has(mesh)) continue;
      const hull = new Mesh(mesh.geometry, this.#material);
      hull.matrixAutoUpdate = hull.matrixWorldAutoUpdate = false;
      hull.matrixWorld.copy(mesh.matrixWorld);
      this.root.add(hull);
      this.#hulls.set(mesh, hull);
    }
  }
}
