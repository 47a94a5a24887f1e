// The parse cache: a dashboard repeats the same statements with other times or another host. For a
// statement of a known shape, only the literals of its parameters are parsed.
import { ByteLru } from '@tidemark/core';

import type { Literal, Query, SelectStatement, ShowClauses, Slots, Statement } from './ast.ts';
import { limitOf, MAX_KNOWN_CHARACTERS, MAX_KNOWN_TEXT, MAX_REGEX_LENGTH } from './limits.ts';
import { parseQuery } from './parse.ts';
import type { ParseOptions, ParseResult } from './parse.ts';
import { checkRegexLightly } from './regex-check.ts';
import { fillStatement, literalOf, withSlots } from './slots.ts';
import { formOf, hasForm, placesOfCuts } from './text-form.ts';
import type { TextForm } from './text-form.ts';

/** The first text of a form: its spans are those of the trees. */
type Known = {
  readonly query: { readonly statements: readonly Asking[] };
  readonly cuts: readonly string[];
  /** Where its cuts begin. */
  readonly places: readonly number[];
  /** By cut. Where it is `undefined`, the cut is no slot: it has to be the same. */
  readonly slots: Slots;
};

export type KnownResult = ParseResult & {
  /**
   * Where in the text the start or end of a span of the tree is: trees of known forms have the
   * spans of the text that came first. Absent where they are those of this text.
   */
  readonly placeOf?: ((offset: number) => number) | undefined;
};

/** Parses texts, and keeps the trees of those that may come again. */
export class KnownTexts {
  readonly #options: ParseOptions;
  /** By form. */
  readonly #known = new ByteLru<string, Known>(MAX_KNOWN_CHARACTERS.value);

  constructor(options: Omit<ParseOptions, 'parameters'>) {
    this.#options = options;
  }

  /**
   * The same as `parseQuery`, but for spans. Trees are shared by all who send a text of the same
   * form.
   */
  parse(text: string, { parameters }: Pick<ParseOptions, 'parameters'> = {}): KnownResult {
    const hasParameters = parameters !== undefined && parameters.size > 0;
    const isKeepable = !hasParameters && text.length <= MAX_KNOWN_TEXT.value;
    if (!isKeepable || !hasForm(text)) return parseQuery(text, { ...this.#options, parameters });
    const cut = formOf(text);
    const known = this.#known.get(cut.form);
    const query = known && fill(known, cut.cuts, (pattern) => this.#takes(pattern));
    if (known === undefined || query === undefined) return this.#parseNew(text, cut);
    return { query, diagnostics: [], placeOf: (offset) => placeIn(known, cut.cuts, offset) };
  }

  /** Whether the parser takes a regular expression. */
  #takes(pattern: string): boolean {
    const { limits, checkRegex = checkRegexLightly } = this.#options;
    const isShort = pattern.length <= limitOf(limits?.maxRegexLength, MAX_REGEX_LENGTH);
    return isShort && checkRegex(pattern) === undefined;
  }

  #parseNew(text: string, { form, cuts }: TextForm): ParseResult {
    const result = parseQuery(text, this.#options);
    const { error, query } = result;
    const asking = query.statements.filter(isAsking);
    if (error !== undefined || asking.length < query.statements.length) return result;
    const known = knownOf(text, asking, cuts);
    this.#known.set(form, known, text.length);
    return { ...result, query: known.query };
  }
}

type Asking = SelectStatement | Extract<Statement, ShowClauses>;

/** Whether a statement asks for data or for names: what others hold, passwords, is not kept. */
function isAsking(statement: Statement): statement is Asking {
  switch (statement.kind) {
    case 'select':
    case 'show-measurements':
    case 'show-field-keys':
    case 'show-series':
    case 'show-tag-keys':
    case 'show-tag-values':
    case 'show-cardinality':
      return true;
    default:
      return false;
  }
}

function knownOf(text: string, asking: readonly Asking[], cuts: readonly string[]): Known {
  const places = placesOfCuts(text);
  const slotAt = new Map(places.map((place, slot) => [place, slot]));
  const slots: (Literal | undefined)[] = cuts.map(() => undefined);
  const marked = asking.map((statement) =>
    withSlots(statement, (literal) => {
      const { start, end } = literal.span;
      const slot = slotAt.get(start);
      if (slot === undefined || cuts[slot]?.length !== end - start) return undefined;
      slots[slot] = literalOf(cuts[slot], slot, literal.span);
      return slots[slot] === undefined ? undefined : slot;
    }),
  );
  const statements = marked.map((statement) =>
    statement.kind === 'select' ? { ...statement, form: {}, slots } : statement,
  );
  return { query: { statements }, cuts, places, slots };
}

/** Where an offset of the first text of a form is in one that has other cuts. */
function placeIn({ cuts: first, places }: Known, cuts: readonly string[], offset: number): number {
  let place = offset;
  for (const [slot, cut] of cuts.entries()) {
    const before = first[slot] ?? '';
    if (offset < (places[slot] ?? 0) + before.length) break;
    place += cut.length - before.length;
  }
  return place;
}

/** The query of a text with these cuts; `undefined` when it differs in more than its slots. */
function fill(
  known: Known,
  cuts: readonly string[],
  takes: (pattern: string) => boolean,
): Query | undefined {
  if (cuts.length === 0) return known.query;
  const slots: (Literal | undefined)[] = [];
  for (const [slot, cut] of cuts.entries()) {
    const before = known.slots[slot];
    const literal = before && literalOf(cut, slot, before.span);
    if (literal === undefined && (before !== undefined || cut !== known.cuts[slot])) {
      return undefined;
    }
    if (literal?.kind === 'regex' && !takes(literal.pattern)) return undefined;
    slots.push(literal);
  }
  const statements = known.query.statements.map((statement) => {
    const filled = fillStatement(statement, slots);
    return filled.kind === 'select' ? { ...filled, slots } : filled;
  });
  return { statements };
}
