// State of running tasks on disk, so that windows, counters and alert levels go on where they were after a restart of
// the engine. A task that is disabled and enabled again starts anew.
import { createHash } from 'node:crypto';
import { deserialize, serialize } from 'node:v8';
import type { Database } from 'lmdb';
import type { RunningTask, TaskSnapshot } from '@tidemark/runtime';
import type { Executor } from './executor.ts';
import type { Logger } from './log-hub.ts';
import type { Metadata } from './metadata.ts';
import type { TaskRecord } from './records.ts';

type Stored = { readonly definition: string; readonly snapshot: TaskSnapshot };

export class Snapshots {
  readonly #table: Database<Buffer, string>;
  readonly #metadata: Metadata;
  readonly #log: Logger;

  constructor(metadata: Metadata, log: Logger) {
    this.#metadata = metadata;
    this.#table = metadata.root.openDB({ name: 'snapshots', encoding: 'binary' });
    this.#log = log;
  }

  /** Saves the state of all running tasks. Resolves when it is on disk. */
  async saveAll(
    executor: Executor,
    recordOf: (id: string) => TaskRecord | undefined,
  ): Promise<void> {
    const kept = new Set<string>();
    await this.#metadata.atomically(() => {
      for (const { id, task } of executor.all()) {
        const record = recordOf(id);
        if (record === undefined) continue;
        const stored: Stored = { definition: definitionOf(record), snapshot: task.snapshot() };
        void this.#table.put(id, serialize(stored));
        kept.add(id);
      }
      for (const id of this.#table.getKeys()) if (!kept.has(id)) void this.#table.remove(id);
    });
  }

  /** Gives a task its state back, if there is one of the same definition. */
  restore(record: TaskRecord, task: RunningTask): void {
    const bytes = this.#table.get(record.id);
    if (bytes === undefined) return;
    try {
      const stored = deserialize(bytes) as Stored;
      if (stored.definition === definitionOf(record)) task.restore(stored.snapshot);
    } catch (error) {
      // Written by another version; the task starts without it.
      this.#log('warn', 'failed to restore the state of a task', {
        task: record.id,
        err: String(error),
      });
    }
  }
}

// State belongs to nodes of one script with one set of vars.
function definitionOf(record: TaskRecord): string {
  return createHash('sha256')
    .update(record.script)
    .update('\u0000')
    .update(record.varsJson)
    .digest('hex');
}
