import type {
  ClosestPoint,
  ContactOptions,
  ContactReport,
  Distance,
  DistanceOptions,
  Hit,
  Inspection,
  InspectOptions,
  ObjectId,
  PickOptions,
  Placement,
  QueryOptions,
  Ray,
  RayHits,
  Rect,
  RegionOptions,
  Section,
  SectionOptions,
  Shape,
  Sight,
  SweepHit,
  SweepHits,
  SweepManyOptions,
  SweepOptions,
  Vec3,
  ViewOptions,
  VisibleSet,
} from '../shared/types.js';
import type { Queries } from './query/queries.js';
import { ServiceEvents } from './service-events.js';

/** The queries of a service: picks, rays, regions, sweeps, contacts, distances and sections. */
export class ServiceQueries extends ServiceEvents {
  readonly #queriesFor: (operation: string) => Queries;

  /**
   * Takes a function that returns the object that answers the queries, and throws if there is no worker any more.
   *
   * @internal
   */
  constructor(queriesFor: (operation: string) => Queries) {
    super();
    this.#queriesFor = queriesFor;
  }

  /**
   * Resolves with the nearest hit under a point in CSS pixels, in the space of the view's viewport, between its near and
   * far plane; null outside of the viewport. The view is the one at the time of the call.
   *
   * With `method: 'screen'` the hit is the object whose centre of oriented bounds is drawn nearest to the point, no farther
   * than `radius` pixels, hidden or not: for handles, stars and other objects that are too small to be hit. If two are drawn
   * in the same place, the one nearer to the eye wins, then the one with the lower id. `point` is that centre, `distance` is
   * from the eye (with an orthographic projection, from its plane), and `normal` points to the eye.
   *
   * With `snap`, the hit's `snap` is the vertex, midpoint, centre, edge or face drawn nearest to the point, within `radius`
   * pixels (10 by default), that nothing hides. The first such pick near an object finds its mesh's features, in slices,
   * unless the mesh was added with `features`; only this pick waits for that.
   *
   * ```ts
   * const hit = await service.pick(event.offsetX, event.offsetY, { latest: true });
   * const corner = (await service.pick(event.offsetX, event.offsetY, { snap: ['vertex', 'edge'] }))?.snap;
   * const star = await service.pick(event.offsetX, event.offsetY, { method: 'screen', radius: 12 });
   * ```
   *
   * Rejects with ABORTED by the signal. Of several waiting picks with `latest`, only the newest is sent; all of them get
   * its answer.
   */
  async pick(x: number, y: number, options?: PickOptions): Promise<Hit | null> {
    return this.#queriesFor('pick').pick(x, y, options);
  }

  /**
   * Resolves with all hits under a point, nearest first (for method 'screen', on the screen); none outside of the viewport.
   *
   * ```ts
   * const hits = await service.pickAll(400, 300);
   * const ids = [...new Set(hits.map(({ object }) => object))]; // front to back
   * ```
   *
   * With `method: 'screen'` it lists every object whose centre is drawn within `radius`, sorted by pixels.
   *
   * Rejects as `pick` does, and with OUT_OF_MEMORY when there are more than the worker can hold.
   */
  async pickAll(x: number, y: number, options?: Omit<PickOptions, 'snap'>): Promise<Hit[]> {
    return this.#queriesFor('pickAll').pickAll(x, y, options);
  }

  /**
   * Resolves with the nearest hit of a ray.
   *
   * ```ts
   * const hit = await service.raycast({ origin: [0, 10, 0], direction: [0, -1, 0], tMax: 20 });
   * ```
   */
  async raycast(ray: Ray, options?: QueryOptions): Promise<Hit | null> {
    return this.#queriesFor('raycast').raycast(ray, options);
  }

