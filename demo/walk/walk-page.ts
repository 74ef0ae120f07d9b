import type { CollisionService } from 'collision-worker';
import type { SceneCharacter, SceneTracker } from 'collision-worker/three';
import { PerspectiveCamera, Vector3, type WebGLRenderer } from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import { costOf, Meter, quantile } from '../meter.js';
import { element, fillTable, nameOf, showError } from '../panel.js';
import { movesByItself } from '../quality.js';
import { createScene, fitToCanvas } from '../scenery.js';
import { Balls } from './balls.js';
import { BALL_LAYER, type Course } from './course.js';
import { Door } from './door.js';
import { Input } from './input.js';
import { Walkers } from './walkers.js';

/** Milliseconds. */
const REPORT_INTERVAL = 300;
/** Metres per second. */
const WALK_SPEED = 4;
const JUMP_SPEED = 5;
const THROW_SPEED = 16;
const EYE_OFFSET = new Vector3(0, 1.3, 0);

/** A course, a character that walks on it, and a camera that follows. */
export class WalkPage {
  readonly settings = { move: movesByItself(), walkers: true, balls: () => this.balls.clear() };
  readonly camera = new PerspectiveCamera(50, 1, 0.1, 200);
  readonly balls: Balls;
  readonly walkers: Walkers;
  readonly door: Door;
  readonly hero: SceneCharacter;
  seconds = 0;
  readonly #renderer: WebGLRenderer;
  readonly #course: Course;
  readonly #service: CollisionService;
  readonly #tracker: SceneTracker;
  readonly #scene = createScene();
  readonly #controls: OrbitControls;
  readonly #input = new Input();
  readonly #meter = new Meter();
  readonly #maxWalkers: number;
  #lastTime = 0;
  #lastReport = 0;

  constructor(
    renderer: WebGLRenderer,
    course: Course,
    service: CollisionService,
    tracker: SceneTracker,
    hero: SceneCharacter,
    maxWalkers: number,
  ) {
    this.#renderer = renderer;
    this.#course = course;
    this.#service = service;
    this.#tracker = tracker;
    this.#maxWalkers = maxWalkers;
    this.hero = hero;
    this.balls = new Balls(course.root, tracker);
    this.walkers = new Walkers(tracker, maxWalkers);
    this.door = new Door(course.door, tracker);
    this.camera.layers.enable(BALL_LAYER);
    this.#scene.add(course.root, this.walkers.mesh);
    this.#controls = new OrbitControls(this.camera, renderer.domElement);
    this.#controls.enablePan = false;
    this.#controls.minDistance = 2;
    this.#controls.maxDistance = 30;
    this.#controls.maxPolarAngle = 0.49 * Math.PI;
    this.#controls.target.copy(course.hero.position).add(EYE_OFFSET);
    this.camera.position.copy(this.#controls.target).add(new Vector3(4.5, 6.5, 12));
    this.#input.onJump = () => hero.jump(JUMP_SPEED);
    this.#input.onThrow = () => this.throw();
    this.useWalkers(true);
    this.#fit();
    addEventListener('resize', () => this.#fit());
    renderer.setAnimationLoop((time: number) => this.#frame(time));
  }

  /** Fills the course with walkers, or removes them all. */
  useWalkers(isUsed: boolean): void {
    this.walkers.set(isUsed ? this.#maxWalkers : 0);
  }

  /** Throws a ball in the direction of the camera. */
  throw(): void {
    const { hero } = this.#course;
    const direction = this.camera.getWorldDirection(new Vector3());
    direction.y = Math.max(direction.y, -0.1) + 0.25;
    this.balls.throw(hero.position.clone().add(EYE_OFFSET), direction.setLength(THROW_SPEED), hero);
  }

  #frame(time: number): void {
    // After its tab was hidden, the scene continues where it was.
    const seconds = Math.min(0.1, (time - this.#lastTime) / 1000);
    this.#lastTime = time;
    this.#meter.begin();
    if (this.settings.move) {
      this.seconds += seconds;
      this.#meter.measure('simulate', () => this.#course.pose(this.seconds));
      this.door.move(seconds).catch(showError);
    }
    this.#meter.measure('collide', () => this.#walk(seconds));
    this.#followHero(seconds);
    this.#meter.measure('draw', () => this.#renderer.render(this.#scene, this.camera));
    const { clientWidth: width, clientHeight: height } = this.#renderer.domElement;
    // #region code
    // The worker moves all characters; its answer places the figure at the hero's position.
    const answer = this.#meter.measure('collide', () => this.#tracker.update(this.camera, { width, height }));
    // #endregion
    answer.catch(showError);
    if (time - this.#lastReport < REPORT_INTERVAL) return;
    this.#lastReport = time;
    this.#report();
  }

  #walk(seconds: number): void {
    const { aside, ahead } = this.#input.movement();
    const forward = this.camera.getWorldDirection(new Vector3()).setY(0).normalize();
    const direction = new Vector3(-forward.z, 0, forward.x).multiplyScalar(aside).addScaledVector(forward, ahead);
    if (direction.lengthSq() > 0.01) this.#course.hero.rotation.y = Math.atan2(direction.x, direction.z);
    // #region code
    this.hero.advance(direction.multiplyScalar(WALK_SPEED), seconds);
    // #endregion
    if (this.settings.move) this.walkers.move(seconds);
    this.balls.move(seconds);
  }

  /** Follows the hero, and orbits it by the gamepad. */
  #followHero(seconds: number): void {
    const target = this.#course.hero.position.clone().add(EYE_OFFSET);
    const displacement = target.sub(this.#controls.target);
    this.#controls.target.add(displacement);
    this.camera.position.add(displacement);
    const { aside, up } = this.#input.look;
    if (aside !== 0 || up !== 0) {
      const offset = this.camera.position.clone().sub(this.#controls.target);
      offset.applyAxisAngle(this.camera.up, -aside * seconds);
      offset.y += up * seconds * offset.length();
      this.camera.position.copy(this.#controls.target).add(offset);
    }
    this.#controls.update();
  }

  #report(): void {
    const { ground, touches, speed } = this.hero.state;
    const names = [...new Set(touches.map(nameOf))];
    element('ground').textContent = ground === null ? 'nothing: you fall or jump' : nameOf(ground);
    element('touches').textContent = names.length === 0 ? '\u00a0' : `against ${names.join(', ')}`;
    const { frames } = this.#meter;
    const median = (values: number[]): string => `${quantile(values, 0.5).toFixed(2)} ms`;
    fillTable(element('figures'), {
      'characters that walk': String(1 + this.walkers.count),
      'of the crowd, standing': String(this.walkers.standing),
      'balls, which are characters': String(this.balls.count),
      'you rise or fall at': `${speed.toFixed(1)} m/s`,
      'the door': this.door.isBlocked ? 'waits for what is in its way' : 'goes',
      'main thread: collision work': frames.length === 0 ? '–' : median(frames.map(({ collide }) => collide)),
      'main thread: all work': frames.length === 0 ? '–' : median(frames.map(costOf)),
      'worker: a frame': `${this.#service.stats.ms.total.toFixed(2)} ms`,
    });
  }

  #fit(): void {
    fitToCanvas(this.#renderer, this.camera);
  }
}
