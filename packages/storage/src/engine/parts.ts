// The parts of an engine, which `open-engine.ts` assembles.
import type { DirectoryLock } from '@tidemark/process';
import type { StorageLog } from '@tidemark/storage-api';

import type { BackupOptions } from '../backup/create.ts';
import type { Checkpoints } from '../jobs/checkpoints.ts';
import type { Compaction } from '../jobs/compaction.ts';
import type { Flush } from '../jobs/flush.ts';
import type { IndexRebuilds } from '../jobs/rebuild-indexes.ts';
import type { Restores } from '../jobs/restore.ts';
import type { Stopping } from '../jobs/stopping.ts';
import type { LocalSourceOptions } from '../read/local-source.ts';
import type { EngineReaders } from '../read/leased-read.ts';
import type { Reclaimer } from '../state/reclaimer.ts';
import type { State } from '../state/state.ts';
import type { Wal } from '../wal/wal.ts';
import type { Deletes } from '../write/deletes.ts';
import type { Writes } from '../write/writes.ts';

export type EngineParts = {
  readonly state: State;
  readonly wal: Wal;
  readonly reclaimer: Reclaimer;
  readonly reading: Omit<LocalSourceOptions, 'snapshot'>;
  readonly readers: EngineReaders | undefined;
  readonly writes: Writes;
  readonly deletes: Deletes;
  readonly flush: Flush;
  readonly checkpoints: Checkpoints;
  readonly compaction: Compaction;
  readonly rebuilds: IndexRebuilds;
  readonly backup: BackupOptions;
  readonly restores: Restores;
  readonly stopping: Stopping;
  readonly log: StorageLog;
  readonly lock: DirectoryLock | undefined;
  /** Background work; resolves after closing has begun. `undefined` when there is none. */
  readonly background: Promise<void> | undefined;
};
