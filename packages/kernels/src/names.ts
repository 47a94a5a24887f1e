// Names of measurements and fields by their numbers in linear memory, decoded once.
import { Area, NO_ID } from './abi.gen.ts';
import type { Kernels } from './loader.ts';

/** Names known to one instance of the kernels. Numbers are dense and never reused. */
export class Names {
  readonly #kernels: Kernels;
  readonly #measurements: string[] = [];
  readonly #fields: string[][] = [];
  readonly #utf8 = new TextDecoder('utf-8', { ignoreBOM: true });
  readonly #toUtf8 = new TextEncoder();

  constructor(kernels: Kernels) {
    this.#kernels = kernels;
  }

  /** The measurement's name without escapes. */
  measurement(number: number): string {
    const known = this.#measurements[number];
    if (known !== undefined) return known;
    const escaped = this.decode(this.measurementBytes(number));
    const name = escaped.includes('\\') ? escaped.replace(/\\([, ])/g, '$1') : escaped;
    this.#measurements[number] = name;
    return name;
  }

  /** The measurement as it stands in series keys. A view: copy it before the next kernel call. */
  measurementBytes(number: number): Uint8Array {
    const { exports } = this.#kernels;
    const start = exports.measurementName(number) >>> 0;
    return this.#kernels.bytes.subarray(start, start + exports.measurementNameLength(number));
  }

  field(measurement: number, number: number): string {
    const known = this.#fields[measurement]?.[number];
    if (known !== undefined) return known;
    const name = this.decode(this.fieldBytes(measurement, number));
    const fields = this.#fields[measurement];
    // A list of one is made as such: one that grows takes room for seventeen.
    if (fields === undefined && number === 0) this.#fields[measurement] = [name];
    else (this.#fields[measurement] ??= [])[number] = name;
    return name;
  }

  /** A view: copy it before the next kernel call. */
  fieldBytes(measurement: number, number: number): Uint8Array {
    const { exports } = this.#kernels;
    const start = exports.fieldName(measurement, number) >>> 0;
    return this.#kernels.bytes.subarray(
      start,
      start + exports.fieldNameLength(measurement, number),
    );
  }

  /** Number of a measurement given as it stands in series keys; made when it is new. */
  measurementNumber(escapedName: Uint8Array): number {
    return this.#kernels.exports.measurementOf(this.#copyIn(escapedName), escapedName.length);
  }

  /** Number of a field; made when it is new. */
  fieldNumber(measurement: number, name: Uint8Array): number {
    return this.#kernels.exports.fieldOf(measurement, this.#copyIn(name), name.length);
  }

  /** `undefined` when nobody has named this field yet. */
  findField(measurement: number, name: string): number | undefined {
    const bytes = this.encode(name);
    const address = this.#copyIn(bytes);
    const number = this.#kernels.exports.findField(measurement, address, bytes.length) >>> 0;
    return number === NO_ID ? undefined : number;
  }

  encode(text: string): Uint8Array {
    return this.#toUtf8.encode(text);
  }

  decode(bytes: Uint8Array): string {
    return this.#utf8.decode(bytes);
  }

  #copyIn(bytes: Uint8Array): number {
    return this.#kernels.copyIn(Area.name, bytes);
  }
}
