// Graphite plaintext: `path value [seconds]`, and the templates that turn paths into measurements
// and tags.
import { InvalidRequest, NANOS_PER_SECOND } from '@tidemark/core';
import type { Timestamp } from '@tidemark/core';
import type { ListenerPoint } from './listener-point.ts';

export type GraphiteOptions = {
  readonly separator: string;
  /** `key=value` for every point. */
  readonly tags: readonly string[];
  /** `[filter] template [key=value,…]`. */
  readonly templates: readonly string[];
};

type Template = {
  readonly filter: readonly string[];
  readonly parts: readonly string[];
  readonly tags: ReadonlyMap<string, string>;
};

/** Reads lines; built once per listener. Throws `InvalidRequest` for invalid templates. */
export class GraphiteParser {
  readonly #templates: readonly Template[];
  readonly #separator: string;
  readonly #tags: ReadonlyMap<string, string>;

  constructor(options: GraphiteOptions) {
    this.#separator = options.separator;
    this.#tags = parseTags(options.tags);
    // The most specific filter wins, so those with more fixed parts come first.
    this.#templates = options.templates
      .map(parseTemplate)
      .sort((a, b) => specificity(b) - specificity(a));
  }

  /** `undefined` for an invalid line or one without a number. */
  parse(line: string, now: Timestamp): ListenerPoint | undefined {
    const [path, valueText, timeText, ...more] = line.trim().split(/\s+/);
    if (path === undefined || path === '' || valueText === undefined || more.length > 0) {
      return undefined;
    }
    const value = Number(valueText);
    if (!Number.isFinite(value)) return undefined;
    const time = timeOf(timeText, now);
    if (time === undefined) return undefined;
    const { measurement, tags, field } = this.#apply(path);
    if (measurement === '') return undefined;
    return { measurement, tags: [...tags], fields: [[field, value]], time };
  }

  #apply(path: string): {
    readonly measurement: string;
    readonly tags: ReadonlyMap<string, string>;
    readonly field: string;
  } {
    const parts = path.split('.');
    const template = this.#templates.find(({ filter }) => matches(filter, parts));
    const tags = new Map(this.#tags);
    if (template === undefined) return { measurement: path, tags, field: 'value' };
    for (const [key, value] of template.tags) tags.set(key, value);
    const named = new Map<string, string[]>();
    for (const [i, name] of template.parts.entries()) {
      if (i >= parts.length) break;
      if (name.endsWith('*')) {
        add(named, name.slice(0, -1), ...parts.slice(i));
        break;
      }
      if (name !== '') add(named, name, parts[i] ?? '');
    }
    const join = (name: string): string => (named.get(name) ?? []).join(this.#separator);
    for (const name of named.keys()) {
      if (name !== 'measurement' && name !== 'field') tags.set(name, join(name));
    }
    for (const [key, value] of tags) if (value === '') tags.delete(key);
    return { measurement: join('measurement'), tags, field: join('field') || 'value' };
  }
}

function add(named: Map<string, string[]>, name: string, ...values: readonly string[]): void {
  named.set(name, [...(named.get(name) ?? []), ...values]);
}

/** Seconds, whole or not; absent and -1 mean now. */
function timeOf(text: string | undefined, now: Timestamp): Timestamp | undefined {
  if (text === undefined || text === '-1') return now;
  const seconds = Number(text);
  if (!Number.isFinite(seconds) || Math.abs(seconds) > 9.2e9) return undefined;
  const whole = Math.floor(seconds);
  return BigInt(whole) * NANOS_PER_SECOND + BigInt(Math.round((seconds - whole) * 1e9));
}

function parseTags(texts: readonly string[]): ReadonlyMap<string, string> {
  const tags = new Map<string, string>();
  for (const text of texts) {
    const equals = text.indexOf('=');
    if (equals <= 0) throw new InvalidRequest(`graphite.tags: ${text} is not key=value`);
    tags.set(text.slice(0, equals), text.slice(equals + 1));
  }
  return tags;
}

function parseTemplate(text: string): Template {
  const words = text.trim().split(/\s+/);
  const hasTags = words.length > 1 && (words.at(-1) ?? '').includes('=');
  const tags = hasTags ? parseTags((words.pop() ?? '').split(',')) : new Map<string, string>();
  const [first = '', second] = words;
  const filter = second === undefined ? [] : first.split('.');
  const parts = (second ?? first).split('.');
  if (words.length > 2 || !parts.some((part) => part.replace('*', '') === 'measurement')) {
    throw new InvalidRequest(
      `graphite.templates: "${text}" must be [filter] template [key=value,...] and name a measurement`,
    );
  }
  return { filter, parts, tags };
}

function matches(filter: readonly string[], parts: readonly string[]): boolean {
  return (
    filter.length <= parts.length &&
    filter.every((wanted, i) => wanted === '*' || wanted === parts[i])
  );
}

function specificity({ filter }: Template): number {
  return filter.reduce((sum, part) => sum + (part === '*' ? 1 : 1000), 0);
}
