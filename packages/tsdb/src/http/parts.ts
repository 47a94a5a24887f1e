// What the handlers of the endpoints use; each takes what it needs.
import type { RequestMetrics, Timestamp } from '@tidemark/core';
import type { ParseCache } from '@tidemark/influxql';
import type { Documents } from '@tidemark/process';
import type { Storage } from '@tidemark/storage-api';
import type { Logger } from 'pino';

import type { Authenticator } from '../auth/authenticator.ts';
import type { Identity } from '../auth/identity.ts';
import type { BackupService } from '../backup/backup-service.ts';
import type { TsdbConfig } from '../config/schema.ts';
import type { AuditLog } from '../log/audit-log.ts';
import type { StatementServices } from '../statements/context.ts';
import type { RequestTracker } from '../stats/request-counts.ts';
import type { HttpCounters } from '../stats/statistics.ts';
import type { PrecisionDoubts } from '../write/precision-doubt.ts';
import type { RejectedLog } from '../write/rejected-lines.ts';
import type { BodyLimits } from './body.ts';
import type { Exchange } from './exchange.ts';
import type { Readiness } from './readiness.ts';
import type { WriteGate } from './write-gate.ts';

export type HttpParts = {
  readonly audit: AuditLog;
  readonly authenticator: Authenticator;
  readonly backups: BackupService;
  readonly bodies: BodyLimits;
  readonly config: TsdbConfig;
  readonly counters: HttpCounters;
  readonly documents: Documents;
  readonly gate: WriteGate;
  readonly log: Logger;
  readonly metrics: RequestMetrics;
  readonly precisionDoubts: PrecisionDoubts;
  readonly readiness: Readiness;
  /** Rejected lines of all protocols. */
  readonly rejected: RejectedLog;
  readonly requests: RequestTracker;
  /** Sets the level of the service's log and its children. */
  readonly setLogLevel: (level: string) => void;
  readonly startedAt: Timestamp;
  readonly statements: StatementServices;
  readonly storage: Storage;
  readonly texts: ParseCache;
};

/** The client is identified, and has the rights that the handler does not check itself. */
export type Handler = (
  exchange: Exchange,
  parts: HttpParts,
  identity: Identity,
) => Promise<void> | void;
