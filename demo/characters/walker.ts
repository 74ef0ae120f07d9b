import { Bone, type BufferGeometry, type Color, MeshLambertMaterial, Skeleton, SkinnedMesh, Vector3 } from 'three';
import { LIMBS } from './figure.js';

/** Metres of two steps. */
const STRIDE = 1.45;

/** A walking person. */
export class Walker {
  readonly mesh: SkinnedMesh<BufferGeometry, MeshLambertMaterial>;
  readonly #bones: ReadonlyMap<string, Bone>;
  /** The highlighted bone; -1 for none. The shader reads it. */
  readonly #highlightedBone = { value: -1 };

  constructor(name: string, body: BufferGeometry, color: Color) {
    const joints = new Map(LIMBS.map((limb) => [limb.name, new Vector3(...limb.joint)]));
    this.#bones = new Map(LIMBS.map((limb) => [limb.name, new Bone()]));
    for (const limb of LIMBS) {
      const bone = this.#bones.get(limb.name)!;
      bone.name = limb.name;
      bone.position.copy(joints.get(limb.name)!).sub(joints.get(limb.parent) ?? new Vector3());
      this.#bones.get(limb.parent)?.add(bone);
    }
    this.mesh = new SkinnedMesh(body, new MeshLambertMaterial({ color }));
    this.mesh.name = name;
    this.mesh.frustumCulled = false; // it is always in the picture
    this.mesh.add(this.#bones.get('hips')!);
    this.mesh.updateMatrixWorld(true);
    this.mesh.bind(new Skeleton([...this.#bones.values()]));
    highlightBone(this.mesh.material, this.#highlightedBone);
  }

  light(bone: number): void {
    this.#highlightedBone.value = bone;
  }

  /** Sets the pose after the given distance. */
  walk(metres: number): void {
    const phase = (2 * Math.PI * metres) / STRIDE;
    this.#swing('left', phase);
    this.#swing('right', phase + Math.PI);
    const hips = this.#bones.get('hips')!;
    hips.position.y = LIMBS[0].joint[1] - 0.025 + 0.025 * Math.cos(2 * phase);
    hips.rotation.y = -0.12 * Math.sin(phase);
    this.#bones.get('chest')!.rotation.y = 0.24 * Math.sin(phase);
    this.#bones.get('head')!.rotation.y = -0.12 * Math.sin(phase);
  }

  /** Poses a leg, and the arm of the same side, which swings the opposite way. */
  #swing(side: 'left' | 'right', phase: number): void {
    const rotate = (name: string, x: number, z = 0): void => {
      this.#bones.get(`${side} ${name}`)!.rotation.set(x, 0, z);
    };
    const thigh = -0.5 * Math.sin(phase);
    const knee = 0.1 + 0.85 * Math.max(0, Math.cos(phase)) ** 1.5;
    rotate('thigh', thigh);
    rotate('shin', knee);
    rotate('foot', -0.55 * (thigh + knee));
    const inwards = side === 'left' ? -0.3 : 0.3;
    rotate('upper arm', 0.45 * Math.sin(phase), inwards);
    rotate('forearm', -0.35 + 0.2 * Math.sin(phase));
  }
}

/** Tints the skin of a bone yellow, in proportion to the bone's weight. */
function highlightBone(material: MeshLambertMaterial, uniform: { value: number }): void {
  material.onBeforeCompile = (shader) => {
    shader.uniforms.lit = uniform;
    shader.vertexShader = `uniform float lit;\nvarying float share;\n${shader.vertexShader}`.replace(
      '#include <skinning_vertex>',
      '#include <skinning_vertex>\nshare = dot(skinWeight, vec4(equal(skinIndex, vec4(lit))));',
    );
    shader.fragmentShader = `varying float share;\n${shader.fragmentShader}`.replace(
      '#include <color_fragment>',
      '#include <color_fragment>\ndiffuseColor.rgb = mix(diffuseColor.rgb, vec3(1.0, 0.76, 0.05), share);',
    );
  };
}