  /**
   * Resolves with all hits of a ray, nearest first: every triangle of a mesh; for a box, sphere or capsule, and for the
   * bounds that stand for an object by `precision`, the points where the ray enters it (front) and leaves it (back), which
   * may be the same point. On an edge that triangles share, each of them is a hit.
   *
   * ```ts
   * const hits = await service.raycastAll({ origin: [0, 10, 0], direction: [0, -1, 0] }, { side: 'front' });
   * const depth = hits.length; // surfaces entered
   * ```
   *
   * Rejects with OUT_OF_MEMORY when there are more than the worker can hold; the service continues.
   */
  async raycastAll(ray: Ray, options?: QueryOptions): Promise<Hit[]> {
    return this.#queriesFor('raycastAll').raycastAll(ray, options);
  }

  /**
   * Resolves with the nearest hits of many rays: eight numbers each, origin, tMin, direction, tMax. They are copied. Work
   * that takes longer than some milliseconds is done in slices, between which everything else is answered: each ray meets
   * the objects as they are at its turn.
   */
  async raycastMany(rays: Float32Array, options?: QueryOptions): Promise<RayHits> {
    return this.#queriesFor('raycastMany').raycastMany(rays, options);
  }

  /** Resolves with whether nothing is between two points. Objects at the points themselves count, unless they are in `ignore`. */
  async lineOfSight(from: Vec3, to: Vec3, options?: QueryOptions): Promise<boolean> {
    return this.#queriesFor('lineOfSight').lineOfSight(from, to, options);
  }

  /**
   * Finds the objects in a region of a view, hidden ones included, by id: a rectangle in CSS pixels, or a polygon (x
   * and y of each vertex), which need not be convex and may cross itself (inside is where a line from outside crosses
   * it an odd number of times). The region ends at the viewport, the near and the far plane; its border is a part of
   * it, so that a rectangle of no size is a point.
   *
   * The answer is exact: every triangle of a mesh is tested. With a `side` of the query or of the object, only triangles
   * that turn that side to the eye count, and an object without any is not listed. Boxes, spheres and capsules are solid.
   * 'enclose' requires that all of an object is in the region, whatever its own side, and that no edge of the polygon
   * crosses it. Work that takes longer than some milliseconds is done in slices: each object is tested as it is at its turn,
   * and one that was removed before is not listed.
   *
   * ```ts
   * const touched = await service.pickRegion({ x: 100, y: 100, width: 200, height: 150 });
   * const enclosed = await service.pickRegion(new Float32Array(lasso), { mode: 'enclose' });
   * ```
   *
   * Rejects as `pick` does, and with OUT_OF_MEMORY for more vertices than the worker can hold.
   */
  async pickRegion(region: Rect | Float32Array, options?: RegionOptions): Promise<Uint32Array> {
    return this.#queriesFor('pickRegion').pickRegion(region, options);
  }

  /**
   * Finds what a view sees, without a frame: a view that was set, by its name, or any other, with its layers, margin and
   * minPixels. Or it finds what is on the inner side of all of 1 to 32 planes: four numbers each, nx, ny, nz and d, inside
   * where n · p + d >= 0, as three's Plane has them, with normals of any length. Objects that are not `cullable` are not
   * listed, whether or not they are `pickable`; `side` does not matter. `entered` and `left` are empty.
   *
   * The default `precision` is 'obb' here: the same answer as that of a frame. As in a frame, 'obb', 'aabb' and 'sphere'
   * list every object that no single plane has wholly outside, so a bound beyond a corner of the frustum may be listed as
   * crossing. 'mesh' lists objects that have a point inside: exact to the triangle, and with other shapes as solids.
   * Thousands of meshes that cross a plane are tested in slices, as by `pickRegion`.
   *
   * ```ts
   * const { ids, inside } = await service.frustum(viewFromCamera(shadowCamera, { width: 1, height: 1 }));
   * ```
   */
  async frustum(view: string | ViewOptions | Float32Array, options?: QueryOptions): Promise<VisibleSet> {
    return this.#queriesFor('frustum').frustum(view, options);
  }

