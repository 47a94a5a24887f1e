// Variables in statements: `$host`, `${host}` or `[[host]]` stand for the selected values. How a
// value is quoted depends on its context, so that it is never parsed as anything but a value.
import { formatIdentifier } from '@tidemark/influxql';

import { texts } from '../texts/texts.ts';
import type { Variable } from './model.ts';

/** Selected values by variable name. */
export type Chosen = ReadonlyMap<string, readonly string[]>;

const PLACE = /\$\{(\w+)(?::(\w+))?\}|\[\[(\w+)(?::(\w+))?\]\]|\$(\w+)/y;

/** Grafana's formats that use values as parts of a pattern. */
const AS_PATTERNS: ReadonlySet<string> = new Set(['raw', 'pipe']);

/** Names of all variables in a text, macros included. */
export function namesIn(text: string): readonly string[] {
  const names: string[] = [];
  replaced(text, (name) => {
    names.push(name);
    return undefined;
  });
  return names;
}

/** Whether a text names a variable. */
export function namesVariable(text: string, name: string): boolean {
  return namesIn(text).includes(name);
}

/**
 * The text with variables replaced by selected values. Within quotes and as a name only the first
 * value is used; within a regular expression all of them; no selection means everything.
 */
export function withVariables(text: string, chosen: Chosen): string {
  return replaced(text, (name, { within, format }) => {
    const values = chosen.get(name);
    if (values === undefined) return undefined;
    const isPattern = within === 'regex' && values.length > 0 && AS_PATTERNS.has(format);
    return isPattern ? asPatterns(values) : printed(values, within);
  });
}

/** A text for people, such as a title, with variables replaced by selected values. */
export function withValues(text: string, chosen: Chosen): string {
  return text.replaceAll(
    new RegExp(PLACE.source, 'g'),
    (all, braced?: string, _braced?: string, boxed?: string, _boxed?: string, bare?: string) => {
      const values = chosen.get(braced ?? boxed ?? bare ?? '');
      if (values === undefined) return all;
      return values.length === 0 ? texts.dashboards.all : values.join(' + ');
    },
  );
}

type Within = 'text' | 'string' | 'name' | 'regex';

function printed(values: readonly string[], within: Within): string {
  const [first = ''] = values;
  switch (within) {
    case 'regex': {
      if (values.length === 0) return '.*';
      const all = values.map((value) => value.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`));
      return all.length === 1 ? (all[0] ?? '') : `(${all.join('|')})`;
    }
    case 'string':
      return first.replaceAll(/['\\]/g, String.raw`\$&`);
    case 'name':
      return first.replaceAll(/["\\]/g, String.raw`\$&`);
    case 'text':
      // Numbers and durations are inserted as they are; `auto` is the width of a point on the
      // screen.
      if (first === 'auto') return '$interval';
      // A constant may contain a whole pattern.
      if (WHOLE_PATTERN.test(first)) return first;
      return /^-?\d+(\.\d+)?([a-zµ]{1,2})?$/.test(first) ? first : formatIdentifier(first);
  }
}

/** Alternatives of a pattern; none can end the enclosing regular expression. */
function asPatterns(values: readonly string[]): string {
  return values
    .map((value) => value.replaceAll(/\\.|\\|\//gs, (all) => (all.length === 2 ? all : `\\${all}`)))
    .join('|');
}

/** Exactly one regular expression. */
const WHOLE_PATTERN = /^\/(?:[^/\\\n]|\\.)+\/$/;

const KEYWORD_BEFORE = /(?:^|[^\w"])(?:from|by|key|measurement|where|select|and|or|in|tag|field)$/i;

/** Whether a slash begins a regular expression: after a name or a number it is a division. */
function beginsRegex(before: string): boolean {
  const text = before.trimEnd();
  return !/[\w)"'\]}]$/.test(text) || KEYWORD_BEFORE.test(text);
}

const CLOSINGS = { string: "'", name: '"', regex: '/' } as const;

type Place = { readonly within: Within; readonly format: string };

/** Replaces variables with the result of `valueOf`; unknown ones stay. */
function replaced(
  text: string,
  valueOf: (name: string, place: Place) => string | undefined,
): string {
  let out = '';
  let within: Within = 'text';
  for (let at = 0; at < text.length;) {
    PLACE.lastIndex = at;
    const match = PLACE.exec(text);
    const name = match?.[1] ?? match?.[3] ?? match?.[5] ?? '';
    const format = match?.[2] ?? match?.[4] ?? '';
    const value = match === null ? undefined : valueOf(name, { within, format });
    if (match !== null && value !== undefined) {
      out += value;
      at += match[0].length;
      continue;
    }
    const character = text.charAt(at);
    if (within === 'text') {
      if (character === "'") within = 'string';
      else if (character === '"') within = 'name';
      else if (character === '/' && beginsRegex(text.slice(0, at))) within = 'regex';
    } else if (character === '\\') {
      out += text.slice(at, at + 2);
      at += 2;
      continue;
    } else if (character === CLOSINGS[within]) within = 'text';
    out += character;
    at++;
  }
  return out;
}

/** Options from texts `value` or `label : value`; empty texts are left out. */
export function choicesOf(texts: readonly string[]): Pick<Variable, 'options' | 'labels'> {
  const given = texts.map((each) => each.trim()).filter((each) => each !== '');
  const read = given.map((each) => /^(.+?)\s+:\s+(.+)$/s.exec(each) ?? ['', '', each]);
  return {
    options: read.map(([, , value = '']) => value),
    labels: read.map(([, label = '']) => label),
  };
}

/** The label of a value, or the value itself. */
export function labelOf({ options, labels }: Variable, value: string): string {
  return labels[options.indexOf(value)] || value;
}

/** The selected values of a variable: from the address, else the dashboard's, else the first. */
export function chosenOf(
  variable: Variable,
  given: readonly string[] | undefined,
  offered: readonly string[],
): readonly string[] {
  const { kind, isMulti, chosen } = variable;
  const wanted = given ?? chosen;
  if (kind === 'text') return [wanted[0] ?? ''];
  if (isMulti) return wanted;
  return [wanted[0] ?? offered[0] ?? ''];
}
