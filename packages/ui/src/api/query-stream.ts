// Streams results of statements: only the wanted rows are read, the rest waits in the server's
// cursor.
import { parseLossless, readFailure } from '@tidemark/client';
import type { Cell, QueryResponse, ResponseDiagnostic, Series } from '@tidemark/client';

import { InvalidRequest } from '@tidemark/core';

import { readingOf } from '../query/read-only.ts';
import { serviceFetch } from './clients.ts';
import { isAbort } from './problem.ts';

/** One series of a statement's answer, assembled from its chunks. */
export type AnswerSeries = {
  readonly name: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
};

/** The answer to one statement; each statement of a text has its own, errors included. */
export type StatementAnswer = {
  readonly id: number;
  readonly series: readonly AnswerSeries[];
  readonly rowCount: number;
  readonly error?: string | undefined;
  readonly messages: readonly string[];
  readonly diagnostics: readonly ResponseDiagnostic[];
};

export type QueryAnswer = {
  readonly statements: readonly StatementAnswer[];
  /** Why the text as a whole was refused, for example for a syntax error. */
  readonly error?: string | undefined;
  readonly diagnostics: readonly ResponseDiagnostic[];
  readonly rowCount: number;
  /** Whether there are rows that were not read. */
  readonly hasMore: boolean;
  /** Time to the first byte, and until now. */
  readonly firstByteMs: number;
  readonly elapsedMs: number;
  readonly sizeBytes: number;
};

export type QueryRequest = {
  readonly text: string;
  readonly database?: string | undefined;
  readonly retentionPolicy?: string | undefined;
  readonly epoch?: 'ns' | 'u' | 'ms' | 's' | undefined;
  /** The user pressed Run. Any other text is sent only if all of its statements read. */
  readonly isRunByUser?: boolean | undefined;
};

/** Rows per chunk: small enough to read little too far, large enough to be quick. */
const CHUNK_ROWS = 2000;

/**
 * A cursor that nobody reads is closed after this time, so that it holds nothing open; reading on
 * restarts it.
 */
const PARKED_MS = 20_000;

type GrowingAnswer = Omit<StatementAnswer, 'series'> & {
  readonly series: readonly GrowingSeries[];
};

type Answering = {
  statements: GrowingAnswer[];
  error: string | undefined;
  diagnostics: readonly ResponseDiagnostic[];
};

/** Reads the answer to a text. One reader per text; call `cancel` when no more rows are wanted. */
export class QueryCursor {
  readonly #request: QueryRequest;
  #controller = new AbortController();
  #documents: AsyncGenerator<QueryResponse> | undefined;
  #answering: Answering = { statements: [], error: undefined, diagnostics: [] };
  #isAtEnd = false;
  #rowCount = 0;
  /** Rows that a restarted cursor returns again. */
  #skip = 0;
  #sizeBytes = 0;
  #firstByteMs = 0;
  #elapsedMs = 0;
  #parked: number | undefined;

  /** Whether all statements read, so that the text may be sent a second time. */
  readonly #isReading: boolean;

  /** Throws the reason why a text that a user did not run is not sent. */
  constructor(request: QueryRequest) {
    const reading = readingOf(request.text);
    this.#request = request;
    this.#isReading = !('refusal' in reading);
    if ('refusal' in reading && request.isRunByUser !== true) {
      throw new InvalidRequest(reading.refusal);
    }
  }

