// Names of measurements and fields by their numbers in linear memory. Each is decoded once.
import { utf8Text } from '@tidemark/core';

import { Area, NO_ID } from './abi.gen.ts';
import type { Kernels } from './loader.ts';

/** Names in one instance of the kernels. Numbers are dense and never reused. */
export class Names {
  readonly #kernels: Kernels;
  readonly #measurements: string[] = [];
  readonly #fields: string[][] = [];
  /** Numbers of fields by measurement and name, for `listedFieldNumber`. */
  readonly #numbers = new Map<number, Map<string, number>>();
  readonly #toUtf8 = new TextEncoder();

  constructor(kernels: Kernels) {
    this.#kernels = kernels;
  }

  /** The name of a measurement, not escaped. */
  measurement(number: number): string {
    const known = this.#measurements[number];
    if (known !== undefined) return known;
    const escaped = this.decode(this.measurementBytes(number));
    const name = escaped.includes('\\') ? escaped.replace(/\\([, ])/g, '$1') : escaped;
    this.#measurements[number] = name;
    return name;
  }

  /**
   * The name of a measurement, escaped as in series keys. A view: copy it before the next kernel
   * call.
   */
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
    // A literal of one element: an array that grows has room for 17.
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

  /** The number of a measurement, whose name is escaped as in series keys. Added if it is new. */
  measurementNumber(escapedName: Uint8Array): number {
    return this.#kernels.exports.measurementOf(this.#copyIn(escapedName), escapedName.length);
  }

  /** The number of a field, added if it is new. */
  fieldNumber(measurement: number, name: Uint8Array): number {
    return this.#kernels.exports.fieldOf(measurement, this.#copyIn(name), name.length);
  }

  /**
   * As `fieldNumber`, for a measurement of many fields whose numbers are requested again and again.
   */
  listedFieldNumber(measurement: number, name: string): number {
    let numbers = this.#numbers.get(measurement);
    if (numbers === undefined) this.#numbers.set(measurement, (numbers = new Map()));
    let number = numbers.get(name);
    if (number === undefined) {
      number = this.fieldNumber(measurement, this.encode(name));
      numbers.set(name, number);
    }
    return number;
  }

  /** The number of a field; `undefined` when there is none of this name yet. */
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
    return utf8Text(bytes);
  }

  #copyIn(bytes: Uint8Array): number {
    return this.#kernels.copyIn(Area.name, bytes);
  }
}
