import { BoxGeometry, CatmullRomCurve3, CylinderGeometry, LatheGeometry, TubeGeometry, Vector2, Vector3 } from 'three';

/** Tessellation of round forms: segments of a circle. */
export class Forms {
  readonly segments: number;

  constructor(segments: number) {
    this.segments = segments;
  }

  /** About y, centred. */
  disc(radius: number, height: number, top = radius): CylinderGeometry {
    return new CylinderGeometry(top, radius, height, this.segments);
  }

  /** A unit rod, to be stretched by `between`. */
  rod(radius: number): CylinderGeometry {
    return new CylinderGeometry(radius, radius, 1, Math.max(6, this.segments / 3));
  }

  hexagon(radius: number, height: number): CylinderGeometry {
    return new CylinderGeometry(radius, radius, height, 6);
  }

  /** About y, centred. */
  ring(inner: number, outer: number, height: number): LatheGeometry {
    const [bottom, top] = [-height / 2, height / 2];
    return this.lathe([inner, bottom], [outer, bottom], [outer, top], [inner, top], [inner, bottom]);
  }

  /** A lathe about y, from pairs of radius and y, counter-clockwise. */
  lathe(...profile: [radius: number, y: number][]): LatheGeometry {
    const points = profile.map(([radius, y]) => new Vector2(radius, y));
    return new LatheGeometry(points, this.segments);
  }

  pipe(radius: number, ...points: [number, number, number][]): TubeGeometry {
    const curve = new CatmullRomCurve3(points.map((point) => new Vector3(...point)));
    return new TubeGeometry(curve, Math.max(10, this.segments / 2), radius, Math.max(6, this.segments / 3));
  }

  /** Stands upright from y = 0: narrow at both ends, and twisted like a propeller. */
  blade(length: number, chord: number): BoxGeometry {
    const geometry = new BoxGeometry(1, length, 1, 6, this.segments, 1).translate(0, length / 2, 0);
    const { position } = geometry.attributes;
    for (let i = 0; i < position.count; i++) {
      const fraction = position.getY(i) / length;
      const width =
        chord * (0.45 + 1.9 * fraction * (1 - fraction) + 0.15 * fraction) * Math.sqrt(1.002 - fraction ** 8);
      const chordPosition = position.getX(i);
      const thickness = 0.3 * (1 - 0.85 * fraction) * chord * (1 - 2.9 * chordPosition * chordPosition);
      const angle = 0.95 - 0.75 * fraction;
      const x = chordPosition * width;
      const z = position.getZ(i) * thickness;
      position.setX(i, x * Math.cos(angle) - z * Math.sin(angle));
      position.setZ(i, x * Math.sin(angle) + z * Math.cos(angle));
    }
    geometry.computeVertexNormals();
    return geometry;
  }
}
