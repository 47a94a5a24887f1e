// The loop over the statements of a request, the same for all formats.
import { AppError } from '@tidemark/core';

import type { SeriesText } from '../context.ts';
import { flatMapBatches } from '../operator.ts';
import type { Operator } from '../operator.ts';
import { answerParts, RowBudget } from './chunks.ts';
import type { AnswerPart } from './chunks.ts';
import { faultsOf, relocated } from './diagnostics.ts';
import type { Encoder, StatementEnd } from './encoder.ts';
import { UnsupportedFloat } from './number-text.ts';
import type { StatementRun } from './write-results.ts';

const PIECE_BYTES = 64 * 1024;

/** The end of a statement without anything to report. */
const NOTHING: StatementEnd = {
  messages: [],
  isPartial: false,
  cutsSeries: false,
  failure: undefined,
  diagnostics: [],
};
const NOT_EXECUTED: StatementEnd = {
  ...NOTHING,
  failure: { text: 'not executed', cause: undefined },
};

/** Precedes the reason when an answer has a number that JSON lacks: bare text, as recorded. */
const UNENCODABLE =
  'json: error calling MarshalJSON for type httpd.Response: ' +
  'json: error calling MarshalJSON for type *query.Result: ';

export type WriteOptions = {
  /**
   * Rows of one response chunk, which is a document of its own; `undefined` is one document for all
   * statements.
   */
  readonly chunkRows: number | undefined;
  /** Rows of all statements together; 0 and absent mean unlimited. */
  readonly maxRows: number | undefined;
  /** Whether ends contain the diagnostics about the text. */
  readonly hasDiagnostics: boolean;
};

/** Runs the statements and yields the encoder's output. */
export function writeStatements(
  statements: readonly StatementRun[],
  encoder: Encoder,
  options: WriteOptions,
): Operator<Uint8Array> {
  return new AnswerWriter(encoder, options).write(statements);
}

/** One answer. */
class AnswerWriter {
  readonly #encoder: Encoder;
  readonly #options: WriteOptions;
  readonly #isChunked: boolean;
  readonly #budget: RowBudget;
  #hasFailed = false;
  /** Whether a part of the current document has been sent. */
  #hasLeft = false;
  /** Length of the encoder's output without the rows since `open`. */
  #openLength = 0;

  constructor(encoder: Encoder, options: WriteOptions) {
    this.#encoder = encoder;
    this.#options = options;
    this.#isChunked = options.chunkRows !== undefined;
    this.#budget = new RowBudget(options.maxRows);
  }

  *write(statements: readonly StatementRun[]): Operator<Uint8Array> {
    const encoder = this.#encoder;
    const isOneDocument = !this.#isChunked || statements.length === 0;
    if (isOneDocument) encoder.begin(statements.length);
    try {
      for (const [statementId, statement] of statements.entries()) {
        this.#open(statementId);
        if (this.#hasFailed) this.#close(NOT_EXECUTED);
        else yield* this.#statement(statementId, statement);
        if (this.#isChunked) yield encoder.out.take();
      }
    } catch (cause) {
      if (!(cause instanceof UnsupportedFloat)) throw cause;
      encoder.out.take();
      encoder.out.text(`${UNENCODABLE}${cause.message}\n`);
      yield encoder.out.take();
      return;
    }
    if (!isOneDocument) return;
    encoder.finish();
    yield encoder.out.take();
  }

  /** Writes everything of a statement after its `open`. */
  *#statement(statementId: number, statement: StatementRun): Operator<Uint8Array> {
    let failure: StatementEnd['failure'];
    this.#budget.startStatement();
    try {
      const { chunkRows } = this.#options;
      const parts = answerParts(statement.run(this.#seriesText), this.#budget, chunkRows);
      yield* flatMapBatches(parts, (part) => this.#part(statementId, part));
      statement.onEnd?.({ error: undefined });
    } catch (cause) {
      statement.onEnd?.({ error: cause });
      // Nothing has been sent yet, so the answer can still be the recorded one.
      if (cause instanceof UnsupportedFloat && !this.#hasLeft) throw cause;
      failure = { text: statementError(cause), cause };
      this.#hasFailed = true;
      if (this.#isChunked) {
        this.#encoder.out.take();
        this.#open(statementId);
      }
    }
    const end = this.#end(statement, failure);
    // Diagnostics about the text have a chunk of their own after those of the rows.
    const hasRows = this.#encoder.out.length > this.#openLength;
    if (this.#isChunked && hasRows && failure === undefined && end.diagnostics.length > 0) {
      yield this.#chunk(statementId, { ...end, diagnostics: [] });
    }
    this.#close(end);
  }

  *#part(statementId: number, { batch, startsChunk }: AnswerPart): Operator<Uint8Array> {
    if (startsChunk) {
      const cutsSeries = batch.isContinuation;
      yield this.#chunk(statementId, { ...NOTHING, isPartial: true, cutsSeries });
    }
    this.#encoder.batch(batch);
    yield this.#piece();
  }

  /** Text cannot be cut after a row. */
  get #seriesText(): SeriesText | undefined {
    const { seriesText } = this.#encoder;
    if (seriesText === undefined || this.#budget.isLimited) return undefined;
    return { ...seriesText, maxRows: this.#options.chunkRows ?? Number.POSITIVE_INFINITY };
  }

  #open(statementId: number): void {
    if (this.#isChunked) this.#encoder.begin(1);
    this.#encoder.open(statementId);
    this.#openLength = this.#encoder.out.length;
  }

  #close(end: StatementEnd): void {
    this.#encoder.close(end);
    if (this.#isChunked) this.#encoder.finish();
  }

  /** Ends a response chunk and begins the next of the same statement. */
  #chunk(statementId: number, end: StatementEnd): Uint8Array {
    this.#close(end);
    const chunk = this.#encoder.out.take();
    this.#open(statementId);
    return chunk;
  }

  /** The bytes that may be sent after a part: a response chunk is only sent as a whole. */
  #piece(): Uint8Array | undefined {
    const { out } = this.#encoder;
    if (this.#isChunked || out.length < PIECE_BYTES) return undefined;
    this.#hasLeft = true;
    return out.handOver();
  }

  #end(statement: StatementRun, failure: StatementEnd['failure']): StatementEnd {
    const isWhole = failure === undefined;
    const faults = isWhole ? [] : faultsOf(failure.cause, statement.span);
    const budget = this.#budget;
    return {
      messages: isWhole || !this.#isChunked ? (statement.messages?.() ?? []) : [],
      isPartial: isWhole && (statement.isPartial?.() === true || budget.lacksSeries),
      cutsSeries: isWhole && budget.hasCut,
      failure,
      diagnostics: this.#options.hasDiagnostics
        ? [...faults, ...(statement.findings?.() ?? [])].map((finding) =>
            relocated(statement.offsetInText, finding),
          )
        : [],
    };
  }
}

/** The text of a statement's error; other errors are rethrown. */
function statementError(cause: unknown): string {
  if (cause instanceof AppError || cause instanceof UnsupportedFloat) return cause.message;
  throw cause;
}