  /** Reads `rowCount` more rows, or all that are left. Throws when the service does not answer. */
  async read(rowCount: number): Promise<QueryAnswer> {
    window.clearTimeout(this.#parked);
    const started = performance.now();
    const wanted = this.#rowCount + rowCount;
    this.#documents ??= this.#open(started);
    while (!this.#isAtEnd && this.#rowCount < wanted) {
      const { value, done } = await this.#documents.next();
      if (done === true) this.#isAtEnd = true;
      else this.#take(value);
    }
    this.#elapsedMs += performance.now() - started;
    if (!this.#isAtEnd && this.#isReading)
      this.#parked = window.setTimeout(() => this.#letGo(), PARKED_MS);
    const { statements, error, diagnostics } = this.#answering;
    return {
      // Copies: components detect changes by identity.
      statements: statements.map((one) => ({
        ...one,
        series: one.series.map((each) => ({ ...each, rows: [...each.rows] })),
      })),
      error,
      diagnostics,
      rowCount: this.#rowCount,
      hasMore: !this.#isAtEnd,
      firstByteMs: this.#firstByteMs,
      elapsedMs: this.#elapsedMs,
      sizeBytes: this.#sizeBytes,
    };
  }

  cancel(): void {
    window.clearTimeout(this.#parked);
    this.#controller.abort();
  }

  #letGo(): void {
    this.#controller.abort();
    this.#documents = undefined;
    this.#skip = this.#rowCount;
    this.#controller = new AbortController();
  }

  async *#open(started: number): AsyncGenerator<QueryResponse> {
    const { text, database, retentionPolicy, epoch } = this.#request;
    const form = new URLSearchParams({
      q: text,
      diagnostics: 'true',
      chunked: 'true',
      chunk_size: String(CHUNK_ROWS),
    });
    if (database !== undefined && database !== '') form.set('db', database);
    if (retentionPolicy !== undefined && retentionPolicy !== '') form.set('rp', retentionPolicy);
    if (epoch !== undefined) form.set('epoch', epoch);
    const response = await serviceFetch('tsdb', '/query', {
      method: 'POST',
      body: form,
      signal: this.#controller.signal,
    });
    // The error is about the service, not about the statements.
    if (response.status === 502 || response.status === 503)
      throw (await readFailure(response)).error;
    this.#firstByteMs = performance.now() - started;
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    if (reader === undefined) return;
    let rest = '';
    try {
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        this.#sizeBytes += value.length;
        rest += value;
        let end = rest.indexOf('\n');
        for (; end >= 0; end = rest.indexOf('\n')) {
          const line = rest.slice(0, end).trim();
          rest = rest.slice(end + 1);
          if (line !== '') yield parseLossless(line) as QueryResponse;
        }
      }
      if (rest.trim() !== '') yield parseLossless(rest) as QueryResponse;
    } finally {
      await reader.cancel().catch((error: unknown) => {
        // A reader of an aborted answer has nothing to cancel.
        if (!isAbort(error)) throw error;
      });
    }
  }

  #take(document: QueryResponse): void {
    if (document.error !== undefined) this.#answering.error = document.error;
    if (document.diagnostics !== undefined) this.#answering.diagnostics = document.diagnostics;
    const { statements } = this.#answering;
    for (const result of document.results ?? []) {
      const at = statements.findIndex(({ id }) => id === result.statement_id);
      const before = statements[at] ?? {
        id: result.statement_id,
        series: [],
        rowCount: 0,
        messages: [],
        diagnostics: [],
      };
      let series = before.series;
      let added = 0;
      for (const piece of result.series ?? []) {
        const rows = this.#unseen(piece.values ?? []);
        added += rows.length;
        series = appendPiece(series, piece, rows, this.#skip > 0);
      }
      const now: GrowingAnswer = {
        ...before,
        series,
        rowCount: before.rowCount + added,
        error: result.error ?? before.error,
        messages: [
          ...new Set([...before.messages, ...(result.messages ?? []).map(({ text }) => text)]),
        ],
        diagnostics: result.diagnostics ?? before.diagnostics,
      };
      this.#rowCount += added;
      if (at >= 0) statements[at] = now;
      else statements.push(now);
    }
    this.#answering.statements = [...statements];
  }

  #unseen(rows: readonly (readonly Cell[])[]): readonly (readonly Cell[])[] {
    const skipped = Math.min(this.#skip, rows.length);
    this.#skip -= skipped;
    return skipped === 0 ? rows : rows.slice(skipped);
  }
}

type GrowingSeries = Omit<AnswerSeries, 'rows'> & { readonly rows: (readonly Cell[])[] };

/** A chunk continues the last series if it has the same name and tags. */
function appendPiece(
  series: readonly GrowingSeries[],
  piece: Series,
  rows: readonly (readonly Cell[])[],
  isSeen: boolean,
): readonly GrowingSeries[] {
  const tags = piece.tags ?? {};
  const name = piece.name ?? '';
  const last = series.at(-1);
  const isSame =
    last?.name === name &&
    last.columns.length === piece.columns.length &&
    JSON.stringify(last.tags) === JSON.stringify(tags);
  if (last !== undefined && isSame) {
    // Rows are appended in place: long answers come in hundreds of chunks.
    for (const row of rows) last.rows.push(row);
    return series;
  }
  if (isSeen && rows.length === 0) return series;
  return [...series, { name, tags, columns: piece.columns, rows: [...rows] }];
}
