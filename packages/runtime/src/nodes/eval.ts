// eval: computes fields (or tags) from expressions. Everything that depends on the shape of points
// is planned once per shape; a point then costs its values and the closures.
import type { OptionsOfNode } from '@tidemark/pipeline';
import { evalNode } from '@tidemark/pipeline';
import type { Group } from '../data/group.ts';
import type { Barrier, Batch, Point } from '../data/point.ts';
import type { Field, Value, ValueType } from '../data/schema.ts';
import { field, Schema } from '../data/schema.ts';
import type { TagKeys } from '../data/series.ts';
import type { GroupStatesCode } from '../group-states.ts';
import { GroupStates } from '../group-states.ts';
import { EvaluationError } from '../lambda/errors.ts';
import type { FunctionState } from '../lambda/function.ts';
import { explainLambda } from '../lambda/explain.ts';
import type { Lambda } from '../lambda/lambda.ts';
import { valueFailure } from '../lambda/lambda.ts';
import type { Frame, Run } from '../lambda/typed.ts';
import { StartError } from '../node.ts';
import type { ContextOf } from '../implement.ts';
import { implement } from '../implement.ts';
import type { RunningNode } from '../node.ts';
import type { NodeCapabilities } from '../node-capabilities.ts';
import { compileFor } from '../node-parts/compile.ts';

type Plan = {
  readonly runs: readonly Run[];
  /**
   * Results follow the point's own values when fields are kept, otherwise they are the only ones.
   */
  readonly isKeepingOwn: boolean;
  readonly schema: Schema;
  /** Index into `own` of results that become tags. */
  readonly tags: readonly { readonly name: string; readonly index: number }[];
};

export class EvalNode implements RunningNode {
  readonly capabilities: NodeCapabilities = { state: this };
  readonly #ctx: ContextOf<typeof evalNode>;
  readonly #lambdas: readonly Lambda[];
  readonly #isStateful: boolean;
  readonly #frames: GroupStates<readonly Frame[]>;
  readonly #plans = new Map<Schema, Map<TagKeys, Plan>>();
  #lastSchema: Schema | undefined;
  #lastKeys: TagKeys | undefined;
  #lastPlan: Plan | undefined;

