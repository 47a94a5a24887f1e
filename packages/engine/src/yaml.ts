// The YAML of handler, task and target files: block mappings and lists, flow collections, quoted and plain scalars,
// literal and folded blocks, comments. Anchors, tags, several documents and complex keys are refused, never guessed.
import { InvalidRequest } from '@tidemark/core';

export type YamlValue =
  | null
  | boolean
  | number
  | string
  | readonly YamlValue[]
  | { readonly [key: string]: YamlValue };

type Line = { readonly number: number; readonly indent: number; readonly text: string };

const DEPTH_MAX = 64;

/** Reads a document. Throws `InvalidRequest` naming the line that can not be read. */
export function parseYaml(source: string): YamlValue {
  const reader = new Reader(source);
  return reader.document();
}

class Reader {
  readonly #raw: readonly string[];
  readonly #lines: Line[] = [];
  #at = 0;

  constructor(source: string) {
    this.#raw = source.split(/\r?\n/);
    this.#raw.forEach((raw, i) => {
      const text = raw.trim();
      const isLeftOut = text === '' || text.startsWith('#') || (i === 0 && text === '---');
      if (isLeftOut) return;
      const indent = raw.length - raw.trimStart().length;
      if (raw.slice(0, indent).includes('\t')) fail(i + 1, 'tabs do not indent');
      this.#lines.push({ number: i + 1, indent, text: raw.trimEnd().slice(indent) });
    });
  }

  document(): YamlValue {
    const first = this.#lines[0];
    if (first === undefined) return null;
    const value = this.#block(first.indent, 0);
    const rest = this.#lines[this.#at];
    if (rest !== undefined) fail(rest.number, 'this line belongs to nothing above it');
    return value;
  }

  #block(indent: number, depth: number): YamlValue {
    const line = this.#lines[this.#at];
    if (line === undefined) return null;
    if (depth > DEPTH_MAX) fail(line.number, 'nested too deep');
    if (isItem(line.text)) return this.#list(indent, depth);
    if (splitPair(line) !== undefined) return this.#map(indent, depth);
    this.#at++;
    return readInline(line.text, line.number);
  }

  #list(indent: number, depth: number): readonly YamlValue[] {
    const items: YamlValue[] = [];
    for (let line = this.#here(indent); line !== undefined; line = this.#here(indent)) {
      if (!isItem(line.text)) break;
      const rest = line.text.slice(1).trimStart();
      if (rest === '' || rest.startsWith('#')) {
        this.#at++;
        items.push(this.#nested(indent, depth));
        continue;
      }
      // What follows the dash is a block of its own, indented to where it stands.
      const inner = indent + line.text.length - rest.length;
      this.#lines[this.#at] = { number: line.number, indent: inner, text: rest };
      items.push(this.#block(inner, depth + 1));
    }
    return items;
  }

  #map(indent: number, depth: number): { readonly [key: string]: YamlValue } {
    const entries = new Map<string, YamlValue>();
    for (let line = this.#here(indent); line !== undefined; line = this.#here(indent)) {
      const pair = splitPair(line);
      if (pair === undefined || isItem(line.text)) break;
      if (entries.has(pair.key)) fail(line.number, `key ${JSON.stringify(pair.key)} occurs twice`);
      this.#at++;
      entries.set(pair.key, this.#valueOf(pair.rest, line, depth));
    }
    return Object.fromEntries(entries);
  }

  #valueOf(rest: string, line: Line, depth: number): YamlValue {
    if (/^[|>][-+]?\s*(#.*)?$/.test(rest)) return this.#text(rest, line);
    if (rest !== '' && !rest.startsWith('#')) return readInline(rest, line.number);
    const next = this.#lines[this.#at];
    // A list may stand as far left as the key it belongs to.
    if (next !== undefined && next.indent === line.indent && isItem(next.text)) {
      return this.#list(line.indent, depth + 1);
    }
    return this.#nested(line.indent, depth);
  }

  #nested(indent: number, depth: number): YamlValue {
    const next = this.#lines[this.#at];
    if (next === undefined || next.indent <= indent) return null;
    return this.#block(next.indent, depth + 1);
  }

  // `|` keeps line ends, `>` folds them into spaces; `-` drops the last one. Empty and commented lines count here.
  #text(header: string, line: Line): string {
    const body: string[] = [];
    let indent: number | undefined;
    let last = line.number;
    for (let i = line.number; i < this.#raw.length; i++) {
      const raw = this.#raw[i] ?? '';
      const depth = raw.length - raw.trimStart().length;
      if (raw.trim() !== '' && depth <= line.indent) break;
      if (raw.trim() !== '') indent ??= depth;
      body.push(raw.slice(indent ?? raw.length));
      last = i + 1;
    }
    while (body.at(-1)?.trim() === '') body.pop();
    while ((this.#lines[this.#at]?.number ?? Number.POSITIVE_INFINITY) <= last) this.#at++;
    const text = body.join(header.startsWith('|') ? '\n' : ' ');
    return header.includes('-') || text === '' ? text : `${text}\n`;
  }

  #here(indent: number): Line | undefined {
    const line = this.#lines[this.#at];
    if (line === undefined || line.indent < indent) return undefined;
    if (line.indent > indent) fail(line.number, 'this line is indented too far');
    return line;
  }
}

