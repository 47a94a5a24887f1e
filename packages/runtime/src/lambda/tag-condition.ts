// Conditions over tags alone, for events, which are no longer points: lambdas like those of
// scripts, with additional functions of the caller.
import type { Timestamp } from '@tidemark/core';
import type { ExpressionNode } from '@tidemark/tickscript';
import { GroupTable, NO_DIMENSIONS } from '../data/group.ts';
import type { Group } from '../data/group.ts';
import { Point } from '../data/point.ts';
import { ownSchema } from '../data/schema.ts';
import { Series, SeriesTable, TagKeys } from '../data/series.ts';
import type { CallContext, FunctionRow } from './function.ts';
import { FUNCTIONS } from './functions.ts';
import { Lambda } from './lambda.ts';
import type { Frame } from './typed.ts';

/** The subject of a condition. `"time"` is its time, other references are tags. */
export type Tagged = {
  readonly name: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly time: Timestamp;
};

const NO_FIELDS = ownSchema([]);
/** Sets of tags in the cache; with ever new ones it starts over. */
const SHAPES_MAX = 256;

/** Keeps the state of its stateful functions between evaluations. */
export class TagCondition {
  readonly #lambda: Lambda;
  readonly #frame: Frame;
  readonly #group: Group | undefined;
  readonly #keysOf = new Map<string, TagKeys>();

  /** Throws `CompileError` when operands with known types do not fit. */
  constructor(
    expression: ExpressionNode,
    options: { readonly functions: readonly FunctionRow[]; readonly context: CallContext },
  ) {
    const own = options.functions.map((row) => [row.name, row] as const);
    this.#lambda = new Lambda({ kind: 'lambda', expression }, new Map([...FUNCTIONS, ...own]));
    this.#frame = this.#lambda.frame(options.context);
    const nothing = new SeriesTable().of('', []);
    this.#group = new GroupTable(new SeriesTable(), 1).of(nothing, NO_DIMENSIONS);
  }

  /** Throws `EvaluationError`. */
  test({ name, tags, time }: Tagged): boolean {
    const names = this.#lambda.references.filter((each) => Object.hasOwn(tags, each));
    const values = names.map((each) => tags[each] ?? '');
    const series = new Series(0, name, this.#keys(names), undefined, 0, values);
    const group = this.#group as Group;
    return this.#lambda.test(Point.of({ time, series, group, schema: NO_FIELDS }), this.#frame);
  }

  /** One object per set of names: compiled code is cached by it. */
  #keys(names: readonly string[]): TagKeys {
    const text = names.join('\u0000');
    let keys = this.#keysOf.get(text);
    if (keys === undefined) {
      if (this.#keysOf.size >= SHAPES_MAX) this.#keysOf.clear();
      this.#keysOf.set(text, (keys = new TagKeys(names)));
    }
    return keys;
  }
}