  constructor(ctx: ContextOf<typeof evalNode>) {
    this.#ctx = ctx;
    const { options } = ctx;
    if (options.as.length < options.expressions.length) {
      throw new StartError("must provide one name per expression via the 'As' property");
    }
    this.#lambdas = options.expressions.map((spec, i) =>
      compileFor(spec, `Failed to compile ${i} expression`),
    );
    this.#isStateful = this.#lambdas.some((lambda) => lambda.isStateful);
    const shared = this.#newFrames();
    this.#frames = new GroupStates(() => (this.#isStateful ? this.#newFrames() : shared));
  }

  get groupCount(): number {
    return this.#frames.count;
  }

  point(point: Point): void {
    const result = this.#evaluate(point, this.#frames.get(point.group));
    if (result !== undefined) this.#ctx.out.point(result);
  }

  batch(batch: Batch): void {
    const frames = this.#frames.get(batch.group);
    const points: Point[] = [];
    for (const point of batch.points) {
      const result = this.#evaluate(point, frames);
      if (result !== undefined) points.push(result);
    }
    this.#ctx.out.batch(batch.withPoints(points));
  }

  barrier(barrier: Barrier): void {
    this.#ctx.out.barrier(barrier);
  }

  deleteGroup(group: Group): void {
    this.#frames.delete(group);
    this.#ctx.out.deleteGroup(group);
  }

  snapshot(): unknown {
    if (!this.#isStateful) return undefined;
    return this.#frames.encode((frames) => frames.map((frame) => frame.states));
  }

  restore(state: unknown): void {
    const { task } = this.#ctx;
    this.#frames.decode(task, state as GroupStatesCode<FunctionState[][]>, (states) =>
      this.#lambdas.map((lambda, i) => lambda.restoreFrame(states[i] ?? [], task.callContext)),
    );
  }

  #newFrames(): Frame[] {
    return this.#lambdas.map((lambda) => lambda.frame(this.#ctx.task.callContext));
  }

  #evaluate(point: Point, frames: readonly Frame[]): Point | undefined {
    let own: Value[] = [];
    let keptCount = 0;
    try {
      const plan = this.#plan(point.schema, point.series.keys);
      if (plan.isKeepingOwn) own = point.growingValues();
      keptCount = own.length;
      const { runs } = plan;
      for (let i = 0; i < runs.length; i++) {
        const frame = frames[i] as Frame;
        frame.results = own;
        own.push((runs[i] as Run)(point, frame) as Value);
      }
      if (this.#ctx.explain !== undefined) this.#explain(point, own.slice(-this.#lambdas.length));
      const result = point.withValues(plan.schema, own);
      return plan.tags.length === 0 ? result : this.#withTags(result, plan);
    } catch (cause) {
      if (!(cause instanceof EvaluationError)) throw cause;
      own.length = keptCount;
      this.#ctx.fail('error evaluating expression', cause.message, point);
      if (this.#ctx.explain !== undefined) this.#explain(point, [], cause.message);
      return undefined;
    }
  }

  /** Reports the values that the expressions used, and their results. */
  #explain(point: Point, results: readonly Value[], error?: string): void {
    const { explain, task, options } = this.#ctx;
    const conditions = this.#lambdas.flatMap((lambda, i) => {
      const [whole] = explainLambda(lambda, options.as[i] ?? '', {
        point,
        outcome: { result: results[i], error },
        context: task.callContext,
      });
      return whole === undefined ? [] : [whole];
    });
    const outcome = error === undefined ? 'evaluated' : 'failed';
    explain?.({ group: point.group, time: point.time, outcome, conditions });
  }

  #withTags(point: Point, plan: Plan): Point | undefined {
    const { task } = this.#ctx;
    let series = point.series;
    for (const { name, index } of plan.tags) {
      series = task.series.withTag(series, name, point.own[index] as string);
    }
    const { dimensions } = point.group;
    const isRegrouped = plan.tags.some(({ name }) => dimensions.tagNames.includes(name));
    const group = isRegrouped ? this.#ctx.groupOf(series, dimensions) : point.group;
    return group === undefined ? undefined : point.withSeries(series, group);
  }

  #plan(schema: Schema, keys: TagKeys): Plan {
    if (schema === this.#lastSchema && keys === this.#lastKeys) return this.#lastPlan as Plan;
    let byKeys = this.#plans.get(schema);
    if (byKeys === undefined) {
      if (this.#plans.size >= PLANS_MAX) this.#plans.clear();
      this.#plans.set(schema, (byKeys = new Map()));
    }
    let plan = byKeys.get(keys);
    if (plan === undefined) {
      if (byKeys.size >= PLANS_MAX) byKeys.clear();
      plan = this.#makePlan(schema, keys);
      byKeys.set(keys, plan);
    }
    this.#lastSchema = schema;
    this.#lastKeys = keys;
    this.#lastPlan = plan;
    return plan;
  }

  #makePlan(schema: Schema, keys: TagKeys): Plan {
    const { options } = this.#ctx;
    const isKeepingOwn = options.keep !== undefined;
    const base = isKeepingOwn ? schema.ownLength : 0;
    const earlier = new Map<string, { index: number; type: ValueType }>();
    const runs: Run[] = [];
    const references = new Set<string>();
    for (const [i, lambda] of this.#lambdas.entries()) {
      const name = options.as[i] ?? '';
      const specialised = lambda.specialise(schema, keys, earlier);
      const failure =
        valueFailure(specialised) ?? tagFailure(options, name, specialised.typed.type);
      runs.push(failure === undefined ? specialised.typed.run : throwing(failure));
      const { type } = specialised.typed;
      // A type without values only appears where `run` throws, so that the field never exists.
      earlier.set(name, { index: base + i, type: isValueType(type) ? type : 'null' });
      for (const reference of lambda.references) references.add(reference);
    }
    const results = [...earlier].map(([name, { index, type }]) => {
      const original = schema.field(name);
      // Fields are read again for each expression: a field that a later expression uses takes
      // precedence over the result.
      const isReread = this.#isUsedAfter(name);
      if (original !== undefined && isReread && isKeepingOwn) return original;
      return field(name, type, { kind: 'own', index });
    });
    const kept = this.#keptFields(schema, results);
    const problem = kept.missing === undefined ? undefined : missingField(kept.missing);
    if (problem !== undefined) runs.push(throwing(problem));
    return {
      runs: problem === undefined ? runs : withFailureLast(runs),
      isKeepingOwn,
      schema: new Schema(kept.fields, base + runs.length),
      tags: options.tags.map((name) => ({ name, index: earlier.get(name)?.index ?? 0 })),
    };
  }

  #isUsedAfter(name: string): boolean {
    const position = this.#ctx.options.as.lastIndexOf(name);
    return this.#lambdas.slice(position + 1).some((lambda) => lambda.references.includes(name));
  }

  #keptFields(
    schema: Schema,
    results: readonly Field[],
  ): { readonly fields: Field[]; readonly missing?: string } {
    const { keep, tags } = this.#ctx.options;
    const byName = new Map(results.map((result) => [result.name, result]));
    if (keep === undefined) return { fields: results.filter(({ name }) => !tags.includes(name)) };
    if (keep.length === 0) {
      const originals = schema.fields.filter((original) => !byName.has(original.name));
      return { fields: [...originals, ...results] };
    }
    const fields: Field[] = [];
    for (const name of new Set(keep)) {
      const found = byName.get(name) ?? schema.field(name);
      if (found === undefined) return { fields, missing: name };
      fields.push(found);
    }
    return { fields };
  }
}

/** Shapes with cached plans in one node. */
const PLANS_MAX = 1024;

function throwing(failure: EvaluationError): Run {
  return () => {
    throw failure;
  };
}

function missingField(name: string): EvaluationError {
  return new EvaluationError(`cannot keep field "${name}", field does not exist`);
}

/** The error about `keep` comes after the expressions, which therefore advance their state. */
function withFailureLast(runs: readonly Run[]): Run[] {
  const failing = runs.at(-1) as Run;
  const last = runs.at(-2);
  if (last === undefined) return [failing];
  const both: Run = (point, frame) => {
    last(point, frame);
    return failing(point, frame);
  };
  return [...runs.slice(0, -2), both];
}

function isValueType(type: ValueType | 'missing' | 'invalid'): type is ValueType {
  return type !== 'missing' && type !== 'invalid';
}

const GO_TYPES: Readonly<Record<string, string>> = {
  int: 'int64',
  float: 'float64',
  boolean: 'bool',
  duration: 'time.Duration',
};

function tagFailure(
  options: OptionsOfNode<typeof evalNode>,
  name: string,
  type: ValueType | 'missing' | 'invalid',
): EvaluationError | undefined {
  if (!options.tags.includes(name) || type === 'string') return undefined;
  return new EvaluationError(
    `result of a tag expression must be of type string, got ${GO_TYPES[type] ?? type}`,
  );
}

export const runningEval = implement(evalNode, (ctx) => new EvalNode(ctx));
