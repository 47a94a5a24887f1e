// SeriesSource over the cluster.
import { AGGREGATE_FUNCTIONS, eachMeasurement, collectNames } from '@tidemark/query';
import type { SeriesSource, SourceCapabilities, SourceSnapshot } from '@tidemark/query';

import { aggregate } from './aggregate.ts';
import { cost } from './cost.ts';
import { scan } from './scan.ts';
import type { ReadParts } from './scan.ts';
import { schema } from './schema.ts';

/** Each statement of a request sees what was stored when it began. */
const CAPABILITIES: SourceCapabilities = {
  hasSnapshots: false,
  filtersFields: true,
  calculatesConditions: false,
  ranksRows: false,
  aggregateFunctions: new Set(AGGREGATE_FUNCTIONS),
  foldFunctions: new Set(),
};

export function clusterSource(parts: ReadParts): SeriesSource {
  return { capabilities: CAPABILITIES, snapshot: () => snapshotOf(parts) };
}

function snapshotOf(parts: ReadParts): SourceSnapshot {
  return {
    schema: (request, options) => schema(parts, request, options),
    names: (filter, options) =>
      collectNames(filter.database, schema(parts, { kind: 'names', filter }, options)),
    scan: (request, options) => scan(parts, request, options),
    aggregate: (request, options) =>
      eachMeasurement(request, (one) => aggregate(parts, one, options)),
    cost: (request, options) => cost(parts, request, options),
    close: () => undefined,
  };
}
