// Reads MessagePack answers as text, so that they can be compared: members of maps in the order of
// their names, because the reference server writes tags in any order.

/** JSON-like text of a value; times are `@seconds.nanos`, floats are marked with `f`. */
export function msgpackText(bytes: Buffer): string {
  const reader = new Reader(bytes);
  const text = reader.value();
  return reader.isAtEnd ? text : `${text} and ${bytes.length - reader.offset} bytes`;
}

class Reader {
  readonly #bytes: Buffer;
  offset = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.offset === this.#bytes.length;
  }

  value(): string {
    const first = this.#unsigned(1);
    if (first < 0x80) return String(first);
    if (first < 0x90) return this.#map(first & 0x0f);
    if (first < 0xa0) return this.#array(first & 0x0f);
    if (first < 0xc0) return this.#string(first & 0x1f);
    if (first >= 0xe0) return String(first - 256);
    switch (first) {
      case 0xc0:
        return 'null';
      case 0xc2:
        return 'false';
      case 0xc3:
        return 'true';
      case 0xc7:
        return this.#time(this.#unsigned(1));
      case 0xca:
        return `${this.#take(4).readFloatBE()}f`;
      case 0xcb:
        return `${this.#take(8).readDoubleBE()}f`;
      case 0xcc:
      case 0xcd:
      case 0xce:
        return String(this.#unsigned(1 << (first - 0xcc)));
      case 0xcf:
        return String(this.#take(8).readBigUInt64BE());
      case 0xd0:
      case 0xd1:
      case 0xd2: {
        const length = 1 << (first - 0xd0);
        return String(this.#take(length).readIntBE(0, length));
      }
      case 0xd3:
        return String(this.#take(8).readBigInt64BE());
      case 0xd9:
      case 0xda:
      case 0xdb:
        return this.#string(this.#unsigned(1 << (first - 0xd9)));
      case 0xdc:
      case 0xdd:
        return this.#array(this.#unsigned(2 << (first - 0xdc)));
      case 0xde:
      case 0xdf:
        return this.#map(this.#unsigned(2 << (first - 0xde)));
      default:
        throw new Error(`no MessagePack: byte ${first} at ${this.offset - 1}`);
    }
  }

  #map(size: number): string {
    const members = Array.from({ length: size }, () => `${this.value()}:${this.value()}`);
    return `{${members.sort().join()}}`;
  }

  #array(size: number): string {
    return `[${Array.from({ length: size }, () => this.value()).join()}]`;
  }

  #string(length: number): string {
    return JSON.stringify(this.#take(length).toString());
  }

  /** The extension of 12 bytes that both servers use for times. */
  #time(length: number): string {
    const type = this.#unsigned(1);
    const bytes = this.#take(length);
    return type === 5 && length === 12
      ? `@${bytes.readBigInt64BE()}.${bytes.readUInt32BE(8)}`
      : `extension ${type} ${bytes.toString('hex')}`;
  }

  #unsigned(length: number): number {
    return this.#take(length).readUIntBE(0, length);
  }

  #take(length: number): Buffer {
    if (this.offset + length > this.#bytes.length) throw new Error('the answer ends too early');
    this.offset += length;
    return this.#bytes.subarray(this.offset - length, this.offset);
  }
}
