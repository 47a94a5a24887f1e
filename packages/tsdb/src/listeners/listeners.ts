// Connects the database to the listeners that it shares with the task engine
// (`@tidemark/listeners`).
import type { Budget, Clock, OpenParts } from '@tidemark/core';
import { openProtocolListeners, PointSources } from '@tidemark/listeners';
import type { Logger } from 'pino';

import type { Catalog } from '../catalog/catalog.ts';
import { createDatabase } from '../catalog/databases.ts';
import type { TsdbConfig } from '../config/schema.ts';
import type { Statistics } from '../stats/statistics.ts';
import type { RejectedLog } from '../write/rejected-lines.ts';
import type { WriteService } from '../write/write-service.ts';

export type ListenerParts = {
  readonly config: TsdbConfig;
  readonly catalog: Catalog;
  readonly writer: WriteService;
  readonly clock: Clock;
  readonly log: Logger;
  readonly rejected: RejectedLog;
  /** Memory for all bodies of the process. */
  readonly bodies: Budget;
  readonly statistics: Statistics;
};

/** Opens the configured listeners and creates their databases. They are closed with `parts`. */
export async function openListeners(
  { config, catalog, writer, clock, log, rejected, bodies, statistics }: ListenerParts,
  parts: OpenParts,
): Promise<void> {
  const sources = new PointSources({
    writer,
    clock,
    log,
    prepare: async (name) => {
      await catalog.change((state) =>
        createDatabase(state, { name, hasOptions: false, options: {}, createsPolicy: true }),
      );
    },
    onRejected: (origin, lines) => rejected.add(origin, lines),
  });
  parts.add(() => sources.close());
  statistics.add(() =>
    sources.statistics().map(({ kind, bind, counters }) => ({
      name: kind,
      tags: { bind },
      values: { ...counters },
    })),
  );
  await openProtocolListeners(sources, { config, clock, log, bodies });
}
