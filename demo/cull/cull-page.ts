import type { CollisionService } from 'collision-worker';
import type { SceneFrame, SceneIntersection, SceneTracker } from 'collision-worker/three';
import {
  Fog,
  type InstancedMesh,
  Mesh,
  MeshBasicMaterial,
  PerspectiveCamera,
  PlaneGeometry,
  Vector3,
  type WebGLRenderer,
} from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import { grouped } from '../format.js';
import { FrustumVolume } from '../frustum-volume.js';
import { SelectionMarker } from '../marker.js';
import { costOf, Meter, quantile } from '../meter.js';
import { nextTurn } from '../next-turn.js';
import { Panel, showError } from '../panel.js';
import { movesByItself } from '../quality.js';
import { animate, BACKGROUND, createScene, FRUSTUM_COLOR, fitToCanvas, IS_LIGHT } from '../scenery.js';
import type { City } from './city.js';
import { CityMap } from './city-map.js';
import { cityMaterial } from './city-material.js';
import { FROZEN_LAYER, FrozenView } from './frozen-view.js';
import type { SeenInstances } from './seen-instances.js';

/** Milliseconds. */
const REPORT_INTERVAL = 400;
const MAP_INTERVAL = 100;
const GROUND = IS_LIGHT ? 0xb9c1cb : 0x171c24;
/** Fraction of the windows that are lit. */
const LIT_FRACTION = IS_LIGHT ? 0.04 : 0.3;
/** Metres: the height of the flight and its amplitude, how far ahead it looks, and its maximum distance from the centre. */
const FLIGHT = { height: 75, sway: 35, ahead: 160, reach: 900 };
/** Angular speed of the flight, in radians per second. */
const ANGULAR_SPEED = 0.035;
/** How far the camera moves up and back when the view is frozen, as fractions of the far plane. */
const STEP_BACK = { up: 0.75, back: 0.55 };

/** A flight over a city of which only the instances are drawn that the worker reports as visible. */
export class CullPage {
  readonly settings = { fly: movesByItself(), drive: movesByItself(), freeze: false, occlusion: false };
  readonly camera = new PerspectiveCamera(55, 1, 2, 100);
  /** The culling camera: it stays where the other camera was when the view was frozen. */
  readonly culler = new PerspectiveCamera();
  /** Number of instances in the last picture of a view that is not frozen. */
  drawn = 0;
  seconds = 0;
  hit: SceneIntersection | null = null;
  readonly #renderer: WebGLRenderer;
  readonly #city: City;
  readonly #service: CollisionService;
  readonly #tracker: SceneTracker;
  readonly #scene = createScene();
  readonly #controls: OrbitControls;
  readonly #map: CityMap;
  readonly #volume = new FrustumVolume(FRUSTUM_COLOR, 0.05);
  readonly #seenInstances: readonly SeenInstances[];
  readonly #frozenView: FrozenView;
  readonly #marker = new SelectionMarker();
  readonly #meter = new Meter();
  readonly #panel = new Panel();
  /** The flight begins on its way to the towers in the centre. */
  #angle = Math.PI - 0.42;
  /** The latest answer for a view that is not frozen. */
  #latestFrame: SceneFrame | null = null;
  #lastTime = 0;
  #lastReport = 0;
  #lastMap = 0;

