// Removes string values from a heap snapshot, because secrets, statements and points are among
// them. Names of functions, classes and properties stay, because a snapshot is unreadable without
// them. V8 writes one JSON object with lists of numbers for nodes and edges, then the list of all
// strings; its line breaks differ between versions.
import { setImmediate } from 'node:timers/promises';

import { assert } from '@tidemark/core';

/** A piece takes a few milliseconds; requests are served between pieces. */
const PIECE_BYTES = 256 << 10;

const HIDDEN = '"(text)"';

/** Passes a snapshot on, replacing each text that is not a name. */
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

/** Sections in order; each begins with its name and an opening bracket. */
const SECTIONS = ['nodes', 'edges', 'strings'] as const;

const COMMA = 44;
const ZERO = 48;
const NINE = 57;
const QUOTE = 34;
const BACKSLASH = 92;
const CLOSING_BRACKET = 93;

class TextFilter {
  /** Index of the next section or, within one, of that section. */
  #section = 0;
  #isInside = false;
  /** Between sections: a possible beginning of the next one's name, or the whole head. */
  #pending = '';
  /** In nodes and edges: types whose second field is no name, and the position within a record. */
  #withoutName: ReadonlySet<number> = new Set();
  #fieldCount = 0;
  #field = 0;
  #number = 0;
  #type = 0;
  #meta: Meta | undefined;
  /** By index of a text: 1 when it is a name. */
  #names = new Uint8Array(1 << 16);
  #textIndex = 0;
  /** The text that is being read, from its opening quote; '' between texts. */
  #text = '';
  #isEscaped = false;

  /** Returns the next piece of a snapshot without its texts. */
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

  /** Moves to the start of the next section; returns the position after what was read. */
  #seek(piece: string, at: number): number {
    const section = SECTIONS[this.#section];
    if (section === undefined) return piece.length;
    const marker = `"${section}":[`;
    const text = this.#pending + piece.slice(at);
    const found = text.indexOf(marker);
    if (found < 0) {
      // The whole head is kept: it describes the sections.
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

  /** Records which texts are names; returns the position after what was read. */
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

  /** Texts up to the end of the piece or of the list, and the position after them. */
  #readTexts(piece: string, start: number): readonly [number, string] {
    let shown = '';
    /** Start of the output, or of the current text. */
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

/** Reads the description of the sections from the text before the nodes. */
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
