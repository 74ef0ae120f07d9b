import type { Object3D } from 'three';

/** The class flags of three's objects. */
export interface Drawable extends Object3D {
  readonly isMesh?: boolean;
  readonly isBatchedMesh?: boolean;
  readonly isLOD?: boolean;
  readonly isLine?: boolean;
  readonly isPoints?: boolean;
  readonly isSprite?: boolean;
}

/** Returns whether three draws anything for the object itself. */
export function isDrawable({ isMesh, isLine, isPoints, isSprite, isLOD }: Drawable): boolean {
  return isMesh === true || isLine === true || isPoints === true || isSprite === true || isLOD === true;
}
