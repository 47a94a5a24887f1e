// Parts of the service that endpoints need.
import type { RequestMetrics } from '@tidemark/core';
import type { Logger } from 'pino';

import type { Authenticator } from '../auth/authenticator.ts';
import type { BackupService } from '../backup/backup-service.ts';
import type { TsdbConfig } from '../config/schema.ts';
import type { StatementServices } from '../statements/context.ts';
import type { BodyLimits } from './body.ts';
import type { RequestTracker } from '../stats/request-counts.ts';
import type { HttpCounters, WriteCounters } from '../stats/statistics.ts';
import type { PrecisionDoubts } from '../write/precision-doubt.ts';
import type { RejectedLog } from '../write/rejected-lines.ts';
import type { AccessLog } from '../log/access-log.ts';
import type { AuditLog } from '../log/audit-log.ts';

/** `recovering`: storage reads its log, after the start or because its thread has failed. */
export type ServiceState = 'ready' | 'recovering';

export type HttpServices = StatementServices & {
  readonly config: TsdbConfig;
  readonly log: Logger;
  readonly authenticator: Authenticator;
  readonly counters: HttpCounters;
  readonly bodies: BodyLimits;
  /** Requests by endpoint, and how long writes and queries take. */
  readonly metrics: RequestMetrics;
  readonly writeCounters: WriteCounters;
  readonly requests: RequestTracker;
  readonly rejected: RejectedLog;
  readonly precisionDoubts: PrecisionDoubts;
  /** Where requests are logged; without it, in the service log at level debug. */
  readonly accessLog: AccessLog | undefined;
  /** Every change of state by a user, and every refusal, goes here. */
  readonly audit: AuditLog;
  readonly backups: BackupService;
  /** The present time, RFC 3339. */
  readonly nowText: () => string;
  /** Wall time of the start, RFC 3339. */
  readonly startedText: string;
  /** What /health says. */
  readonly state: () => ServiceState;
  /** For this service's log and everything that logs through it. */
  readonly setLogLevel: (level: string) => void;
};
