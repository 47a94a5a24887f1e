// Feeds the rows of writes to the `from` nodes of a task, the children of its source.
import type { Group } from './data/group.ts';
import { NO_DIMENSIONS } from './data/group.ts';
import { rowPoint } from './data/row-point.ts';
import type { RowSelection } from './data/row-selection.ts';
import { countOfPart, rowNumber } from './data/row-selection.ts';
import type { Edge, Sampler } from './edge.ts';
import { SAMPLE_EVERY_ROWS, SAMPLE_ROWS } from './limits.ts';
import type { TaskContext } from './node.ts';
import type { RowReceiver } from './node-capabilities.ts';
import type { NodeHandle } from './node-handle.ts';

/** A child of the source that reads rows of writes. */
type SourceChild = {
  readonly rows: RowReceiver;
  readonly edge: Edge;
  readonly handle: NodeHandle;
};

export class RowFeed {
  readonly #context: TaskContext;
  readonly #sampler: Sampler;
  readonly #children: readonly SourceChild[];
  #rowsUntilSample = 0;

  constructor(
    handles: readonly NodeHandle[],
    shared: { readonly context: TaskContext; readonly sampler: Sampler },
  ) {
    this.#context = shared.context;
    this.#sampler = shared.sampler;
    const [source] = handles;
    this.#children = source === undefined ? [] : childrenOf(source, handles);
  }

  /** Rows that entered the task. */
  get count(): number {
    return this.#children[0]?.edge.count ?? 0;
  }

  /**
   * Rows pass all `from` nodes before the next row: the division of input into writes must not
   * change the output.
   */
  push(selection: RowSelection, start: number, end: number): void {
    const { source } = selection;
    const open = this.#children.filter(({ rows }) => rows.openWrite(source));
    this.#showToObservers(selection, start, end);
    let at = start;
    if (this.#rowsUntilSample <= 0) {
      this.#rowsUntilSample = SAMPLE_EVERY_ROWS;
      at = Math.min(start + SAMPLE_ROWS, end);
      this.#pushSampled(open, selection, { start, end: at });
    }
    this.#rowsUntilSample -= end - start;
    const [first] = open;
    if (open.length === 1 && first !== undefined) first.rows.rows(selection, at, end);
    else {
      for (; at < end; at++) {
        const row = rowNumber(selection, at);
        for (const { rows } of open) rows.row(row);
      }
    }
    for (const { rows } of open) rows.closeWrite();
    // The source takes no others.
    const count = countOfPart(selection, { start, end }, this.#context.part);
    for (const { edge } of this.#children) edge.count += count;
  }

  #pushSampled(
    open: readonly SourceChild[],
    selection: RowSelection,
    { start, end }: { readonly start: number; readonly end: number },
  ): void {
    this.#sampler.isOn = true;
    for (let at = start; at < end; at++) {
      const row = rowNumber(selection, at);
      for (const { rows, handle } of open) this.#sampler.time(handle.time, () => rows.row(row));
    }
    this.#sampler.isOn = false;
  }

  /** Taps on the source see points; without taps rows never become points there. */
  #showToObservers(selection: RowSelection, start: number, end: number): void {
    const observers = this.#children.flatMap(({ edge }) => edge.observers());
    if (observers.length === 0) return;
    const { source } = selection;
    for (let at = start; at < end; at++) {
      const row = rowNumber(selection, at);
      const series = source.series[source.seriesOfRow[row] ?? 0];
      const group = this.#context.groups.named('', NO_DIMENSIONS, []) as Group;
      if (series === undefined || this.#context.part?.has(series) === false) continue;
      const point = rowPoint(source, row, { series, group });
      for (const observer of observers) observer.point(point);
    }
  }
}

function childrenOf(source: NodeHandle, handles: readonly NodeHandle[]): readonly SourceChild[] {
  return source.spec.children.flatMap((id, i) => {
    const handle = handles[id];
    const rows = handle?.node?.capabilities.rows;
    const edge = source.outputs[i];
    if (handle === undefined || edge === undefined || rows === undefined) return [];
    return [{ rows, edge, handle }];
  });
}
