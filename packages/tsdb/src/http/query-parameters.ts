// The parameters of a request to /query: from the URL, a form, or an uploaded file.
import { checkJsonDepth, InvalidRequest, messageOf, own } from '@tidemark/core';
import type { BindParameter } from '@tidemark/influxql';
import { readEpoch } from '@tidemark/query';
import type { ResultFormat } from '@tidemark/query';
import { parse as parseLossless } from 'lossless-json';

import type { Exchange } from './exchange.ts';
import { jsonFault } from './json-fault.ts';
import { multipartBoundary, parseMultipart } from './multipart.ts';
import { Parameters, tooManyParameters } from './parameters.ts';

const DEFAULT_CHUNK_ROWS = 10_000;

export type QueryRequest = {
  readonly text: string;
  readonly database: string;
  readonly retentionPolicy: string;
  readonly bindParameters: ReadonlyMap<string, BindParameter>;
  readonly format: ResultFormat;
  readonly isAsync: boolean;
};

/** Parameters of URL and body together; the body's come first. */
export function allParameters(exchange: Exchange, body: Uint8Array, maxCount: number): Parameters {
  const all = new Parameters();
  all.merge(exchange.parameters);
  if (body.length === 0) return all;
  const contentType = exchange.request.headers['content-type'] ?? '';
  const boundary = multipartBoundary(contentType);
  if (boundary !== undefined) {
    all.merge(parseMultipart(body, boundary));
    return all;
  }
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');
  if (/^application\/vnd\.influxql\b/i.test(contentType)) {
    all.merge(Parameters.parse(`q=${encodeURIComponent(text)}`));
  } else if (!text.trimStart().startsWith('{')) all.merge(Parameters.parse(text, maxCount));
  return all;
}

export function readQueryRequest(
  exchange: Exchange,
  parameters: Parameters,
  { maxRowLimit, maxParameters }: { readonly maxRowLimit: number; readonly maxParameters: number },
): QueryRequest {
  return {
    // Blanks around it do not count: positions in error texts begin after them, as recorded.
    text: parameters.get('q').trim(),
    database: parameters.get('db'),
    retentionPolicy: parameters.get('rp'),
    bindParameters: readBindParameters(parameters.get('params'), maxParameters),
    isAsync: parameters.get('async') === 'true',
    format: readFormat(exchange, parameters, maxRowLimit),
  };
}

function readFormat(exchange: Exchange, parameters: Parameters, maxRows: number): ResultFormat {
  const encoding = chooseEncoding(exchange.request.headers.accept);
  const chunkRows = readChunkRows(parameters);
  const epoch = readEpoch(parameters.get('epoch'));
  return {
    encoding,
    isPretty: exchange.parameters.get('pretty') === 'true',
    epoch: epoch ?? (encoding === 'csv' ? 'ns' : undefined),
    chunkRows,
    maxRows: chunkRows === undefined ? maxRows : 0,
    hasDiagnostics: parameters.get('diagnostics') === 'true',
  };
}

/** `chunked=true` with `chunk_size`, or the size itself. Anything else is not chunked. */
function readChunkRows(parameters: Parameters): number | undefined {
  const chunked = parameters.get('chunked');
  if (/^[1-9]\d{0,8}$/.test(chunked)) return Number(chunked);
  if (chunked !== 'true') return undefined;
  const size = parameters.get('chunk_size');
  return /^[1-9]\d{0,8}$/.test(size) ? Number(size) : DEFAULT_CHUNK_ROWS;
}

const ENCODINGS: Readonly<Record<string, ResultFormat['encoding']>> = {
  'application/json': 'json',
  'application/csv': 'csv',
  'text/csv': 'csv',
  'application/x-msgpack': 'msgpack',
};

/** The best encoding that the client accepts; JSON if that is as good, or if no other is known. */
export function chooseEncoding(accept: string | undefined): ResultFormat['encoding'] {
  let best: ResultFormat['encoding'] = 'json';
  let bestQuality = 0;
  for (const entry of (accept ?? '').split(',')) {
    const [type = '', ...options] = entry.split(';').map((part) => part.trim());
    const encoding = own(ENCODINGS, type.toLowerCase());
    if (encoding === undefined) continue;
    const written = options.find((option) => option.startsWith('q='));
    const quality = written === undefined ? 1 : Number(written.slice(2)) || 0;
    if (quality > bestQuality || (quality === bestQuality && encoding === 'json')) {
      best = encoding;
      bestQuality = quality;
    }
  }
  return best;
}

const UNREADABLE = 'error parsing query parameters';

function jsonKind(value: unknown): string {
  if (typeof value === 'boolean') return 'bool';
  return typeof value === 'string' ? 'string' : 'number';
}

/** Numbers with a point or an exponent are floats, others integers. */
function parseNumber(text: string): number | bigint {
  return /^-?\d+$/.test(text) ? BigInt(text) : Number(text);
}

/**
 * Whether JSON has more members and elements than `maxCount`: counts the separators outside of
 * texts.
 */
function hasMoreValues(text: string, maxCount: number): boolean {
  let count = 0;
  let isText = false;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) isText = !isText;
    else if (isText && unit === BACKSLASH) at++;
    else if (!isText && (unit === COMMA || unit === COLON) && ++count > 2 * maxCount) return true;
  }
  return false;
}

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const BACKSLASH = 92;

function readBindParameters(text: string, maxCount: number): ReadonlyMap<string, BindParameter> {
  if (text === '') return new Map();
  if (maxCount > 0 && hasMoreValues(text, maxCount)) {
    throw new InvalidRequest(`${UNREADABLE}: ${tooManyParameters(maxCount)}`);
  }
  checkJsonDepth(text, `${UNREADABLE}: `);
  const fault = jsonFault(text);
  if (fault !== undefined) throw new InvalidRequest(`${UNREADABLE}: ${fault}`);
  let value: unknown;
  try {
    value = parseLossless(text, undefined, parseNumber);
  } catch (error) {
    if (error instanceof InvalidRequest) throw error;
    const reason = messageOf(error);
    throw new InvalidRequest(`${UNREADABLE}: ${reason}`, { cause: error });
  }
  if (value === null) return new Map();
  if (typeof value !== 'object' || Array.isArray(value)) {
    const kind = Array.isArray(value) ? 'array' : jsonKind(value);
    throw new InvalidRequest(
      `${UNREADABLE}: json: cannot unmarshal ${kind} into Go value of type map[string]interface {}`,
    );
  }
  return new Map(Object.entries(value as Record<string, BindParameter>));
}
