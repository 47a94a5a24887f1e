// where: keeps the points for which an expression is true. State per group.
import { whereNode } from '@tidemark/pipeline';
import type { Group } from '../data/group.ts';
import type { Barrier, Batch, Point } from '../data/point.ts';
import { EvaluationError } from '../lambda/errors.ts';
import type { FunctionState } from '../lambda/function.ts';
import { explainLambda } from '../lambda/explain.ts';
import type { Lambda } from '../lambda/lambda.ts';
import type { Frame } from '../lambda/typed.ts';
import type { GroupStatesCode } from '../group-states.ts';
import { GroupStates } from '../group-states.ts';
import type { ContextOf } from '../implement.ts';
import { implement } from '../implement.ts';
import type { RunningNode } from '../node.ts';
import type { NodeCapabilities } from '../node-capabilities.ts';
import { compileFor } from '../node-parts/compile.ts';
import { requiredLambda } from '../node-parts/required-lambda.ts';

export class WhereNode implements RunningNode {
  readonly capabilities: NodeCapabilities = { state: this };
  readonly #ctx: ContextOf<typeof whereNode>;
  readonly #lambda: Lambda;
  readonly #frames: GroupStates<Frame>;

  constructor(ctx: ContextOf<typeof whereNode>) {
    this.#ctx = ctx;
    this.#lambda = compileFor(
      requiredLambda(ctx.options.expression),
      'Failed to compile expression in where clause',
    );
    const shared = this.#lambda.frame(ctx.task.callContext);
    this.#frames = new GroupStates(() =>
      this.#lambda.isStateful ? this.#lambda.frame(ctx.task.callContext) : shared,
    );
  }

  get groupCount(): number {
    return this.#frames.count;
  }

  point(point: Point): void {
    if (this.#passes(point, this.#frames.get(point.group))) this.#ctx.out.point(point);
  }

  batch(batch: Batch): void {
    const frame = this.#frames.get(batch.group);
    const kept = batch.points.filter((point) => this.#passes(point, frame));
    this.#ctx.out.batch(kept.length === batch.points.length ? batch : batch.withPoints(kept));
  }

  barrier(barrier: Barrier): void {
    this.#ctx.out.barrier(barrier);
  }

  deleteGroup(group: Group): void {
    this.#frames.delete(group);
    this.#ctx.out.deleteGroup(group);
  }

  snapshot(): unknown {
    return this.#lambda.isStateful ? this.#frames.encode((frame) => frame.states) : undefined;
  }

  restore(state: unknown): void {
    const { task } = this.#ctx;
    this.#frames.decode(task, state as GroupStatesCode<FunctionState[]>, (states) =>
      this.#lambda.restoreFrame(states, task.callContext),
    );
  }

  #passes(point: Point, frame: Frame): boolean {
    try {
      const passes = this.#lambda.test(point, frame);
      if (this.#ctx.explain !== undefined) this.#explain(point, passes);
      return passes;
    } catch (cause) {
      if (!(cause instanceof EvaluationError)) throw cause;
      this.#ctx.fail('error while evaluating expression', cause.message);
      if (this.#ctx.explain !== undefined) this.#explain(point, undefined, cause.message);
      return false;
    }
  }

  #explain(point: Point, passes: boolean | undefined, error?: string): void {
    this.#ctx.explain?.({
      group: point.group,
      time: point.time,
      outcome: passes === true ? 'passed' : 'dropped',
      conditions: explainLambda(this.#lambda, 'where', {
        point,
        outcome: { result: passes, error },
        context: this.#ctx.task.callContext,
      }),
    });
  }
}

export const runningWhere = implement(whereNode, (ctx) => new WhereNode(ctx));
