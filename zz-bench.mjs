import { createCollisionService } from './dist/index.js';
import { boxFromGeometry, trackScene } from './dist/three.js';
import { BoxGeometry, Group, InstancedMesh, Matrix4, Mesh, MeshBasicMaterial, PerspectiveCamera } from 'three';
const N = 10_000;
const q = (v, p) => v.toSorted((a, b) => a - b)[Math.floor(v.length * p)].toFixed(3);
const SIZE = { width: 800, height: 600 };
  const camera = new PerspectiveCamera(50, 4/3, 0.1, 1000);
  camera.position.z = 50;
  for (const kind of process.argv.slice(2)) {
    const service = await createCollisionService();
    const root = new Group();
    const geometry = new BoxGeometry();
    const material = new MeshBasicMaterial();
    const meshes = [];
    const inst = new InstancedMesh(geometry, material, N);
    for (let i = 0; i < N; i++) { inst.setMatrixAt(i, new Matrix4().setPosition(i % 100 * 3, Math.floor(i / 100) * 3, 0)); }
    if (kind !== 'instances') for (let i = 0; i < N; i++) { const m = new Mesh(geometry, material); m.position.set(i % 100 * 3, Math.floor(i / 100) * 3, 0); root.add(m); meshes.push(m); }
    else root.add(inst);
    const tracker = await trackScene(service, root, { updateMatrixWorld: false, shapeOf: (o) => boxFromGeometry(o.geometry) });
    const target = new Float32Array(16 * N);
    const target64 = new Float64Array(16 * N);
    const t = { bare: [], bareSet: [], update: [], umw: [], total: [], frame: [] };
    for (let f = 0; f < 300; f++) {
      if (kind === 'meshes') for (const m of meshes) m.position.z = Math.sin(f + m.id);
      if (kind === 'instances') { for (let i = 0; i < N; i++) inst.instanceMatrix.array[16 * i + 14] = Math.sin(f + i); inst.instanceMatrix.needsUpdate = true; }
      let s = performance.now();
      root.updateMatrixWorld();
      t.umw.push(performance.now() - s);
      s = performance.now();
      if (kind !== 'instances') for (let i = 0; i < N; i++) { const e = meshes[i].matrixWorld.elements; for (let k = 0; k < 16; k++) target64[16 * i + k] = e[k]; }
      else target.set(inst.instanceMatrix.array);
      t.bare.push(performance.now() - s);
      s = performance.now();
      if (kind !== 'instances') for (let i = 0; i < N; i++) { target.set(meshes[i].matrixWorld.elements, 16 * i); }
      t.bareSet.push(performance.now() - s);
      s = performance.now();
      const p = tracker.update(camera, SIZE);
      t.update.push(performance.now() - s);
      const frame = await p;
      t.total.push(performance.now() - s);
      let n = 0; s = performance.now();
      frame.forEachVisible(() => { n++; });
      t.frame.push(performance.now() - s);
    }
    console.log(kind, Object.entries(t).map(([k, v]) => `${k} ${q(v.slice(50),0.1)} ${q(v.slice(50),0.5)}`).join(' | '));
    service.dispose();
  }
