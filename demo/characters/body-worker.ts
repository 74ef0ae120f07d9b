// Makes a body (body.ts).
import { postGeometry } from '../geometry-arrays.js';
import type { Quality } from '../quality.js';
import { createBody } from './body.js';

addEventListener('message', ({ data }: MessageEvent<Quality>) => postGeometry(createBody(data)));
