// GET and POST /query: statements in, results out, streamed.
import { AppError, InvalidRequest } from '@tidemark/core';
import type { Diagnostic, Holder } from '@tidemark/core';
import { ParseCache, printStatement, redactInMessage } from '@tidemark/influxql';
import type { CachedParseResult, Query, Statement } from '@tidemark/influxql';
import { isFromBrowser } from '@tidemark/process';
import {
  checkRegex,
  contentType,
  diagnosticDocument,
  eachPulled,
  located,
  relocated,
  writeResults,
} from '@tidemark/query';
import type { DiagnosticDocument, Pulled, ResultMessage, StatementRun } from '@tidemark/query';

import type { Identity } from '../auth/identity.ts';
import type { TsdbConfig } from '../config/schema.ts';
import { deprecatedGet, MISSING_QUERY } from '../compat/messages.ts';
import type { RunningQuery } from '../query/running-queries.ts';
import { driverOf } from '../statements/context.ts';
import type { StatementContext } from '../statements/context.ts';
import { qualifyForDisplay } from '../statements/continuous-query-text.ts';
import { authorizeQuery, requirementsOf } from '../statements/privileges.ts';
import { rowOf } from '../statements/registry.ts';
import { readProgress, sendCsvError, sendEmpty, sendError, sendJson } from './answer.ts';
import { readBody } from './body.ts';
import type { Exchange } from './exchange.ts';
import type { HttpParts } from './parts.ts';
import { allParameters, readQueryRequest } from './query-parameters.ts';
import type { QueryRequest } from './query-parameters.ts';
import { streamAnswer } from './stream-answer.ts';
import { warnOfUnknown } from './unknown-parameters.ts';

/** Further findings are only in the body. */
const DIAGNOSTICS_HEADER_BYTES = 2048;

export async function handleQuery(
  exchange: Exchange,
  parts: HttpParts,
  identity: Identity,
): Promise<void> {
  const body =
    exchange.method === 'POST' ? await readBody(exchange, parts.bodies) : new Uint8Array(0);
  const { http } = parts.config;
  const parameters = allParameters(exchange, body, http.maxParameters);
  if (body.length > 0) warnOfUnknown(exchange, parameters);
  if (parameters.get('q').trim() === '') throw new InvalidRequest(MISSING_QUERY);
  const request = readQueryRequest(exchange, parameters, http);
  const { query, error, diagnostics, offsetInText } = parts.texts.parse(request.text, {
    parameters: request.bindParameters,
  });
  if (error !== undefined) return refuseText(exchange, request, { error, diagnostics });
  try {
    checkQuery(query, { exchange, parts, identity, request });
  } catch (error) {
    if (request.format.hasDiagnostics === true && error instanceof AppError) {
      const everything = { start: 0, end: request.text.length };
      const findings = error.diagnostics.map((finding) => relocated(offsetInText, finding));
      exchange.diagnostics = (findings.length > 0 ? findings : located(error, everything)).map(
        diagnosticDocument,
      );
    }
    throw error;
  }
  if (query.statements.length === 0) return sendJson(exchange, 200, {});
  const run = new QueryRun({ exchange, parts, identity, request, query, offsetInText });
  await run.begin();
  if (request.isAsync) {
    sendEmpty(exchange);
    return run.inBackground();
  }
  await run.answer();
}

/** Throws if any part of the request is forbidden, before it runs. */
function checkQuery(
  query: Query,
  { exchange, parts, identity, request }: Omit<QueryRunOptions, 'query' | 'offsetInText'>,
): void {
  limitStatements(query, parts.config.coordinator.maxStatementsPerRequest);
  authorizeQuery(query, identity, request.database);
  const isStrict = parts.config.http.strictVerbs || isFromBrowser(exchange.request);
  if (isStrict && exchange.method === 'GET') refuseChanges(query);
}

/** The parse cache for the texts of requests. */
export function queryTexts(config: TsdbConfig['coordinator']): ParseCache {
  const limits = {
    maxTokens: config.maxQueryTokens,
    maxDepth: config.maxQueryDepth,
    maxOperators: config.maxQueryOperators,
    maxRegexLength: config.maxRegexLength,
  };
  return new ParseCache({ limits, checkRegex });
}

