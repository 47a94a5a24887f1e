// The group that a query with functions is currently reading: its calls, and its complete rows.
import { assert } from '@tidemark/core';

import type { GroupKey, RowBatch } from '../batch/row-batch.ts';
import type { Operator } from '../operator.ts';
import { GroupCalls } from './group-calls.ts';
import type { CallsPlan } from '../plan/calls-plan.ts';
import type { CallRows } from '../plan/physical-plan.ts';
import { project } from '../project/project.ts';
import { callDefaults } from '../fill/row-defaults.ts';
import type { RowDefaults } from '../fill/row-defaults.ts';
import type { ExecutionContext } from '../execution/execution-context.ts';
import type { AggregatedGroup } from '../scan/aggregate-measurement.ts';

/** One per execution of a plan. */
export class OpenGroup {
  readonly #callsPlan: CallsPlan;
  readonly #execution: ExecutionContext;
  readonly #rows: CallRows | undefined;
  readonly #defaults: RowDefaults;
  #key: GroupKey | undefined;
  #calls: GroupCalls | undefined;

  /** `rows` are those that are pushed; absent if only windows are. */
  constructor(calls: CallsPlan, execution: ExecutionContext, rows?: CallRows) {
    this.#callsPlan = calls;
    this.#execution = execution;
    this.#rows = rows;
    this.#defaults = callDefaults(calls);
  }

  /** The calls of the group that was entered last. */
  get calls(): GroupCalls {
    assert(this.#calls !== undefined, 'a group was entered');
    return this.#calls;
  }

  /** Whether the group is the one that was entered last. */
  isIn(key: GroupKey): boolean {
    return key === this.#key;
  }

  /** Continues a group, or begins another one and yields the remaining rows of the previous one. */
  *enter(key: GroupKey): Operator<RowBatch> {
    if (key === this.#key) return;
    yield* this.finish();
    this.#key = key;
    this.#calls = new GroupCalls(this.#callsPlan, this.#rows, this.#execution);
    this.#defaults.startGroup();
  }

  /** Rows of the answer that some rows complete; first the remaining ones of another group. */
  *pushRows(batch: RowBatch): Operator<RowBatch> {
    yield* this.enter(batch.group);
    const { calls } = this;
    if (calls.isSatisfied) return;
    yield* this.#execution.step('reduce', this.#callsPlan.plan, calls.pushRows(batch));
    yield* this.readyRows();
  }

  /** As `pushRows`, for windows that the source has reduced. */
  *pushWindows(batch: AggregatedGroup): Operator<RowBatch> {
    yield* this.enter(batch.group);
    const { calls } = this;
    if (calls.isSatisfied) return;
    calls.pushAggregates(batch);
    yield* this.readyRows();
  }

  /** Yields the remaining rows after all of the group has been pushed. */
  *finish(): Operator<RowBatch> {
    if (this.#key === undefined) return;
    yield* this.#execution.step('reduce', this.#callsPlan.plan, this.calls.finish());
    yield* this.readyRows();
    this.#key = undefined;
  }

  /** Complete rows: filled, transformed, joined across calls, evaluated. */
  *readyRows(): Operator<RowBatch> {
    const { plan } = this.#callsPlan;
    const key = this.#key;
    if (key === undefined) return;
    const { calls } = this;
    for (;;) {
      const rows = yield* this.#execution.step('fill and transform', plan, calls.next());
      if (rows === undefined) return;
      yield;
      const defaulted = { times: rows.times, columns: this.#defaults.apply(rows.columns) };
      yield yield* this.#execution.step('evaluate columns', plan, project(plan, key, defaulted));
    }
  }
}
