// A service in Node: `node demo/examples/node.js`. A robot's arm turns in a hall, and what it would run into is named.

import { createCollisionService } from 'collision-worker';

const service = await createCollisionService();
const names = new Map();
const add = (name, options) => names.set(service.addObject(options), name);

// The hall: nothing in it moves, so no pairs among it are looked at.
const still = { motion: 'static', contacts: 'any' };
add('floor', { shape: { type: 'box', halfExtents: [10, 0.1, 10], center: [0, -0.2, 0] }, ...still });
add('pillar', { shape: { type: 'box', halfExtents: [0.3, 3, 0.3], center: [0, 3, 4] }, ...still });
add('tank', { shape: { type: 'sphere', radius: 1, center: [-4, 1, 0] }, ...still });

// The arm, a mesh: a long wedge from the origin along x.
const mesh = await service.addMesh({
  positions: new Float32Array([0, 0.5, -0.3, 0, 0.5, 0.3, 4, 1, 0, 0, 1.5, 0]),
  indices: new Uint32Array([0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3]),
});
const arm = service.addObject({ shape: { type: 'mesh', mesh }, contacts: 'any' });
names.set(arm, 'arm');

for (let degrees = 0; degrees < 360; degrees += 15) {
  const [c, s] = [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)];
  service.setTransform(arm, [c, 0, -s, 0, 0, 1, 0, 0, s, 0, c, 0, 0, 0, 0, 1]); // about y
  const { contacts } = await service.update();
  for (const { a, b, begun } of contacts) {
    if (begun) console.log(`${degrees}°: the ${names.get(a === arm ? b : a)} is in the way`);
  }
}

const down = { origin: [-4, 9, 0], direction: [0, -1, 0] };
const hit = await service.raycast(down);
console.log(`From above the ${names.get(hit.object)} is ${hit.distance} away`);
service.dispose();
