// The conditions of an alert node: which level a point has.
import type { AlertOptions } from '@tidemark/pipeline';
import type { Point } from '../data/point.ts';
import { EvaluationError } from '../lambda/errors.ts';
import { explainLambda, look } from '../lambda/explain.ts';
import type { FunctionState } from '../lambda/function.ts';
import type { Lambda } from '../lambda/lambda.ts';
import type { Frame } from '../lambda/typed.ts';
import type { NodeContext } from '../node.ts';
import type { TapCondition } from '../running-task.ts';
import type { AlertLevelName } from '../services.ts';
import { compileFor } from './compile.ts';

/** By level. */
export const LEVEL_NAMES: readonly AlertLevelName[] = ['OK', 'INFO', 'WARNING', 'CRITICAL'];
export const OK = 0;
const INFO = 1;
export const CRITICAL = 3;

type LevelLambda = {
  readonly label: string;
  readonly lambda: Lambda;
  readonly frame: Frame;
};

type States = (FunctionState[] | undefined)[];

/** The states of stateful functions, by level. */
export type AlertLevelsCode = { readonly levels: States; readonly resets: States };

export class AlertLevels {
  readonly #ctx: NodeContext;
  /** By level; index 0 is unused. One state for all groups, as recorded. */
  readonly #levels: readonly (LevelLambda | undefined)[];
  readonly #resets: readonly (LevelLambda | undefined)[];

  /** Throws `StartError` when a condition cannot be compiled. */
  constructor(ctx: NodeContext, options: AlertOptions) {
    this.#ctx = ctx;
    this.#levels = [
      undefined,
      this.#compile('info', options.info),
      this.#compile('warn', options.warn),
      this.#compile('crit', options.crit),
    ];
    this.#resets = [
      undefined,
      this.#levels[1] && this.#compile('infoReset', options.infoReset),
      this.#levels[2] && this.#compile('warnReset', options.warnReset),
      this.#levels[3] && this.#compile('critReset', options.critReset),
    ];
  }

  /** The level of a point, in a group that has a level. */
  of(point: Point, current: number): number {
    const floor = current > INFO ? current : INFO;
    for (let level = CRITICAL; level >= floor; level--) {
      if (this.#matches(point, level)) return level;
    }
    const reset = this.#resets[current];
    if (reset !== undefined) {
      const result = this.#test(
        reset,
        point,
        'error evaluating reset expression for current level',
      );
      if (result === false) return current;
    }
    for (let level = current; level >= INFO; level--) if (this.#matches(point, level)) return level;
    return OK;
  }

  /** Why a point has its level. */
  explain(point: Point): readonly TapCondition[] {
    const conditions: TapCondition[] = [];
    for (const each of [...this.#levels, ...this.#resets]) {
      if (each === undefined) continue;
      const { lambda, label } = each;
      const context = this.#ctx.task.callContext;
      const seen = { point, context, outcome: look(lambda, point, context) };
      conditions.push(...explainLambda(lambda, label, seen));
    }
    return conditions;
  }

  encode(): AlertLevelsCode {
    return {
      levels: this.#levels.map((level) => level?.frame.states),
      resets: this.#resets.map((level) => level?.frame.states),
    };
  }

  restore(code: AlertLevelsCode): void {
    for (const [levels, states] of [
      [this.#levels, code.levels],
      [this.#resets, code.resets],
    ] as const) {
      levels.forEach((level, i) => {
        states[i]?.forEach((s, k) => Object.assign(level?.frame.states[k] ?? {}, s));
      });
    }
  }

  #compile(label: string, spec: AlertOptions['info']): LevelLambda | undefined {
    if (spec === undefined) return undefined;
    const lambda = compileFor(spec, `Failed to compile stateful expression for ${label}`);
    return { label, lambda, frame: lambda.frame(this.#ctx.task.callContext) };
  }

  #matches(point: Point, level: number): boolean {
    const predicate = this.#levels[level];
    if (predicate === undefined) return false;
    return this.#test(predicate, point, 'error evaluating expression for level') === true;
  }

  #test(predicate: LevelLambda, point: Point, complaint: string): boolean | undefined {
    try {
      return predicate.lambda.test(point, predicate.frame);
    } catch (cause) {
      if (!(cause instanceof EvaluationError)) throw cause;
      this.#ctx.fail(complaint, cause.message, point);
      return undefined;
    }
  }
}