  /**
   * Finds which of the targets the eye of a view sees: those in its frustum to which it has a clear line. A line goes from
   * the near plane to each of nine points of a target, and a target does not occlude itself. The view's layers and
   * minPixels apply to the targets, and its margin does not count; the options apply to the possible occluders, which are
   * all objects that are `pickable`. Many targets are tested in slices, between which everything else is answered, each
   * as it is at its turn: one that is removed before has no point in sight.
   *
   * ```ts
   * service.setView({ projection, view: guardView, viewport: { width: 1, height: 1 } }, 'guard');
   * const { ids } = await service.sees('guard', intruders, { ignore: [guard] });
   * ```
   */
  async sees(view: string | ViewOptions, targets: ArrayLike<ObjectId>, options?: QueryOptions): Promise<Sight> {
    return this.#queriesFor('sees').sees(view, targets, options);
  }

  /**
   * Finds the objects that a shape overlaps, by id; touching counts. Meshes are surfaces unless they are `solid`, all other
   * shapes are solid: an object inside one overlaps it. `matrix` may be any affine, invertible matrix. Thousands of objects
   * are tested in slices, as by `pickRegion`.
   *
   * ```ts
   * const near = await service.overlap({ type: 'sphere', radius: 5, center: [0, 1, 0] });
   * ```
   */
  async overlap(shape: Shape, matrix?: ArrayLike<number>, options?: QueryOptions): Promise<Uint32Array> {
    return this.#queriesFor('overlap').overlap(shape, matrix, options);
  }

  /**
   * Finds the objects that are solid around a point, by id; their surfaces count. A mesh is around the points that it winds
   * around more than half a time, in either sense (generalised winding number: Jacobson, Kavan and Sorkine-Hornung, 2013;
   * summed fast as by Barill, Dickson, Schmidt, Levin and Jacobson, 2018). For a closed mesh these are the points inside,
   * small holes do not matter, and a flat sheet has none. Near a large opening the number falls evenly from 1 to 0, so that
   * the inside ends at about a film over the opening; and an open, curved sheet has some in its hollows. Beyond a mesh's
   * own bounds there are none. Thousands of objects are tested in slices, as by `pickRegion`.
   *
   * ```ts
   * const rooms = await service.containing([camera.position.x, camera.position.y, camera.position.z]);
   * ```
   *
   * Rejects with OUT_OF_MEMORY when there is no room for the sums of a mesh that is tested for the first time, 64 bytes
   * for each node of its tree; the service continues.
   */
  async containing(point: Vec3, options?: QueryOptions): Promise<Uint32Array> {
    return this.#queriesFor('containing').containing(point, options);
  }

  /**
   * Finds the point nearest to a given one among all objects no farther than `maxDistance` (any, by default; one
   * exactly as far counts), or null. Meshes are surfaces unless they are `solid`, all other shapes are solid: a point
   * inside one is its own nearest, at distance 0. Of objects that are equally near, the one with the lowest id wins,
   * and of its triangles the first. Thousands of candidates are examined in slices, as by `pickRegion`. Rejects with
   * INVALID_ARGUMENT for a point beyond 1e150.
   *
   * ```ts
   * const nearest = await service.closestPoint([0, 2, 0], { maxDistance: 10 });
   * ```
   */
  async closestPoint(point: Vec3, options?: QueryOptions & { maxDistance?: number }): Promise<ClosestPoint | null> {
    return this.#queriesFor('closestPoint').closestPoint(point, options);
  }

  /**
   * Cuts objects with a plane, four numbers n · p + d with n of any length but zero, and resolves with their outlines in
   * the plane, joined to loops if meshes are closed, and with the loop directly around each loop. Meshes of points and lines
   * have no outlines; spheres and capsules get polygons of `roundPoints` points.
   *
   * ```ts
   * const { starts, points } = await service.section([0, 1, 0, -1.2]); // 1.2 above the ground
   * for (let i = 0; i + 1 < starts.length; i++) draw(points.subarray(3 * starts[i], 3 * starts[i + 1]));
   * ```
   *
   * Two triangles that share an edge by the positions of its vertices share the point at which the plane crosses it, bit
   * by bit: outlines of a closed mesh are closed by construction, also through vertices and along faces.
   *
   * Work that takes longer than some milliseconds is done in slices, between which everything else is answered; each object
   * is cut as it is at its turn.
   *
   * Rejects with INVALID_ARGUMENT for a plane without a normal, UNSUPPORTED with `clip`, and OUT_OF_MEMORY when the answer
   * is larger than the worker can hold.
   */
  async section(plane: ArrayLike<number>, options?: SectionOptions): Promise<Section> {
    return this.#queriesFor('section').section(plane, options);
  }