function limitStatements({ statements }: Query, limit: number): void {
  const first = limit === 0 ? undefined : statements[limit];
  if (first === undefined) return;
  throw refused(
    `max-statements-per-request limit exceeded: (${statements.length}/${limit})`,
    first,
    'send fewer at once, or raise coordinator.max-statements-per-request',
  );
}

/**
 * Sends the recorded text, and the places of the faults: in a header, and in the body for clients
 * that ask for it.
 */
function refuseText(
  exchange: Exchange,
  request: QueryRequest,
  fault: { readonly error: string; readonly diagnostics: readonly Diagnostic[] },
): void {
  const text = `error parsing query: ${redactInMessage(request.text, fault.error)}`;
  const diagnostics = fault.diagnostics.map((diagnostic) => {
    const message = redactInMessage(request.text, diagnostic.message);
    // A hint repeats the text that was found, which may be the password.
    const hint = message === diagnostic.message ? diagnostic.hint : undefined;
    return diagnosticDocument({ ...diagnostic, message, hint });
  });
  exchange.response.setHeader('X-Tsdb-Diagnostics', diagnosticsHeader(diagnostics));
  if (request.format.encoding === 'csv') return sendCsvError(exchange, 400, text);
  sendError(exchange, 400, text, request.format.hasDiagnostics === true ? { diagnostics } : {});
}

