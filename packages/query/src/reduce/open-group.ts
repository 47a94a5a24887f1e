// The group that a query with functions is reading: its leaves, and the rows that are known of
// them.
import { assert } from '@tidemark/core';

import type { GroupKey, RowBatch } from '../batch/row-batch.ts';
import type { Operator } from '../operator.ts';
import { GroupLeaves } from './group-leaves.ts';
import type { LeavesPlan } from './group-leaves.ts';
import { project } from '../project/project.ts';
import { RowDefaults } from '../fill/row-defaults.ts';
import type { RunContext } from '../execute/run-context.ts';
import type { ZippedRows } from '../merge/zip-leaves.ts';

/** One per run of a plan. */
export class OpenGroup {
  readonly #leavesPlan: LeavesPlan;
  readonly #run: RunContext;
  readonly #defaults: RowDefaults;
  #key: GroupKey | undefined;
  #leaves: GroupLeaves | undefined;

  constructor(leaves: LeavesPlan, run: RunContext) {
    this.#leavesPlan = leaves;
    this.#run = run;
    this.#defaults = new RowDefaults(leaves);
  }

  /** The leaves of the group that was entered last. */
  get leaves(): GroupLeaves {
    assert(this.#leaves !== undefined, 'a group was entered');
    return this.#leaves;
  }

  /** Whether the group is the one that was entered last. */
  isIn(key: GroupKey): boolean {
    return key === this.#key;
  }

  /** Goes on with a group; the rows that are left of the one before, when it is another. */
  *enter(key: GroupKey): Operator<RowBatch> {
    if (key === this.#key) return;
    yield* this.finish();
    this.#key = key;
    this.#leaves = new GroupLeaves(this.#leavesPlan, this.#run);
    this.#defaults.startGroup();
  }

  /** The rows that are left when all of the group has been pushed. */
  *finish(): Operator<RowBatch> {
    if (this.#key === undefined) return;
    yield* this.#run.step('reduce', this.#leavesPlan.plan, this.leaves.finish());
    yield* this.known();
    this.#key = undefined;
  }

  /** Rows as far as they are known: filled, transformed, put beside each other, evaluated. */
  *known(): Operator<RowBatch> {
    const { plan } = this.#leavesPlan;
    const key = this.#key;
    if (key === undefined) return;
    const { leaves } = this;
    const next = (): ZippedRows | undefined =>
      this.#run.time('fill and transform', plan, () => leaves.next());
    for (let rows = next(); rows !== undefined || leaves.isBusy; rows = next()) {
      yield;
      if (rows === undefined) continue;
      const defaulted = { times: rows.times, columns: this.#defaults.apply(rows) };
      yield yield* this.#run.step('evaluate columns', plan, project(plan, key, defaulted));
    }
  }
}
