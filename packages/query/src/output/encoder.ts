// The contract of output formats. One loop runs the statements (`write-statements.ts`); an encoder
// only defines what their results look like.
import type { Diagnostic } from '@tidemark/core';

import type { SeriesText } from '../context.ts';
import type { ResultBatch, ResultMessage } from '../result.ts';
import type { TextBuffer } from './bytes.ts';

/** The end of a statement, or of one response chunk of it, after the rows. */
export type StatementEnd = {
  readonly messages: readonly ResultMessage[];
  /** More of the statement follows in the next response chunk, or is left out. */
  readonly isPartial: boolean;
  /** The same for the last series. */
  readonly cutsSeries: boolean;
  /** Why the statement failed, and its text. The format decides whether earlier rows stay. */
  readonly failure: { readonly text: string; readonly cause: unknown } | undefined;
  readonly diagnostics: readonly Diagnostic[];
};

/**
 * One format. Called in the order `begin (open batch* close)* finish`, once per document; an
 * abandoned document is followed by `begin`.
 */
export interface Encoder {
  /**
   * The written bytes. Bytes may be taken between any two calls, and all of them be dropped before
   * `begin`.
   */
  readonly out: TextBuffer;
  /** Begins a document with this many statements. */
  begin(statementCount: number): void;
  open(statementId: number): void;
  /**
   * Rows of a series: of the previous one if the batch continues it and there is one since `open`.
   * Throws `UnsupportedFloat` if the format lacks such a number; nothing of the batch is written
   * then.
   */
  batch(batch: ResultBatch): void;
  /**
   * Takes text that another encoder of the same format has written for all series of a statement.
   */
  readonly seriesText?: Omit<SeriesText, 'maxRows'> | undefined;
  close(end: StatementEnd): void;
  finish(): void;
}
