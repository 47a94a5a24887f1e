// Removes string values from a heap snapshot, because secrets, statements and points are among
// them. Names of functions, classes and properties stay, because a snapshot is unreadable without
// them. V8 writes one JSON object with lists of numbers for nodes and edges, then the list of all
// strings; its line breaks differ between versions.
import { setImmediate } from 'node:timers/promises';

import { assert } from '@tidemark/core';

/** A piece is worked on in a few milliseconds; between two of them requests are served. */
const PIECE_BYTES = 256 << 10;

const HIDDEN = '"(text)"';

/** Passes a snapshot on; each text that names nothing is replaced. */
export async function* hideTexts(snapshot: AsyncIterable<Uint8Array>): AsyncIterable<Buffer> {
  const filter = new TextFilter();
  for await (const chunk of snapshot) {
    for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
      const { buffer, byteOffset } = chunk.subarray(at, at + PIECE_BYTES);
      const length = Math.min(PIECE_BYTES, chunk.length - at);
      const piece = Buffer.from(buffer, byteOffset, length).toString('latin1');
      yield Buffer.from(filter.next(piece), 'latin1');
      await setImmediate();
    }
  }
}

type Meta = {
  readonly node_fields: readonly string[];
  readonly node_types: readonly [readonly string[], ...unknown[]];
  readonly edge_fields: readonly string[];
  readonly edge_types: readonly [readonly string[], ...unknown[]];
};

/** Sections in the order in which they come; each begins with its name and an opening bracket. */
const SECTIONS = ['nodes', 'edges', 'strings'] as const;

const COMMA = 44;
const ZERO = 48;
const NINE = 57;
const QUOTE = 34;
const BACKSLASH = 92;
const CLOSING_BRACKET = 93;

class TextFilter {
  /** Index of the section that comes next or, within one, of that section. */
  #section = 0;
  #isInside = false;
  /** Between sections: what may be the beginning of the next one's name, or the whole head. */
  #pending = '';
  /** In nodes and edges: types whose second field is no name, and where a record stands. */
  #withoutName: ReadonlySet<number> = new Set();
  #fieldCount = 0;
  #field = 0;
  #number = 0;
  #type = 0;
  #meta: Meta | undefined;
  /** By index of a text: 1 when something is called so. */
  #names = new Uint8Array(1 << 16);
  #textIndex = 0;
  /** The text that is being read, from its opening quote; '' between two. */
  #text = '';
  #isEscaped = false;

  /** The next piece of a snapshot, as it may be shown. */
  next(piece: string): string {
    let shown = '';
    for (let at = 0; at < piece.length;) {
      const from = at;
      if (!this.#isInside) at = this.#seek(piece, at);
      else if (SECTIONS[this.#section] === 'strings') {
        const [end, texts] = this.#readTexts(piece, at);
        shown += texts;
        at = end;
        continue;
      } else at = this.#readNumbers(piece, at);
      shown += piece.slice(from, at);
    }
    return shown;
  }

  /** Goes on to where the next section begins; the position behind what was read. */
  #seek(piece: string, at: number): number {
    const section = SECTIONS[this.#section];
    if (section === undefined) return piece.length;
    const marker = `"${section}":[`;
    const text = this.#pending + piece.slice(at);
    const found = text.indexOf(marker);
    if (found < 0) {
      // All of the head: it describes the sections.
      this.#pending = this.#meta === undefined ? text : text.slice(1 - marker.length);
      return piece.length;
    }
    const end = at + found + marker.length - this.#pending.length;
    this.#meta ??= metaOf(text.slice(0, found));
    this.#pending = '';
    this.#isInside = true;
    this.#field = 0;
    this.#number = 0;
    const { node_types: nodes, edge_types: edges } = this.#meta;
    if (section === 'nodes') {
      this.#fieldCount = this.#meta.node_fields.length;
      this.#withoutName = typesLike(/string$/, nodes[0]);
    } else if (section === 'edges') {
      this.#fieldCount = this.#meta.edge_fields.length;
      this.#withoutName = typesLike(/^(?:element|hidden)$/, edges[0]);
    }
    return end;
  }

  /** Notes what is called what; the position behind what was read. */
  #readNumbers(piece: string, start: number): number {
    for (let at = start; at < piece.length; at++) {
      const code = piece.charCodeAt(at);
      if (code >= ZERO && code <= NINE) this.#number = this.#number * 10 + code - ZERO;
      else if (code === COMMA || code === CLOSING_BRACKET) {
        this.#endNumber();
        if (code === CLOSING_BRACKET) {
          this.#isInside = false;
          this.#section++;
          return at + 1;
        }
      }
    }
    return piece.length;
  }

  #endNumber(): void {
    if (this.#field === 0) this.#type = this.#number;
    else if (this.#field === 1 && !this.#withoutName.has(this.#type)) this.#noteName(this.#number);
    this.#number = 0;
    this.#field = this.#field + 1 === this.#fieldCount ? 0 : this.#field + 1;
  }

  #noteName(index: number): void {
    if (index >= this.#names.length) {
      const grown = new Uint8Array(Math.max(index + 1, this.#names.length * 2));
      grown.set(this.#names);
      this.#names = grown;
    }
    this.#names[index] = 1;
  }

  /** Texts up to the end of the piece or of the list, and the position behind them. */
  #readTexts(piece: string, start: number): readonly [number, string] {
    let shown = '';
    /** Where what is to be shown, or belongs to the present text, begins. */
    let from = start;
    for (let at = start; at < piece.length; at++) {
      const code = piece.charCodeAt(at);
      const isText = this.#text !== '';
      if (!isText && code === CLOSING_BRACKET) {
        this.#isInside = false;
        this.#section++;
        return [at + 1, shown + piece.slice(from, at + 1)];
      }
      if (!isText && code !== QUOTE) continue;
      if (!isText) {
        shown += piece.slice(from, at);
        this.#text = '"';
        from = at + 1;
      } else if (this.#isEscaped) this.#isEscaped = false;
      else if (code === BACKSLASH) this.#isEscaped = true;
      else if (code === QUOTE) {
        const text = this.#text + piece.slice(from, at + 1);
        shown += this.#names[this.#textIndex++] === 1 ? text : HIDDEN;
        this.#text = '';
        from = at + 1;
      }
    }
    if (this.#text === '') return [piece.length, shown + piece.slice(from)];
    this.#text += piece.slice(from);
    return [piece.length, shown];
  }
}

/** From everything in front of the nodes. */
function metaOf(head: string): Meta {
  const start = '{"snapshot":';
  const end = head.lastIndexOf(',');
  assert(head.startsWith(start) && end > 0, 'a snapshot begins with its description');
  const { meta } = JSON.parse(head.slice(start.length, end)) as { readonly meta: Meta };
  assert(meta.node_fields.slice(0, 2).join() === 'type,name', 'nodes begin with type and name');
  assert(meta.edge_fields.slice(0, 2).join() === 'type,name_or_index', 'so do edges');
  return meta;
}

function typesLike(pattern: RegExp, types: readonly string[]): ReadonlySet<number> {
  return new Set(types.flatMap((name, i) => (pattern.test(name) ? [i] : [])));
}
