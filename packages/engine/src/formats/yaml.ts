// Reads the YAML of handler, task, target and sideload files with the library `yaml`. It accepts a
// subset of the language: anchors, aliases, tags, several documents and keys that are not scalars
// are refused.
import { InvalidRequest } from '@tidemark/core';
import { isAlias, isMap, isScalar, LineCounter, parseAllDocuments } from 'yaml';
import type { Document, ParsedNode, Range } from 'yaml';

/** A document's value. */
export type YamlValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly YamlValue[]
  | { readonly [key: string]: YamlValue };

export type YamlScalar = string | number | bigint | boolean;

const DEPTH_MAX = 64;

/**
 * Reads a document. An integer that a number cannot hold is a `bigint`, all others are numbers.
 * Throws `InvalidRequest` naming the line that cannot be read.
 */
export function parseYaml(source: string): YamlValue {
  return withNumbers(read(source));
}

/**
 * The scalars of a document's outermost mapping by key, all integers as `bigint`; nested values and
 * nulls are skipped, because sideload cannot use them. Throws `InvalidRequest` naming the line that
 * cannot be read, or when the document is no mapping.
 */
export function parseYamlScalars(source: string): ReadonlyMap<string, YamlScalar> {
  const document = read(source) ?? {};
  if (typeof document !== 'object' || Array.isArray(document))
    throw new InvalidRequest('yaml: line 1: expected key: value');
  const scalars = new Map<string, YamlScalar>();
  for (const [key, value] of Object.entries(document)) {
    if (value !== null && typeof value !== 'object') scalars.set(key, value);
  }
  return scalars;
}

function read(source: string): YamlValue {
  const lines = new LineCounter();
  const fail = (offset: number, reason: string): never => {
    throw new InvalidRequest(`yaml: line ${lines.linePos(offset).line}: ${reason}`);
  };
  const document = onlyDocument(source, lines, fail);
  return document === undefined ? null : new Reader(fail).value(document.contents, 0);
}

type Fail = (offset: number, reason: string) => never;

function onlyDocument(
  source: string,
  lineCounter: LineCounter,
  fail: Fail,
): Document.Parsed | undefined {
  let documents: readonly Document.Parsed[];
  try {
    documents = parseAllDocuments(source, { intAsBigInt: true, lineCounter, prettyErrors: false });
  } catch (error) {
    // The library descends into collections by recursion.
    if (error instanceof RangeError) return fail(0, 'nested too deep');
    throw error;
  }
  const [first, second] = documents;
  if (second !== undefined) fail(second.range[0], 'a file holds one document');
  const [error] = first?.errors ?? [];
  if (error !== undefined) fail(error.pos[0], error.message);
  return first;
}

class Reader {
  readonly #fail: Fail;

  constructor(fail: Fail) {
    this.#fail = fail;
  }

  value(node: ParsedNode | null, depth: number): YamlValue {
    if (node === null) return null;
    const [offset] = node.range as Range;
    if (depth > DEPTH_MAX) this.#fail(offset, 'nested too deep');
    if (isAlias(node)) return this.#fail(offset, 'aliases are not supported');
    if (node.anchor !== undefined) this.#fail(offset, 'anchors are not supported');
    if (node.tag !== undefined) this.#fail(offset, 'tags are not supported');
    if (isScalar(node)) return node.value as YamlValue;
    if (!isMap(node)) return node.items.map((item) => this.value(item as ParsedNode, depth + 1));
    const entries = node.items.map(({ key, value }): [string, YamlValue] => {
      if (!isScalar(key)) return this.#fail(offset, 'a key must be a scalar');
      this.value(key, depth + 1);
      return [key.source, this.value(value, depth + 1)];
    });
    return Object.fromEntries(entries);
  }
}

function withNumbers(value: YamlValue): YamlValue {
  if (typeof value === 'bigint') {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : value;
  }
  if (Array.isArray(value)) return value.map(withNumbers);
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).map(([key, each]) => [key, withNumbers(each)]);
  return Object.fromEntries(entries);
}