  /**
   * Finds what a shape meets first on its way from one placement to another, with all objects where they are; null if the
   * way is free. Meshes are met as surfaces, and may be swept themselves; points and lines block nothing. An object that
   * only touches the shape at the start is met if the shape comes nearer to it, but not if it moves away or along it.
   *
   * Both matrices are a shape's `matrix`, 16 numbers, column-major. The second must be the first, moved and turned: scale
   * and shear are kept on the way, whatever they are. In between, the origin moves straight and at constant speed, and the
   * shape turns about it at constant speed, the shorter way (slerp).
   *
   * Without a rotation the time is exact, and with a rotation it is early by `tolerance` at most; apart from rounding, it is
   * never late. By default both sides of faces are met; with `side`, only faces that the shape approaches from that side.
   *
   * ```ts
   * const from = new Matrix4().makeTranslation(0, 1, 0).elements;
   * const to = new Matrix4().makeTranslation(0, 1, 8).elements;
   * const hit = await service.sweep({ type: 'sphere', radius: 0.3 }, from, to);
   * const free = hit === null ? 8 : 8 * hit.time; // how far it can go
   * ```
   *
   * An object's id instead of a shape stands for its own shape, as its mesh was given, and does not block itself.
   *
   * Rejects with INVALID_ARGUMENT if `to` is not `from`, moved and turned, and with UNSUPPORTED for a mesh of points or lines,
   * or an object that has one, as the shape, and for `clip`.
   */
  async sweep(
    shape: Shape | ObjectId,
    from: ArrayLike<number>,
    to: ArrayLike<number>,
    options?: SweepOptions,
  ): Promise<SweepHit | null> {
    return this.#queriesFor('sweep').sweep(shape, from, to, options);
  }

  /** Finds the first contact with each object on the way, earliest first, as if the others were not there. */
  async sweepAll(
    shape: Shape | ObjectId,
    from: ArrayLike<number>,
    to: ArrayLike<number>,
    options?: SweepOptions,
  ): Promise<SweepHit[]> {
    return this.#queriesFor('sweepAll').sweepAll(shape, from, to, options);
  }

  /**
   * Finds a free place near a matrix, for objects that are put down by hand: pushes the shape out of everything that it
   * overlaps, each time out of the object it is deepest in, along the `normal` of a sweep by its `depth`, at most 64 times. It
   * may touch others then. Another free place may be nearer. An object's id instead of a shape stands for its own, as in
   * `sweep`. Large meshes are pushed in slices, between which everything else is answered: `frame` is the one in which the
   * place was free.
   *
   * ```ts
   * const { matrix } = await service.place(crate, new Matrix4().makeTranslation(3, 0.2, 1).elements);
   * service.setTransform(crate, matrix);
   * ```
   *
   * Rejects with INVALID_ARGUMENT if no free place is found, as between walls that are too close to each other: the
   * message says how deep it remains in which object; and with UNSUPPORTED as `sweep` does.
   */
  async place(shape: Shape | ObjectId, matrix?: ArrayLike<number>, options?: QueryOptions): Promise<Placement> {
    return this.#queriesFor('place').place(shape, matrix, options);
  }

