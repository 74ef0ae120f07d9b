import type { Object3D } from 'three';

/** What three's kinds of objects say of themselves. */
export interface Drawable extends Object3D {
  readonly isMesh?: boolean;
  readonly isBatchedMesh?: boolean;
  readonly isLOD?: boolean;
  readonly isLine?: boolean;
  readonly isPoints?: boolean;
  readonly isSprite?: boolean;
}

/** Tells whether three draws something of the object itself. */
export function isDrawable({ isMesh, isLine, isPoints, isSprite, isLOD }: Drawable): boolean {
  return isMesh === true || isLine === true || isPoints === true || isSprite === true || isLOD === true;
}
