// Earlier definitions of tasks: the latest of them with time and user. Values of secret vars are
// not kept.
import { printVars } from '@tidemark/pipeline';
import { printJson } from '../formats/json.ts';
import type { Table } from '../store/table.ts';
import type { StoreChange } from '../store/tables.ts';
import type { TaskRecord } from '../store/records.ts';
import { varsOf } from './definition.ts';
import { hideSecretVars } from './secret-vars.ts';

export type TaskVersion = Pick<TaskRecord, 'templateId' | 'type' | 'dbrps' | 'script' | 'split'> & {
  /** Increases; gaps are versions that were dropped. */
  readonly number: number;
  readonly time: string;
  /** The user who defined it; '' without authentication, and for files. */
  readonly user: string;
  /** Vars as the API shows them. */
  readonly varsJson: string;
};

/** All versions of a task, the oldest first. */
export type TaskVersionsRecord = { readonly versions: readonly TaskVersion[] };

export class TaskVersions {
  readonly #table: Table<TaskVersionsRecord>;
  readonly #keptMax: number;

  /** `keptMax`: `task.keep-versions`, for each task; 0 keeps none. */
  constructor(table: Table<TaskVersionsRecord>, keptMax: number) {
    this.#table = table;
    this.#keptMax = keptMax;
  }

  /** The newest first; the first is the present definition. */
  list(id: string): readonly TaskVersion[] {
    return this.#of(id).toReversed();
  }

  /** Changes that accompany those of a task: its definition, its new id. */
  changes(before: TaskRecord | undefined, after: TaskRecord, user: string): readonly StoreChange[] {
    const stored = this.#of(before?.id ?? after.id);
    const isRenamed = before !== undefined && before.id !== after.id;
    // A task from before versions were kept gets its present definition as the first one.
    const known = stored.length === 0 && before !== undefined ? [versionOf(before, 1, '')] : stored;
    const last = known.at(-1);
    const next = versionOf(after, (last?.number ?? 0) + 1, user);
    const isSame = last !== undefined && contentOf(last) === contentOf(next);
    const versions = isSame ? known : [...known, next];
    const kept = this.#keptMax === 0 ? [] : versions.slice(-this.#keptMax);
    return this.#table.changes(...(isRenamed ? [{ id: before.id, value: undefined }] : []), {
      id: after.id,
      value: kept.length === 0 ? undefined : { versions: kept },
    });
  }

  /** Changes that accompany the deletion of a task. */
  removals(id: string): readonly StoreChange[] {
    return this.#table.changes({ id, value: undefined });
  }

  #of(id: string): readonly TaskVersion[] {
    return this.#table.get(id)?.versions ?? [];
  }
}

function versionOf(record: TaskRecord, number: number, user: string): TaskVersion {
  const { templateId, type, dbrps, script, split, modified: time } = record;
  const varsJson = printJson(printVars(hideSecretVars(varsOf(record))));
  const asked = split === undefined ? {} : { split };
  return { number, time, user, templateId, type, dbrps, script, varsJson, ...asked };
}

function contentOf({ templateId, dbrps, script, varsJson, split }: TaskVersion): string {
  return JSON.stringify([templateId, dbrps, script, varsJson, split]);
}