/** As many findings as fit into a header, as JSON in ASCII. The messages are in the body. */
function diagnosticsHeader(diagnostics: readonly DiagnosticDocument[]): string {
  const entries: string[] = [];
  let length = 0;
  for (const { message: _message, ...place } of diagnostics) {
    const entry = JSON.stringify(place).replace(
      /[^\x20-\x7e]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
    length += entry.length + 1;
    if (length > DIAGNOSTICS_HEADER_BYTES) break;
    entries.push(entry);
  }
  return `[${entries.join(',')}]`;
}

function refuseChanges(query: Query): void {
  const statement = query.statements.find((candidate) => !rowOf(candidate).isReadOnly(candidate));
  if (statement === undefined) return;
  const text = printStatement(statement, { redactPasswords: true });
  throw refused(`'${text}' changes something; please use a POST request`, statement, 'use POST');
}

function refused(message: string, { span }: Statement, hint: string): InvalidRequest {
  const code = 'IQL_REFUSED';
  return new InvalidRequest(message, { hint, diagnostics: [{ code, message, span, hint }] });
}

type QueryRunOptions = {
  readonly exchange: Exchange;
  readonly parts: HttpParts;
  readonly identity: Identity;
  readonly request: QueryRequest;
  readonly query: Query;
  /** Converts spans to places in the text. */
  readonly offsetInText: CachedParseResult['offsetInText'];
};

/** One request's statements from start to end. */
class QueryRun {
  readonly #options: QueryRunOptions;
  #running: RunningQuery | undefined;

  constructor(options: QueryRunOptions) {
    this.#options = options;
  }

  async answer(): Promise<void> {
    const { exchange, request } = this.#options;
    const { response } = exchange;
    const onClose = (): void => {
      if (this.#running !== undefined) this.#options.parts.statements.queries.cancel(this.#running);
    };
    response.on('close', onClose);
    try {
      await streamAnswer(this.#pieces(), exchange, {
        onPiece: (bytes) => this.#count(bytes),
        type: contentTypeOf(exchange, request),
        isChunked: request.format.chunkRows !== undefined,
      });
    } finally {
      response.off('close', onClose);
      this.#finish();
    }
  }

  /** Statements run to their end even if the client goes away; errors are logged. */
  async inBackground(): Promise<void> {
    const { log } = this.#options.parts;
    try {
      // Pieces are dropped.
      for await (const piece of eachPulled(this.#pieces())) this.#count(piece.length);
    } catch (error) {
      log.error({ err: error }, 'asynchronous query failed');
    } finally {
      this.#finish();
    }
  }

  /**
   * Takes the initial part of the shared memory of queries; statements about the catalog and
   * running queries need none.
   */
  async begin(): Promise<void> {
    const { exchange, query, parts } = this.#options;
    if (!query.statements.some((statement) => rowOf(statement).readsData)) return;
    exchange.parts.push(await parts.statements.queries.begin(this.#holder));
  }

  readonly #holder: Holder = {
    progress: () => readProgress(this.#options.exchange.response),
    revoke: () => this.#options.exchange.response.destroy(),
  };

  #finish(): void {
    if (this.#running !== undefined) this.#options.parts.statements.queries.finish(this.#running);
  }

  #count(bytes: number): void {
    this.#options.parts.counters.queryRespBytes += bytes;
  }

  #pieces(): Pulled<Uint8Array> {
    const { parts, query, request } = this.#options;
    const pieces = writeResults(
      query.statements.map((statement) => this.#statementRun(statement)),
      request.format,
    );
    return driverOf(parts.statements, () => this.#running).pull(pieces);
  }

  #statementRun(statement: Statement): StatementRun {
    const { exchange, parts, identity, request, offsetInText } = this.#options;
    const { statements: services } = parts;
    const messages: ResultMessage[] = [];
    const findings: Diagnostic[] = [];
    const missing = new Set<string>();
    const { encoding, hasDiagnostics } = request.format;
    // A table has no place for them, and an asynchronous request has no reader: it is answered in
    // full or fails.
    const readsMessages = encoding !== 'csv' && !request.isAsync;
    const row = rowOf(statement);
    if (exchange.method === 'GET' && !row.isReadOnly(statement)) {
      const shown = qualifyForDisplay(statement, services.catalog.state, request.database);
      const text = printStatement(shown, { redactPasswords: true });
      messages.push({ level: 'warning', text: deprecatedGet(text) });
    }
    return {
      span: statement.span,
      offsetInText,
      messages: () => [
        ...messages,
        ...Array.from(missing, (text): ResultMessage => ({ level: 'warning', text })),
      ],
      isPartial: () => missing.size > 0,
      findings: () => findings,
      onEnd: ({ error }) => {
        if (error !== undefined) this.#logFailure(error);
        if (!row.isReadOnly(statement)) this.#audit(statement, error);
      },
      run: (seriesText) => {
        const running = this.#start();
        const context: StatementContext = {
          services,
          identity,
          database: request.database,
          retentionPolicy: request.retentionPolicy,
          signal: running.signal,
          memory: running.memory,
          messages,
          seriesText,
          onPartial: readsMessages ? (reason) => missing.add(reason) : undefined,
          onFinding: hasDiagnostics === true ? (finding) => findings.push(finding) : undefined,
        };
        return row.handler(statement, context);
      },
    };
  }

  /** The log is the only place for errors of an asynchronous request. */
  #logFailure(error: unknown): void {
    const { log } = this.#options.parts;
    if (this.#options.request.isAsync) log.warn({ err: error }, 'asynchronous statement failed');
    else log.debug({ err: error }, 'statement failed');
  }

  /** Logs who changed what, without passwords. */
  #audit(statement: Statement, error: unknown): void {
    const { exchange, parts, request } = this.#options;
    parts.audit.done(exchange, 'statement', {
      database: request.database,
      statement: printStatement(statement, { redactPasswords: true }),
      ...(error instanceof Error ? { error: error.message } : {}),
    });
  }

  /** Registered with the first statement, so that a refusal is that statement's error. */
  #start(): RunningQuery {
    if (this.#running !== undefined) return this.#running;
    const { parts, query, request } = this.#options;
    const { config, log, statements } = parts;
    const text = (): string =>
      query.statements
        .map((statement) => printStatement(statement, { redactPasswords: true }))
        .join('; ');
    const { database } = request;
    if (config.data.queryLogEnabled && log.isLevelEnabled('debug')) {
      log.debug({ query: text(), database }, 'query');
    }
    const { exchange } = this.#options;
    const requester = { userName: exchange.userName, remoteAddress: exchange.remoteAddress };
    const holder = this.#holder;
    const requires = () => requirementsOf(query, database);
    this.#running = statements.queries.start({ text, database, requires, holder, requester });
    return this.#running;
  }
}

function contentTypeOf(exchange: Exchange, request: QueryRequest): string {
  const { encoding } = request.format;
  // Clients that request application/csv expect exactly that.
  const isOldCsv =
    encoding === 'csv' && (exchange.request.headers.accept ?? '').includes('application/csv');
  return isOldCsv ? 'application/csv' : contentType(encoding);
}
