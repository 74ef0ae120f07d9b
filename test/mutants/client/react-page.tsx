// A canvas of React Three Fiber in Node: fiber's own renderer without React DOM, on the DOM of page.ts. Nothing is drawn.
import { type CanvasProps, createRoot, extend, events as fiberEvents, type RootState } from '@react-three/fiber';
import { type ReactNode, StrictMode } from 'react';
import * as THREE from 'three';

export const WIDTH = 800;
export const HEIGHT = 600;

export class ReactPage {
  readonly host = document.createElement('div');
  readonly canvas = document.createElement('canvas');
  readonly #root: ReturnType<typeof createRoot>;

  constructor() {
    extend(THREE as never);
    this.host.append(this.canvas);
    this.canvas.style.cssText = `width: ${WIDTH}px; height: ${HEIGHT}px`;
    document.body.append(this.host);
    this.#root = createRoot(this.canvas);
  }

  get target(): HTMLElement {
    return this.canvas;
  }

  render({ onCreated, eventPrefix, ...props }: Omit<CanvasProps, 'children'>, children: ReactNode, isStrict: boolean) {
    this.#root.configure({
      events: fiberEvents,
      ...props,
      dpr: 1,
      gl: (() => createRenderer(this.canvas)) as never,
      size: { width: WIDTH, height: HEIGHT, left: 0, top: 0 },
      onCreated: (state: RootState) => {
        state.events.connect?.(this.canvas);
        if (eventPrefix !== undefined) {
          state.setEvents({
            // As in fiber's Canvas.
            compute: (event, { size, pointer, raycaster, camera }) => {
              const [x, y] = [event[`${eventPrefix}X`], event[`${eventPrefix}Y`]];
              pointer.set((x / size.width) * 2 - 1, 1 - (y / size.height) * 2);
              raycaster.setFromCamera(pointer, camera);
            },
          });
        }
        onCreated?.(state);
      },
    } as never);
    this.#root.render(isStrict ? <StrictMode>{children}</StrictMode> : children);
  }

  unmount(): void {
    this.#root.unmount();
    this.host.remove();
  }
}

/** The renderer interface that fiber needs. It does what three does up to the drawing: it updates matrices. */
function createRenderer(domElement: HTMLElement) {
  const render = { frame: 0 };
  return {
    domElement,
    info: { render },
    xr: { addEventListener() {}, removeEventListener() {}, enabled: false, isPresenting: false },
    shadowMap: {},
    setPixelRatio() {},
    getPixelRatio: () => 1,
    setSize() {},
    setAnimationLoop() {},
    dispose() {},
    forceContextLoss() {},
    render(scene: THREE.Scene, camera: THREE.Camera) {
      render.frame++;
      if (scene.matrixWorldAutoUpdate) scene.updateMatrixWorld();
      if (camera.parent === null) camera.updateMatrixWorld();
    },
  };
}