function isItem(text: string): boolean {
  return text === '-' || text.startsWith('- ');
}

const PAIR =
  /^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s#"'[\]{},&*!|>%@`-][^#]*?|-[^\s#][^#]*?)\s*:(?:\s+(.*))?$/;

function splitPair(line: Line): { readonly key: string; readonly rest: string } | undefined {
  const { text } = line;
  // The first colon that ends a key, not one inside of a plain key such as a URL.
  const colon =
    /^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^"'[{#][^\s]*?(?:\s[^\s#][^\s]*?)*?)\s*:(?=\s|$)/.exec(
      text,
    );
  if (colon === null || !PAIR.test(text)) return undefined;
  const raw = colon[1] ?? '';
  return { key: String(readScalar(raw, line.number)), rest: text.slice(colon[0].length).trim() };
}

function readInline(text: string, number: number): YamlValue {
  const flow = new Flow(text, number);
  return flow.whole();
}

/** What stands on one line: a scalar, or collections in brackets. */
class Flow {
  readonly #text: string;
  readonly #number: number;
  #at = 0;

  constructor(text: string, number: number) {
    this.#text = text;
    this.#number = number;
  }

  whole(): YamlValue {
    const first = this.#text[0];
    if (first !== '[' && first !== '{' && first !== '"' && first !== "'") {
      return readScalar(this.#text.replace(/\s+#.*$/, ''), this.#number);
    }
    const value = this.#value(0);
    const rest = this.#text.slice(this.#at).trim();
    if (rest !== '' && !rest.startsWith('#')) fail(this.#number, `unexpected ${rest}`);
    return value;
  }

  #value(depth: number): YamlValue {
    if (depth > DEPTH_MAX) fail(this.#number, 'nested too deep');
    this.#skip();
    switch (this.#text[this.#at]) {
      case '[':
        return this.#collection(']', () => this.#value(depth + 1));
      case '{': {
        const pairs = this.#collection('}', () => this.#pair(depth));
        return Object.fromEntries(pairs);
      }
      default:
        return readScalar(this.#token(), this.#number);
    }
  }

  #pair(depth: number): readonly [string, YamlValue] {
    const key = String(readScalar(this.#token(), this.#number));
    this.#skip();
    if (this.#text[this.#at] !== ':') fail(this.#number, 'expected key: value');
    this.#at++;
    return [key, this.#value(depth + 1)];
  }

  #collection<T>(end: string, item: () => T): readonly T[] {
    const items: T[] = [];
    this.#at++;
    for (;;) {
      this.#skip();
      if (this.#text[this.#at] === end) break;
      items.push(item());
      this.#skip();
      if (this.#text[this.#at] === ',') this.#at++;
      else if (this.#text[this.#at] !== end) fail(this.#number, `expected ${end}`);
    }
    this.#at++;
    return items;
  }

  #token(): string {
    this.#skip();
    const rest = this.#text.slice(this.#at);
    const match = /^(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|(?:[^,[\]{}:]|:(?=\S))+)/.exec(rest);
    if (match === null) fail(this.#number, 'expected a value');
    this.#at += match[0].length;
    return match[0].trim();
  }

  #skip(): void {
    while (this.#text[this.#at] === ' ') this.#at++;
  }
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  b: '\b',
  f: '\f',
  '0': '\0',
};

function readScalar(raw: string, number: number): null | boolean | number | string {
  const text = raw.trim();
  if (text.startsWith('"')) {
    if (!/^"(?:[^"\\]|\\.)*"$/.test(text)) fail(number, 'this text has no end');
    return text
      .slice(1, -1)
      .replaceAll(/\\(?:u([0-9a-fA-F]{4})|(.))/g, (_all, code?: string, next?: string) =>
        code === undefined
          ? (ESCAPES[next ?? ''] ?? next ?? '')
          : String.fromCharCode(Number.parseInt(code, 16)),
      );
  }
  if (text.startsWith("'")) {
    if (!/^'(?:[^']|'')*'$/.test(text)) fail(number, 'this text has no end');
    return text.slice(1, -1).replaceAll("''", "'");
  }
  if (/^[&*!%@`]/.test(text)) fail(number, `${text[0] ?? ''} is not supported`);
  if (/^(~|null|Null|NULL|)$/.test(text)) return null;
  if (/^(true|True|TRUE)$/.test(text)) return true;
  if (/^(false|False|FALSE)$/.test(text)) return false;
  if (/^[-+]?(\d+|\d*\.\d+|\d+\.)(e[-+]?\d+)?$/i.test(text)) {
    // An integer that would lose digits stays a text: vars read it from there.
    return Number.isSafeInteger(Number(text)) || !/^[-+]?\d+$/.test(text) ? Number(text) : text;
  }
  return text;
}

function fail(line: number, reason: string): never {
  throw new InvalidRequest(`yaml: line ${line}: ${reason}`);
}
