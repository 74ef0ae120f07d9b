// Decodes an EXR image in a worker, since it takes longer than a frame (studio.ts).
import type { PixelFormat, TextureDataType } from 'three';
import { EXRLoader } from 'three/addons/loaders/EXRLoader.js';

export interface ExrPicture {
  /** Half floats. */
  readonly data: Uint16Array<ArrayBuffer>;
  readonly width: number;
  readonly height: number;
  readonly format: PixelFormat;
  readonly type: TextureDataType;
}

addEventListener('message', ({ data: compressed }: MessageEvent<ArrayBuffer>) => {
  const { data, width, height, format, type } = new EXRLoader().parse(compressed) as ExrPicture;
  postMessage({ data, width, height, format, type } satisfies ExrPicture, { transfer: [data.buffer] });
});
