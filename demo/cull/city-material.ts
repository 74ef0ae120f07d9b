import { MeshLambertMaterial } from 'three';

/** Width and height of a window with the wall around it, in metres. */
const CELL = { width: 1.9, height: 3.1 };

/** Walls with windows, some of them lit, computed in the shader: a texture could not account for the size of each box. */
export function cityMaterial(litFraction: number): MeshLambertMaterial {
  const material = new MeshLambertMaterial();
  material.onBeforeCompile = (shader) => {
    shader.vertexShader = shader.vertexShader
      .replace(
        '#include <common>',
        '#include <common>\nvarying vec3 vWall;\nvarying vec3 vSide;\nflat varying float vSeed;',
      )
      .replace(
        '#include <begin_vertex>',
        `#include <begin_vertex>
        vWall = position * vec3(length(instanceMatrix[0].xyz), length(instanceMatrix[1].xyz), length(instanceMatrix[2].xyz));
        vSide = normal;
        vSeed = instanceMatrix[3].x * 0.37 + instanceMatrix[3].z * 0.73;`,
      );
    shader.fragmentShader = shader.fragmentShader
      .replace(
        '#include <common>',
        '#include <common>\nvarying vec3 vWall;\nvarying vec3 vSide;\nflat varying float vSeed;',
      )
      .replace(
        '#include <emissivemap_fragment>',
        `#include <emissivemap_fragment>
        vec2 wall = vec2(abs(vSide.x) > 0.5 ? vWall.z : vWall.x, vWall.y) / vec2(${CELL.width}, ${CELL.height});
        vec2 cell = floor(wall);
        vec2 at = fract(wall);
        // Windows smaller than a pixel would flicker.
        float sharp = clamp(1.4 - 1.6 * max(fwidth(wall.x), fwidth(wall.y)), 0.0, 1.0);
        float isWindow = abs(vSide.y) > 0.5 || vWall.y < 1.5 ? 0.0
          : step(0.22, at.x) * step(at.x, 0.78) * step(0.25, at.y) * step(at.y, 0.8) * sharp;
        float chance = fract(sin(dot(cell, vec2(12.9898, 78.233)) + vSeed) * 43758.5453);
        diffuseColor.rgb *= 1.0 - 0.45 * isWindow;
        totalEmissiveRadiance += isWindow * step(chance, ${litFraction.toFixed(2)}) * vec3(1.0, 0.74, 0.42) * (0.5 + 0.5 * chance);`,
      );
  };
  return material;
}