  constructor(renderer: WebGLRenderer, city: City, far: number, service: CollisionService, tracker: SceneTracker) {
    this.#renderer = renderer;
    this.#city = city;
    this.#service = service;
    this.#tracker = tracker;
    this.#map = new CityMap(city.buildings, city.radius);
    const material = cityMaterial(LIT_FRACTION);
    const meshes = [city.buildings, city.cars];
    for (const mesh of meshes) mesh.material = material;
    this.#seenInstances = meshes.map((mesh) => {
      return { mesh, numbers: new Uint32Array(mesh.count), count: 0, isCar: mesh === city.cars };
    });
    this.#frozenView = new FrozenView(meshes, material);
    const ground = new Mesh(new PlaneGeometry(1, 1), new MeshBasicMaterial({ color: GROUND }));
    ground.rotation.x = -Math.PI / 2;
    ground.scale.setScalar(20 * city.radius);
    this.#scene.fog = new Fog(BACKGROUND, 0.35 * far, far);
    this.#scene.add(ground, this.#volume.root, this.#marker.root);
    this.#scene.traverse(({ layers }) => layers.enable(FROZEN_LAYER));
    this.#scene.add(city.root, ...this.#frozenView.copies);
    this.#volume.root.visible = false;
    this.camera.far = far;
    this.#controls = new OrbitControls(this.camera, renderer.domElement);
    this.#controls.maxPolarAngle = 0.52 * Math.PI;
    this.#controls.addEventListener('start', () => {
      this.settings.fly = false;
    });
    this.#fit();
    this.#fly();
    addEventListener('resize', () => this.#fit());
    tracker.hover(renderer.domElement, (hit) => this.#show(hit), { every: true });
    // Before the first answer, three would draw the whole city.
    this.camera.updateMatrixWorld();
    nextTurn()
      .then(() => this.#requestFrame())
      .then(() => animate(renderer, this.#scene, this.camera, (time: number) => this.#frame(time)))
      .catch(showError);
  }

  /** Lists the instances that the worker reports as visible; the list is kept while the view is frozen. */
  get seen(): readonly SeenInstances[] {
    const frame = this.#latestFrame;
    if (frame === null || this.settings.freeze) return this.#seenInstances;
    for (const each of this.#seenInstances) each.count = frame.visibleInstances(each.mesh, each.numbers);
    return this.#seenInstances;
  }

  /** Keeps drawing what is visible now; the camera moves up to look at it from outside. */
  freeze(isFrozen: boolean): void {
    if (isFrozen) {
      this.#frozenView.freeze(this.seen);
      this.#latestFrame = null;
    }
    this.settings.freeze = isFrozen;
    this.#volume.root.visible = isFrozen;
    this.#volume.update(this.culler, 0);
    const { camera } = this;
    const { far } = this.culler;
    if (isFrozen) {
      this.settings.fly = false;
      const ahead = camera.getWorldDirection(new Vector3()).setY(0).normalize();
      this.#controls.target.copy(camera.position).addScaledVector(ahead, 0.45 * far);
      camera.position.addScaledVector(ahead, -STEP_BACK.back * far).y += STEP_BACK.up * far;
      camera.far = 4 * far;
    } else {
      camera.position.copy(this.culler.position);
      camera.quaternion.copy(this.culler.quaternion);
      this.#controls.target.copy(
        camera.getWorldDirection(new Vector3()).multiplyScalar(FLIGHT.ahead).add(camera.position),
      );
      camera.far = far;
    }
    Object.assign(this.#scene.fog as Fog, { near: 0.35 * camera.far, far: camera.far });
    camera.updateProjectionMatrix();
    this.#controls.update();
  }

  #frame(time: number): void {
    const { settings, camera, culler } = this;
    const seconds = Math.min(0.1, (time - this.#lastTime) / 1000);
    this.#lastTime = time;
    this.#meter.begin();
    this.#meter.measure('simulate', () => {
      if (settings.drive) {
        this.seconds += seconds;
        this.#city.drive(this.seconds);
      }
      if (settings.fly && !settings.freeze) {
        this.#angle += ANGULAR_SPEED * seconds;
        this.#fly();
      }
      camera.updateMatrixWorld();
      if (!settings.freeze) culler.copy(camera, false).updateMatrixWorld();
    });
    this.#meter.measure('draw', () => {
      this.#marker.update();
      this.#renderer.render(this.#scene, settings.freeze ? this.#frozenView.follow(camera) : camera);
    });
    if (!settings.freeze) this.drawn = this.#city.count - this.#tracker.culled.instances;
    this.#requestFrame().catch(showError);
    if (time - this.#lastMap > MAP_INTERVAL) {
      this.#lastMap = time;
      this.#map.draw(this.seen, culler);
    }
    if (time - this.#lastReport < REPORT_INTERVAL) return;
    this.#lastReport = time;
    this.#report();
  }

  async #requestFrame(): Promise<void> {
    const { clientWidth: width, clientHeight: height } = this.#renderer.domElement;
    const answer = this.#meter.measure('collide', () => {
      // #region code
      const { occlusion } = this.settings; // also culls what nearer buildings hide
      return this.#tracker.update(this.camera, { width, height }, { occlusion });
      // #endregion
    });
    const frame = await answer;
    if (!this.settings.freeze) this.#latestFrame = frame;
  }

  #show(hit: SceneIntersection | null): void {
    this.hit = hit;
    this.#marker.select(hit);
    const isBuilding = hit?.object === this.#city.buildings;
    const height = hit === null ? 0 : this.#city.heightOf(hit.object as InstancedMesh, hit.instanceId!);
    this.#panel.showName(
      hit && `${hit.object.name} ${grouped(hit.instanceId!)}`,
      hit === null ? '' : `${isBuilding ? `${height.toFixed(0)} m high, ` : ''}${hit.distance.toFixed(0)} m away`,
    );
  }

  /** Flies over the centre of the city in a figure of eight, down into the streets and up again. */
  #fly(): void {
    const pathPoint = (angle: number): Vector3 =>
      new Vector3(FLIGHT.reach * Math.sin(angle), 0, 0.7 * FLIGHT.reach * Math.sin(2 * angle));
    const { camera } = this;
    camera.position.copy(pathPoint(this.#angle));
    camera.position.y = FLIGHT.height + FLIGHT.sway * Math.sin(5 * this.#angle);
    const ahead = pathPoint(this.#angle + 0.02)
      .sub(pathPoint(this.#angle))
      .setLength(FLIGHT.ahead);
    this.#controls.target.copy(camera.position).add(ahead).y -= 0.28 * FLIGHT.ahead;
    camera.lookAt(this.#controls.target);
  }

  #report(): void {
    const { frames } = this.#meter;
    const ms = (values: number[]): string => (values.length === 0 ? '–' : `${quantile(values, 0.5).toFixed(2)} ms`);
    const { triangles, occluded } = this.#tracker.culled; // in the last picture
    const format = grouped;
    this.#panel.showFigures({
      objects: format(this.#city.count),
      'of them moving': format(this.#city.cars.count),
      'seen, and drawn': `${format(this.drawn)} (${((100 * this.drawn) / this.#city.count).toFixed(1)} %)`,
      'hidden by nearer ones': this.settings.occlusion ? format(occluded) : '–',
      'triangles spared': format(triangles),
      'worker: a frame': ms([this.#service.stats.ms.total]),
      'main thread: asking': ms(frames.map(({ collide }) => collide)),
      'main thread: all work': ms(frames.map(costOf)),
    });
  }

  #fit(): void {
    fitToCanvas(this.#renderer, this.camera);
    this.camera.updateProjectionMatrix();
  }
}
