// Stored records of tasks, templates, recordings and replays. Times are RFC 3339 text, '' for
// never.
import type { EdgeType } from '@tidemark/pipeline';

export type Dbrp = { readonly db: string; readonly rp: string };
export type TaskStatus = 'enabled' | 'disabled';

export type TaskRecord = {
  readonly id: string;
  /** '' for a task with a script of its own. */
  readonly templateId: string;
  readonly type: EdgeType;
  readonly dbrps: readonly Dbrp[];
  readonly script: string;
  /**
   * JSON text of the vars as the API accepts them, with their secrets; text because integers keep
   * all their digits.
   */
  readonly varsJson: string;
  readonly status: TaskStatus;
  readonly error: string;
  readonly created: string;
  readonly modified: string;
  readonly lastEnabled: string;
  /** Number of parts in the definition; absent when it has none. */
  readonly split?: number | undefined;
  /** Number of parts that it runs in since it was last defined or enabled; one when absent. */
  readonly parts?: number | undefined;
};

export type TemplateRecord = {
  readonly id: string;
  readonly type: EdgeType;
  readonly script: string;
  readonly error: string;
  readonly created: string;
  readonly modified: string;
};

export type JobStatus = 'running' | 'failed' | 'finished';

export type RecordingRecord = {
  readonly id: string;
  readonly type: EdgeType;
  readonly sizeBytes: number;
  readonly date: string;
  readonly error: string;
  readonly status: JobStatus;
  readonly progress: number;
  /** The databases of its data; absent in records of older versions. */
  readonly databases?: readonly string[] | undefined;
  /** Id of the instance that has the file; only in a cluster. */
  readonly instance?: string | undefined;
};

export type ReplayRecord = {
  readonly id: string;
  readonly task: string;
  /** '' for a replay without a recording. */
  readonly recording: string;
  readonly isRecordingTime: boolean;
  readonly clock: 'fast' | 'real';
  readonly date: string;
  readonly error: string;
  readonly status: JobStatus;
  readonly progress: number;
  /** As for recordings; includes those of the task. */
  readonly databases?: readonly string[] | undefined;
  /** JSON text of the statistics at the end. */
  readonly statsJson: string;
};

/** The text in answers for a time that is not set. */
export const ZERO_TIME = '0001-01-01T00:00:00Z';
