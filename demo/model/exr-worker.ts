// Reads an EXR picture, which takes longer than a frame (studio.ts).
import { DataUtils, type PixelFormat, type TextureDataType } from 'three';
import { EXRLoader } from 'three/addons/loaders/EXRLoader.js';

export interface ExrQuestion {
  readonly packed: ArrayBuffer;
  /** So many pixels, along each side, become one. */
  readonly step: number;
}

export interface ExrPicture {
  /** Of half floats. */
  readonly data: Uint16Array<ArrayBuffer>;
  readonly width: number;
  readonly height: number;
  readonly format: PixelFormat;
  readonly type: TextureDataType;
}

addEventListener('message', ({ data: { packed, step } }: MessageEvent<ExrQuestion>) => {
  const { data, width, height, format, type } = new EXRLoader().parse(packed) as ExrPicture;
  const picture = { ...smaller(data, width, height, step), format, type } satisfies ExrPicture;
  postMessage(picture, { transfer: [picture.data.buffer] });
});

/** The means of squares of pixels. */
function smaller(data: ExrPicture['data'], fullWidth: number, fullHeight: number, step: number) {
  const [width, height] = [fullWidth / step, fullHeight / step].map(Math.floor);
  const channels = data.length / (fullWidth * fullHeight);
  const means = new Uint16Array(channels * width * height);
  for (let i = 0; i < means.length; i++) {
    const [channel, x, y] = [i % channels, Math.floor(i / channels) % width, Math.floor(i / channels / width)];
    let sum = 0;
    for (let k = 0; k < step * step; k++) {
      const pixel = (y * step + Math.floor(k / step)) * fullWidth + x * step + (k % step);
      sum += DataUtils.fromHalfFloat(data[channels * pixel + channel]);
    }
    means[i] = DataUtils.toHalfFloat(sum / step ** 2);
  }
  return { data: means, width, height };
}
