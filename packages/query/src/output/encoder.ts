// The contract of output formats. One loop runs the statements (`write-statements.ts`); an encoder
// only defines what their results look like.
import type { Diagnostic } from '@tidemark/core';

import type { SeriesText } from '../context.ts';
import type { ResultBatch, ResultMessage } from '../result.ts';
import type { TextBuffer } from './bytes.ts';

/** What stands behind the rows of a statement, or of one response chunk of it. */
export type StatementEnd = {
  readonly messages: readonly ResultMessage[];
  /** More of the statement follows in the next response chunk, or is left out. */
  readonly isPartial: boolean;
  /** The same of the last series. */
  readonly cutsSeries: boolean;
  /**
   * Why the statement failed, and the text of it. Rows that came before stay or go, as the format
   * has it.
   */
  readonly failure: { readonly text: string; readonly cause: unknown } | undefined;
  readonly diagnostics: readonly Diagnostic[];
};

/**
 * One format. Called in the order `begin (open batch* close)* finish`, as often as there are
 * documents; a document that is given up is followed by `begin`.
 */
export interface Encoder {
  /**
   * What has been written. Bytes may be taken between any two calls, and all of them be dropped
   * before `begin`.
   */
  readonly out: TextBuffer;
  /** A document of that many statements. */
  begin(statementCount: number): void;
  open(statementId: number): void;
  /**
   * Rows of a series: of the one before when the batch continues it and there is one since `open`.
   * Throws `UnsupportedFloat` when the format has no such number; nothing of the batch is written
   * then.
   */
  batch(batch: ResultBatch): void;
  /** Takes what another encoder of the same format has written of all series of a statement. */
  readonly seriesText?: SeriesText | undefined;
  close(end: StatementEnd): void;
  finish(): void;
}
