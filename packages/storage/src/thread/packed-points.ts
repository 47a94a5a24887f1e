// Packs points for the storage thread: columns of numbers, and lists of distinct names. A message
// of a hundred thousand points with ten fields each would otherwise hold a million small arrays.
import { assert } from '@tidemark/core';
import type { NewPoint } from '@tidemark/storage-api';

const Type = { Float: 0, Integer: 1, Unsigned: 2, Boolean: 3, Text: 4 } as const;
type Type = (typeof Type)[keyof typeof Type];

/** Names and types of a point's fields. */
type Shape = { readonly names: readonly string[]; readonly types: readonly Type[] };

type Tags = NewPoint['tags'];
type Value = NewPoint['fields'][number][1];

export type PackedPoints = {
  readonly times: BigInt64Array<ArrayBuffer>;
  readonly measurements: readonly string[];
  readonly tagSets: readonly Tags[];
  readonly shapes: readonly Shape[];
  /** Three numbers per point: indexes of its measurement, its tags and its shape. */
  readonly places: Uint32Array<ArrayBuffer>;
  /** A 64-bit word per value, point by point. For a text it is the text's index. */
  readonly words: Float64Array<ArrayBuffer>;
  readonly texts: readonly string[];
};

/** Consecutive points with the same `tags` array also share it after unpacking. */
export function packPoints(points: readonly NewPoint[]): PackedPoints {
  const packer = new Packer(points);
  for (const point of points) packer.add(point);
  return packer.finish();
}

class Packer {
  readonly #times: BigInt64Array<ArrayBuffer>;
  readonly #places: Uint32Array<ArrayBuffer>;
  readonly #words: Float64Array<ArrayBuffer>;
  readonly #integers: BigInt64Array<ArrayBuffer>;
  readonly #measurements = new Map<string, number>();
  readonly #tagSets: Tags[] = [];
  readonly #shapes = new Map<string, number>();
  readonly #shapeList: Shape[] = [];
  readonly #texts: string[] = [];
  #count = 0;
  #word = 0;

  constructor(points: readonly NewPoint[]) {
    let values = 0;
    for (const { fields } of points) values += fields.length;
    this.#times = new BigInt64Array(points.length);
    this.#places = new Uint32Array(points.length * 3);
    this.#words = new Float64Array(values);
    this.#integers = new BigInt64Array(this.#words.buffer);
  }

  add({ measurement, tags, fields, time }: NewPoint): void {
    const at = this.#count++;
    this.#times[at] = time;
    let number = this.#measurements.get(measurement);
    if (number === undefined) {
      number = this.#measurements.size;
      this.#measurements.set(measurement, number);
    }
    if (this.#tagSets.at(-1) !== tags) this.#tagSets.push(tags);
    this.#places[at * 3] = number;
    this.#places[at * 3 + 1] = this.#tagSets.length - 1;
    this.#places[at * 3 + 2] = this.#shapeOf(fields);
    for (const [, value] of fields) this.#addValue(value);
  }

  finish(): PackedPoints {
    return {
      times: this.#times,
      measurements: [...this.#measurements.keys()],
      tagSets: this.#tagSets,
      shapes: this.#shapeList,
      places: this.#places,
      words: this.#words,
      texts: this.#texts,
    };
  }

  #shapeOf(fields: NewPoint['fields']): number {
    const last = this.#shapeList.at(-1);
    if (last !== undefined && hasShape(fields, last)) return this.#shapeList.length - 1;
    const names = fields.map(([name]) => name);
    const types = fields.map(([, value]) => typeOf(value));
    const key = JSON.stringify([names, types]);
    const known = this.#shapes.get(key);
    if (known !== undefined) return known;
    const number = this.#shapeList.push({ names, types }) - 1;
    this.#shapes.set(key, number);
    return number;
  }

  #addValue(value: Value): void {
    const at = this.#word++;
    switch (typeof value) {
      case 'number':
        this.#words[at] = value;
        break;
      case 'bigint':
        this.#integers[at] = value;
        break;
      case 'boolean':
        this.#words[at] = value ? 1 : 0;
        break;
      case 'string':
        this.#words[at] = this.#texts.push(value) - 1;
        break;
      default:
        this.#integers[at] = BigInt.asIntN(64, value.unsigned);
    }
  }
}

function typeOf(value: Value): Type {
  switch (typeof value) {
    case 'number':
      return Type.Float;
    case 'bigint':
      return Type.Integer;
    case 'boolean':
      return Type.Boolean;
    case 'string':
      return Type.Text;
    default:
      return Type.Unsigned;
  }
}

function hasShape(fields: NewPoint['fields'], { names, types }: Shape): boolean {
  if (fields.length !== names.length) return false;
  for (let i = 0; i < names.length; i++) {
    const [name, value] = fields[i]!;
    if (name !== names[i] || typeOf(value) !== types[i]) return false;
  }
  return true;
}

/** Restores the points. */
export function unpackPoints(packed: PackedPoints): NewPoint[] {
  const { times, measurements, tagSets, shapes, places, words, texts } = packed;
  const integers = new BigInt64Array(words.buffer, words.byteOffset, words.length);
  let word = 0;
  const valueOf = (type: Type): Value => {
    const at = word++;
    switch (type) {
      case Type.Float:
        return words[at]!;
      case Type.Integer:
        return integers[at]!;
      case Type.Unsigned:
        return { unsigned: BigInt.asUintN(64, integers[at]!) };
      case Type.Boolean:
        return words[at] === 1;
      case Type.Text:
        return texts[words[at]!]!;
    }
  };
  const points: NewPoint[] = [];
  for (let i = 0; i < times.length; i++) {
    const shape = shapes[places[i * 3 + 2]!];
    assert(shape !== undefined, 'every point has a shape');
    const { names, types } = shape;
    points.push({
      measurement: measurements[places[i * 3]!]!,
      tags: tagSets[places[i * 3 + 1]!]!,
      fields: names.map((name, field) => [name, valueOf(types[field]!)] as const),
      time: times[i]!,
    });
  }
  return points;
}
