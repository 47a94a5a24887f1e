// ClickHouse's format RowBinary: values in sequence, little-endian; texts follow their length as a
// varint.

/** Appends values to a growing buffer. */
export class RowWriter {
  #bytes: Uint8Array<ArrayBuffer>;
  #view: DataView;
  #length = 0;

  /** `capacityBytes` is the initial capacity. */
  constructor(capacityBytes: number = 1 << 12) {
    this.#bytes = new Uint8Array(capacityBytes);
    this.#view = new DataView(this.#bytes.buffer);
  }

  get sizeBytes(): number {
    return this.#length;
  }

  uint8(value: number): void {
    const at = this.#room(1);
    this.#bytes[at] = value;
  }

  uint32(value: number): void {
    const at = this.#room(4);
    this.#view.setUint32(at, value, true);
  }

  int32(value: number): void {
    const at = this.#room(4);
    this.#view.setInt32(at, value, true);
  }

  int64(value: bigint): void {
    const at = this.#room(8);
    this.#view.setBigInt64(at, value, true);
  }

  uint64(value: bigint): void {
    const at = this.#room(8);
    this.#view.setBigUint64(at, value, true);
  }

  float64(value: number): void {
    const at = this.#room(8);
    this.#view.setFloat64(at, value, true);
  }

  text(value: string): void {
    if (value.length === 0) {
      this.uint8(0);
      return;
    }
    const bytes = ENCODER.encode(value);
    this.varint(bytes.length);
    this.bytes(bytes);
  }

  texts(values: readonly string[]): void {
    this.varint(values.length);
    for (const value of values) this.text(value);
  }

  /** Appends complete rows of another writer. */
  bytes(rows: Uint8Array): void {
    const at = this.#room(rows.length);
    this.#bytes.set(rows, at);
  }

  varint(value: number): void {
    let left = value;
    while (left >= 0x80) {
      this.uint8((left % 0x80) + 0x80);
      left = Math.floor(left / 0x80);
    }
    this.uint8(left);
  }

  /** The written bytes, as a view. Nothing may be appended afterwards. */
  finish(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  #room(sizeBytes: number): number {
    const at = this.#length;
    this.#length += sizeBytes;
    if (this.#length > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(this.#length, this.#bytes.length * 2));
      grown.set(this.#bytes);
      this.#bytes = grown;
      this.#view = new DataView(grown.buffer);
    }
    return at;
  }
}

const ENCODER = new TextEncoder();

/** Reads values in the order of the columns. */
export class RowReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get hasMore(): boolean {
    return this.#at < this.#bytes.length;
  }

  uint8(): number {
    return this.#bytes.readUInt8(this.#take(1));
  }

  uint32(): number {
    return this.#bytes.readUInt32LE(this.#take(4));
  }

  int64(): bigint {
    return this.#bytes.readBigInt64LE(this.#take(8));
  }

  uint64(): bigint {
    return this.#bytes.readBigUInt64LE(this.#take(8));
  }

  float64(): number {
    return this.#bytes.readDoubleLE(this.#take(8));
  }

  text(): string {
    const length = this.#varint();
    const at = this.#take(length);
    return this.#bytes.toString('utf8', at, at + length);
  }

  texts(): readonly string[] {
    return Array.from({ length: this.#varint() }, () => this.text());
  }

  int64s(): BigInt64Array {
    const result = new BigInt64Array(this.#varint());
    this.#copyTo(result);
    return result;
  }

  uint64s(): BigUint64Array {
    const result = new BigUint64Array(this.#varint());
    this.#copyTo(result);
    return result;
  }

  float64s(): Float64Array {
    const result = new Float64Array(this.#varint());
    this.#copyTo(result);
    return result;
  }

  #copyTo({ buffer, byteLength }: BigInt64Array | BigUint64Array | Float64Array): void {
    const at = this.#take(byteLength);
    new Uint8Array(buffer).set(this.#bytes.subarray(at, at + byteLength));
  }

  #varint(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 0x80) {
      const byte = this.uint8();
      value += (byte % 0x80) * factor;
      if (byte < 0x80) return value;
    }
  }

  #take(sizeBytes: number): number {
    const at = this.#at;
    this.#at += sizeBytes;
    return at;
  }
}
