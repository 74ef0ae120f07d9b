import { createCollisionService } from 'collision-worker';
import { Matrix4, PerspectiveCamera, Quaternion, Vector3, Euler } from 'three';
const mesh = process.argv[2]==='mesh';
let st=1; const rnd=()=>{st=(st*1664525+1013904223)>>>0;return st/4294967296};
const s=await createCollisionService();
const N=100, per=9;
const count=N*N*(1+per);
const shape= mesh?{type:'mesh',mesh:await s.addMesh({positions:new Float32Array([-1,-1,-1,1,-1,-1,1,1,-1,-1,1,-1,-1,-1,1,1,-1,1,1,1,1,-1,1,1]),indices:new Uint16Array([0,2,1,0,3,2,4,5,6,4,6,7,0,1,5,0,5,4,3,6,2,3,7,6,1,2,6,1,6,5,0,4,7,0,7,3])})}:{type:'box',halfExtents:[1,1,1]};
const ids=s.addInstances({shape,contacts:'none'},count);
const m=new Float32Array(16*count); const M=new Matrix4(); let k=0;
for(let x=0;x<N;x++)for(let z=0;z<N;z++){const h=4+20*rnd();M.compose(new Vector3(10*(x-N/2),h,10*(z-N/2)),new Quaternion(),new Vector3(3+rnd(),h,3+rnd())).toArray(m,16*k++);
 for(let i=0;i<per;i++){M.compose(new Vector3(10*(x-N/2)+10*rnd()-5,2*rnd(),10*(z-N/2)+10*rnd()-5),new Quaternion().setFromEuler(new Euler(rnd()*6,rnd()*6,0)),new Vector3(.3,.3,.3)).toArray(m,16*k++);}}
s.setTransforms(ids,m);
const cam=new PerspectiveCamera(60,16/9,.1,2000);
const res=[];
for(const high of [1.7, 60]) for(const margin of [undefined,0.1]){
 const t=[];let occ=0,vis=0,oc=0,cull=0;
 for(let i=0;i<120;i++){cam.position.set(5+0.05*i,high,5);cam.rotation.set(high>10?-0.4:0,i*0.05,0,'YXZ');cam.updateMatrixWorld();
  s.setView({projection:cam.projectionMatrix.elements,view:cam.matrixWorldInverse.elements,viewport:{width:1920,height:1080},occlusion:true,...(margin!==undefined?{occlusionMargin:margin}:{})});
  const f=await s.update(); if(i>20){t.push(f.ms.occlusion);cull+=f.ms.cull-f.ms.occlusion;occ+=f.visible.occluded.length;vis+=f.visible.ids.length;oc+=f.visible.occluders.length;}}
 t.sort((a,b)=>a-b);const n=t.length;
 console.log(`height ${high} margin ${margin}: occlusion median ${t[n>>1].toFixed(2)} max ${t[n-1].toFixed(2)} ms; frustum ${(cull/n).toFixed(2)} ms; occluded ${(occ/n)|0} visible ${(vis/n)|0} occluders ${(oc/n)|0}`);
}
s.dispose();
