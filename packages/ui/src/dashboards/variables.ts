// Variables in statements: `$host`, `${host}` or `[[host]]` stand for the selected values. How a
// value is quoted depends on its context, so that it is never parsed as anything but a value.
import { formatIdentifier, tokenize } from '@tidemark/influxql';
import type { TokenClass } from '@tidemark/influxql';

import { texts } from '../texts/texts.ts';
import type { Variable } from './model.ts';

/** Selected values by variable name. */
export type Chosen = ReadonlyMap<string, readonly string[]>;

const VARIABLE = /\$\{(\w+)(?::(\w+))?\}|\[\[(\w+)(?::(\w+))?\]\]|\$(\w+)/g;

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
  return replaced(text, (name, { quoting, format }) => {
    const values = chosen.get(name);
    if (values === undefined) return undefined;
    const isPattern = quoting === 'regex' && values.length > 0 && AS_PATTERNS.has(format);
    return isPattern ? asPatterns(values) : printed(values, quoting);
  });
}

/** A text for people, such as a title, with variables replaced by selected values. */
export function withValues(text: string, chosen: Chosen): string {
  return text.replaceAll(
    VARIABLE,
    (all, braced?: string, _braced?: string, boxed?: string, _boxed?: string, bare?: string) => {
      const values = chosen.get(braced ?? boxed ?? bare ?? '');
      if (values === undefined) return all;
      return values.length === 0 ? texts.dashboards.all : values.join(' + ');
    },
  );
}

type Quoting = 'text' | 'string' | 'name' | 'regex';

function printed(values: readonly string[], quoting: Quoting): string {
  const [first = ''] = values;
  switch (quoting) {
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

type Position = { readonly quoting: Quoting; readonly format: string };

/** Replaces variables with the result of `valueOf`; unknown ones stay, and those in comments. */
function replaced(
  text: string,
  valueOf: (name: string, position: Position) => string | undefined,
): string {
  const parts = partsOf(text).map(({ quoting, start, end }) => {
    const part = text.slice(start, end);
    if (quoting === undefined) return part;
    return part.replace(VARIABLE, (all: string, ...groups: readonly (string | undefined)[]) => {
      const [braced, bracedFormat, boxed, boxedFormat, bare] = groups;
      const format = bracedFormat ?? boxedFormat ?? '';
      return valueOf(braced ?? boxed ?? bare ?? '', { quoting, format }) ?? all;
    });
  });
  return parts.join('');
}

type Part = {
  /** `undefined` for a comment. */
  readonly quoting: Quoting | undefined;
  readonly start: number;
  readonly end: number;
};

/** Literals and comments of a statement, and what is between them. */
function partsOf(text: string): readonly Part[] {
  const parts: Part[] = [];
  for (const { class: kind, start, end } of tokenize(text)) {
    const quoting = quotingOf(kind, text.charAt(start));
    const last = parts.at(-1);
    // A variable in braces is several tokens.
    if (quoting === 'text' && last?.quoting === 'text') {
      parts[parts.length - 1] = { ...last, end };
    } else parts.push({ quoting, start, end });
  }
  return parts;
}

function quotingOf(kind: TokenClass, first: string): Quoting | undefined {
  if (kind === 'comment') return undefined;
  if (kind === 'string' || kind === 'regex') return kind;
  return first === '"' ? 'name' : 'text';
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
