// A heap snapshot without the texts that were on the heap: secrets, statements and points are among
// them. What names something – functions, classes, properties – stays, since a snapshot is read by
// these. V8 writes one node, one edge and one text a line, the texts last.
import { setImmediate } from 'node:timers/promises';

import { assert } from '@tidemark/core';

/** A piece is worked on in a few milliseconds; between two of them requests are served. */
const PIECE_BYTES = 256 << 10;

const HIDDEN = '"(text)"';

/** Passes a snapshot on; each text that names nothing is replaced. */
export async function* hideTexts(snapshot: AsyncIterable<Uint8Array>): AsyncIterable<Buffer> {
  const filter = new TextFilter();
  let rest = '';
  for await (const chunk of snapshot) {
    for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
      const { buffer, byteOffset } = chunk.subarray(at, at + PIECE_BYTES);
      const length = Math.min(PIECE_BYTES, chunk.length - at);
      const lines = (rest + Buffer.from(buffer, byteOffset, length).toString('latin1')).split('\n');
      rest = lines.pop() ?? '';
      const shown = lines.map((line) => `${filter.line(line)}\n`).join('');
      yield Buffer.from(shown, 'latin1');
      await setImmediate();
    }
  }
  yield Buffer.from(filter.line(rest), 'latin1');
}

type Meta = {
  readonly node_fields: readonly string[];
  readonly node_types: readonly [readonly string[], ...unknown[]];
  readonly edge_fields: readonly string[];
  readonly edge_types: readonly [readonly string[], ...unknown[]];
};

class TextFilter {
  #section: 'head' | 'nodes' | 'edges' | 'between' | 'texts' = 'head';
  /**
   * Types of nodes whose name is what they hold, and of edges that have a number in place of a
   * name.
   */
  #textNodes: ReadonlySet<number> = new Set();
  #numberedEdges: ReadonlySet<number> = new Set();
  /** By index of a text: 1 when something is called so. */
  #names = new Uint8Array(1 << 16);
  #textIndex = 0;

  line(line: string): string {
    if (this.#section === 'texts') return this.#text(line);
    if (this.#section === 'head') {
      this.#readMeta(line);
      this.#section = 'between';
    } else if (line.startsWith('"nodes":[')) {
      this.#section = 'nodes';
      this.#note(line.slice('"nodes":['.length), this.#textNodes);
    } else if (line.startsWith('"edges":[')) {
      this.#section = 'edges';
      this.#note(line.slice('"edges":['.length), this.#numberedEdges);
    } else if (line.startsWith('"strings":[')) {
      this.#section = 'texts';
      return `"strings":[${this.#text(line.slice('"strings":['.length))}`;
    } else if (line.startsWith('"')) this.#section = 'between';
    else if (this.#section === 'nodes') this.#note(line, this.#textNodes);
    else if (this.#section === 'edges') this.#note(line, this.#numberedEdges);
    return line;
  }

  #readMeta(line: string): void {
    const start = '{"snapshot":';
    assert(line.startsWith(start) && line.endsWith(','), 'a snapshot begins with its description');
    const { meta } = JSON.parse(line.slice(start.length, -1)) as { readonly meta: Meta };
    assert(meta.node_fields.slice(0, 2).join() === 'type,name', 'nodes begin with type and name');
    assert(meta.edge_fields.slice(0, 2).join() === 'type,name_or_index', 'so do edges');
    const where = (types: readonly string[], test: (name: string) => boolean) =>
      new Set(types.flatMap((name, i) => (test(name) ? [i] : [])));
    this.#textNodes = where(meta.node_types[0], (name) => name.endsWith('string'));
    this.#numberedEdges = where(meta.edge_types[0], (name) => /^(?:element|hidden)$/.test(name));
  }

  /** A node or an edge: type, index of its name, and more. */
  #note(line: string, withoutName: ReadonlySet<number>): void {
    const start = line.startsWith(',') ? 1 : 0;
    const comma = line.indexOf(',', start);
    if (comma < 0 || withoutName.has(Number(line.slice(start, comma)))) return;
    const index = Number(line.slice(comma + 1, line.indexOf(',', comma + 1)));
    if (index >= this.#names.length) {
      const grown = new Uint8Array(Math.max(index + 1, this.#names.length * 2));
      grown.set(this.#names);
      this.#names = grown;
    }
    this.#names[index] = 1;
  }

  #text(line: string): string {
    const isName = this.#names[this.#textIndex++] === 1;
    return isName ? line : HIDDEN + line.slice(line.lastIndexOf('"') + 1);
  }
}