  /**
   * Finds what a shape meets first on many ways, 14 numbers each: place (xyz) and unit quaternion (xyzw) at the start, then
   * at the end. With several shapes, `shapeOf` gives the index of the shape for each way. The ways are copied. Work that
   * takes longer than some milliseconds is done in slices, between which everything else is answered, also within the way
   * of a mesh: each way is tested against the objects as they are at its turn. A mesh that is swept is as it was at the
   * call, or as `updateMesh` has made it since.
   *
   * ```ts
   * const ways = new Float64Array([0, 1, 0, 0, 0, 0, 1, 0, 1, 8, 0, 0, 0, 1]);
   * const { objects, times } = await service.sweepMany({ type: 'sphere', radius: 0.3 }, ways);
   * ```
   */
  async sweepMany(
    shape: Shape | readonly Shape[],
    ways: Float64Array | Float32Array,
    options?: SweepManyOptions,
  ): Promise<SweepHits> {
    return this.#queriesFor('sweepMany').sweepMany(shape, ways, options);
  }

  /**
   * Finds whether and how two objects touch, by the newest transforms that were sent with update(); null if they do not.
   * Layers, groups, `motion` and the objects' own `contacts` do not matter.
   *
   * ```ts
   * const contact = await service.contact(gripper, box);
   * if (contact) console.log(contact.points.length / 3, 'points, deepest', Math.max(...contact.depths));
   * ```
   *
   * Work that takes longer than some milliseconds is done in slices: other queries are answered between them, and changes
   * of the scene wait. A contact with a mesh is found after the frame that is under way.
   *
   * Rejects with INVALID_ARGUMENT for an object and itself, and with OUT_OF_MEMORY when the answer is larger than the
   * worker can hold.
   */
  async contact(a: ObjectId, b: ObjectId, options?: ContactOptions): Promise<ContactReport | null> {
    return this.#queriesFor('contact').contact(a, b, options);
  }

  /**
   * Measures how far two objects are from each other, by the newest transforms that were sent with update(), and finds
   * their nearest points; null if they are farther apart than `maxDistance` (exactly as far counts). Meshes are surfaces
   * unless they are `solid`, all other shapes are solid: if they meet, or one is inside a solid, the distance is 0 and both
   * points are one that they share. Layers, groups, `motion` and `contacts` do not matter.
   *
   * ```ts
   * const near = await service.distance(arm, fence, { maxDistance: 0.5 });
   * if (near) console.log(near.distance, 'between', near.pointA, 'and', near.pointB);
   * ```
   *
   * The more of their surfaces are close to each other, the longer it takes; work that takes longer than some milliseconds
   * is done in slices, as for a contact.
   *
   * Rejects with INVALID_ARGUMENT for an object and itself, and with UNSUPPORTED for an object with a mesh of points or lines.
   */
  async distance(a: ObjectId, b: ObjectId, options?: DistanceOptions): Promise<Distance | null> {
    return this.#queriesFor('distance').distance(a, b, options);
  }

  /**
   * Lists what the worker holds: the boxes of objects' trees by level, the octrees' cells with their counts, the bounds of
   * objects with how views see them, and numbers of each. It is for drawing and for debugging, and costs nothing until it
   * is called.
   *
   * ```ts
   * const { trees: [tree], cells } = await service.inspect({ objects: [id], levels: [1, 3], octree: true });
   * console.log(tree.nodes, 'nodes', tree.depth, 'deep', tree.bytes, 'bytes', cells?.counts);
   * ```
   *
   * Boxes are frames of twelve numbers in float64 and world coordinates; with `lines` their edges come as float32, near an
   * `origin`, for a LineSegments there. It lists the state that the last `update()` has sent. Answers are as long as `maxBoxes`
   * allows; between the trees of many objects the worker serves other messages.
   *
   * Rejects with UNKNOWN_ID for an object that is not alive, INVALID_ARGUMENT for invalid levels, views or counts,
   * ABORTED by the `signal`, and OUT_OF_MEMORY when there is more to list than the worker can hold.
   */
  async inspect(options?: InspectOptions): Promise<Inspection> {
    return this.#queriesFor('inspect').inspect(options);
  }
}
