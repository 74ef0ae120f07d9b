// One contender of one row of the bench, in a process of its own: `npm run bench` starts it and asks.
import { servePeer } from '../build/bench.mjs';

const [row, index] = process.argv.slice(2);
await servePeer(row, Number(index));
