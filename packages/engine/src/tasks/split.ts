// Splitting tasks by group: what a definition or the configuration requests, and what a script
// allows (docs/adr/0025-split-tasks.md).
import { InvalidRequest } from '@tidemark/core';
import { splitOf } from '@tidemark/pipeline';
import type { Pipeline } from '@tidemark/pipeline';
import type { TaskPart } from '@tidemark/runtime';
import type { TaskRecord } from '../store/records.ts';
import { diagnosticAt, spanOf } from './start-diagnostics.ts';
import { PARTS_MAX } from '../limits.ts';

const CODE = 'TICK_NOT_SPLIT';

/** How an engine splits tasks. */
export type SplitSetting = {
  /** False without a cluster: every task runs as a whole. */
  readonly isOn: boolean;
  /** Number of parts of a task that does not specify it, if it can be split. */
  readonly byDefault: number;
};

/** Reads `split` of a document. Throws `InvalidRequest` for an invalid number of parts. */
export function readSplit(value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined;
  const count = typeof value === 'number' || typeof value === 'bigint' ? Number(value) : -1;
  if (Number.isInteger(count) && count >= 0 && count <= PARTS_MAX.value) return count;
  throw new InvalidRequest(
    `split must be a number of parts up to ${PARTS_MAX.value}, or 0 to use the configuration`,
  );
}

/**
 * The number of parts in which a task runs for a requested number; `undefined` requests none.
 * Throws `InvalidRequest` with the place in the script that prevents splitting.
 */
export function checkSplit(
  asked: number | undefined,
  { script, pipeline }: { readonly script: string; readonly pipeline: Pipeline },
  { isOn, byDefault }: SplitSetting,
): number {
  const wanted = asked ?? byDefault;
  if (wanted <= 1) return 1;
  const { refusal } = splitOf(pipeline);
  if (refusal === undefined) return isOn ? Math.min(wanted, PARTS_MAX.value) : 1;
  if (asked === undefined) return 1;
  const { node, text, properties = [], hint } = refusal;
  const message = `the task cannot be split: ${text}`;
  const span = spanOf(node, properties);
  const diagnostic = diagnosticAt(script, span, { code: CODE, message, hint });
  throw new InvalidRequest(`line ${diagnostic.line} char ${diagnostic.column}: ${message}`, {
    hint,
    diagnostics: [diagnostic],
  });
}

/** The parts with which a stored task is started; `undefined` for a whole task. */
export function partsOf(
  { parts = 1 }: Pick<TaskRecord, 'parts'>,
  pipeline: Pipeline,
): Omit<TaskPart, 'index'> | undefined {
  const { by } = parts > 1 ? splitOf(pipeline) : {};
  return by === undefined ? undefined : { count: parts, by };
}
