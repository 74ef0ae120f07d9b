// One contender of one row of the bench, in its own process: `npm run bench` starts it and sends it requests.
import { servePeer } from '../build/bench.mjs';

const [row, index] = process.argv.slice(2);
await servePeer(row, Number(index));
