// Executes a SELECT without functions: rows of the sources, filled and evaluated.
import type { GroupKey, RowBatch } from '../batch/row-batch.ts';
import { flatMapBatches } from '../operator.ts';
import type { Operator } from '../operator.ts';
import type { RowsPlan } from '../plan/physical-plan.ts';
import { rangeBefore } from '../plan/prefetch.ts';
import type { SelectPlan } from '../plan/select-plan.ts';
import { limitRows } from '../limit/limit-rows.ts';
import { openRows } from '../scan/open-rows.ts';
import { GroupEnds } from '../scan/group-ends.ts';
import type { Execute } from '../scan/open-rows.ts';
import { project } from '../project/project.ts';
import { rawDefaults } from '../fill/row-defaults.ts';
import type { ExecutionContext } from '../execution/execution-context.ts';

/** Rows of the answer. */
export function runRaw(
  rows: RawPlan,
  execution: ExecutionContext,
  { execute, ends }: RawOptions,
): Operator<RowBatch> {
  return limitRows(selectedRows(rows, execution, { execute, ends }), rows.select);
}

type RawOptions = {
  readonly execute: Execute;
  /** Set by the reader of these rows. */
  readonly ends: GroupEnds | undefined;
};

type RawPlan = RowsPlan & { readonly kind: 'raw' };

function* selectedRows(
  { select: plan, sources }: RawPlan,
  execution: ExecutionContext,
  { execute, ends: ofReader }: RawOptions,
): Operator<RowBatch> {
  if (plan.selectedInputCount === 0) return;
  const wanted = plan.limit === 0 ? undefined : plan.limit + plan.offset;
  const ends = wanted === undefined ? ofReader : new GroupEnds();
  const options = { range: rangeBefore(plan, 0), limitPerSeries: wanted, ends };
  const opened = openRows({ select: plan, sources, options }, execution, execute);
  const selected = new SelectedRows(plan, execution, { rowsPerGroup: wanted, ends, ofReader });
  yield* flatMapBatches(opened, (batch) => selected.of(batch));
}

type Needed = {
  /** Rows of each group; `undefined` means all. */
  readonly rowsPerGroup: number | undefined;
  readonly ends: GroupEnds | undefined;
  readonly ofReader: GroupEnds | undefined;
};

class SelectedRows {
  readonly #plan: SelectPlan;
  readonly #execution: ExecutionContext;
  readonly #needed: Needed;
  readonly #defaults: ReturnType<typeof rawDefaults>;
  #group: GroupKey | undefined;
  #count = 0;

  constructor(plan: SelectPlan, execution: ExecutionContext, needed: Needed) {
    this.#plan = plan;
    this.#execution = execution;
    this.#needed = needed;
    this.#defaults = rawDefaults(plan);
  }

  *of({ group, times, columns }: RowBatch): Operator<RowBatch> {
    const { rowsPerGroup = Infinity, ends, ofReader } = this.#needed;
    if (group !== this.#group) {
      this.#group = group;
      this.#count = 0;
      this.#defaults.startGroup();
    }
    if (this.#count >= rowsPerGroup) return;
    this.#count += times.length;
    if (this.#count >= rowsPerGroup || ofReader?.isEnded(group) === true) ends?.end(group);
    const rows = { times, columns: this.#defaults.apply(columns) };
    const projected = project(this.#plan, group, rows);
    yield yield* this.#execution.step('evaluate columns', this.#plan, projected);
  }
}
