// The cost of a read: shards, series, files and blocks, and values in memory. Pieces are found, and
// chunks planned, as by the read itself, but no values of segments are read.
import { zeroCounters } from '@tidemark/query';
import type { CostRequest, SourceCost } from '@tidemark/query';

import type { SeriesId } from '../columns/series-id.ts';
import { gapsOf, isInRanges, longRanges } from '../segment/series-ranges.ts';
import { commonResidual } from '../series/select.ts';
import type { ShardView, Snapshot } from '../state/snapshot.ts';
import type { ColumnUse } from './column-plan.ts';
import type { ReadOptions } from './damaged-data.ts';
import { WindowsOfGroups } from './group-windows.ts';
import type { GroupWindows } from './group-windows.ts';
import { select } from './groups.ts';
import type { Selection } from './groups.ts';
import { PieceCosts } from './piece-costs.ts';
import { pieceSources } from './pieces.ts';
import type { PieceRequest } from './pieces.ts';
import { overlappingPieces } from './series-reader.ts';
import { requestedFields } from './windows.ts';

type Scope = {
  readonly selection: Selection;
  readonly selected: ReadonlySet<SeriesId>;
  readonly read: PieceRequest;
  /** Whether the cost of a field is asked for, by its index. */
  readonly isAsked: (index: number) => boolean;
  /** Windows that plan chunks; their fields are the first ones of the read. */
  readonly windows: GroupWindows | undefined;
};

/** Yields the cost as the only value, and `undefined` where the slicer may pause. */
export function* cost(
  snapshot: Snapshot,
  request: CostRequest,
  { memory, onPartial, kernels }: Pick<ReadOptions, 'memory' | 'onPartial' | 'kernels'>,
): Generator<SourceCost | undefined> {
  const costs = new PieceCosts();
  const all = { ...request, groupBy: [], descending: false, unorderedFrom: 0 };
  const selection = yield* select(snapshot, all, { memory, onPartial });
  let shards = 0;
  if (selection !== undefined) {
    const planned = plannedOf(request);
    const { scans } = kernels;
    const index = () => selection.database.index;
    const opened = planned && new WindowsOfGroups(planned, { scans, index, count: 1 });
    try {
      const fields = fieldsOf(request, planned);
      const { timeRange } = request;
      const read = { selection, fields, presenceOnly: false, timeRange, counters: zeroCounters() };
      const isAsked = (at: number): boolean => request.fields.includes(fields[at]!.name);
      const selected: ReadonlySet<SeriesId> = new Set(selection.groups.series);
      const scope = { selection, selected, read, isAsked, windows: opened?.of(0) };
      for (const view of selection.shards) {
        const before = costs.total;
        yield* addShard(costs, view, scope);
        if (costs.total > before) shards++;
      }
    } finally {
      opened?.close();
    }
  }
  const { values: cachedValues, blocks, blockBytes, segments } = costs;
  const series = selection?.groups.series.length ?? 0;
  yield { shards, series, cachedValues, files: segments.size, blocks, blockBytes };
}

/** The aggregates, if chunks are planned: not where rows are compared with a condition. */
function plannedOf({ aggregate }: CostRequest): CostRequest['aggregate'] {
  const residual = commonResidual(aggregate?.where);
  return residual !== undefined && residual.condition === undefined ? aggregate : undefined;
}

/** The fields that are planned, then the others. */
function fieldsOf(
  { fields }: CostRequest,
  planned: CostRequest['aggregate'],
): PieceRequest['fields'] {
  const requested = planned === undefined ? [] : requestedFields(planned);
  const names = new Set(requested.map(({ field }) => field));
  return [
    ...requested.map(({ field, type }) => ({ name: field, type })),
    ...fields.filter((name) => !names.has(name)).map((name) => ({ name })),
  ];
}

/** Pieces between two pauses, at a microsecond each. */
const STEP_PIECES = 256;

function* addShard(
  costs: PieceCosts,
  view: ShardView,
  { selection, selected, read, isAsked, windows }: Scope,
): Generator<undefined> {
  const { id } = selection.measurement;
  const long = longRanges(view.segments.flatMap((segment) => segment.measurement(id) ?? []));
  let seen = 0;
  const sources = pieceSources(view, read);
  for (const source of sources) {
    for (const range of gapsOf(long)) {
      for (const piece of source.within(range, (series) => selected.has(series))) {
        piece?.addCost(costs, isAsked);
        if (++seen % STEP_PIECES === 0) yield undefined;
      }
    }
  }
  for (const series of selected) {
    if (!isInRanges(long, series) || !view.series.has(series)) continue;
    for (const pieces of overlappingPieces(sources, series)) {
      const chunk = pieces.length === 1 ? pieces[0]?.chunk : undefined;
      const uses = chunk && windows?.plan(chunk).uses;
      const isRead = (index: number): boolean => isAsked(index) && reads(uses?.[index]);
      for (const piece of pieces) piece.addCost(costs, isRead);
      if (++seen % STEP_PIECES === 0) yield undefined;
    }
  }
}

/** Whether a column is read for this use; without a plan all are. */
function reads(use: ColumnUse | undefined): boolean {
  return use !== 'none' && use !== 'entry';
}
