// Extreme load of all kinds at once: bodies that stall near their end, queries that hold nearly a
// million values each, unauthenticated clients that send bodies to an engine with authentication,
// responses that are not read. The process has to stay below a ceiling of resident memory, and to
// serve well-behaved clients again afterwards.
import { connect } from 'node:net';
import type { Socket } from 'node:net';

import { query, removeDirectory, startTidemark, write } from '@tidemark/testkit';

import { peakBytes } from './peak.ts';

export type MemoryOptions = {
  /** Values that every query holds. */
  readonly values: number;
  readonly queries: number;
  readonly stalledBodies: number;
  /** Bodies that strangers send to the engine. */
  readonly strangers: number;
};

export type MemoryResult = {
  /** The most that each process ever had resident. */
  readonly tsdbPeakBytes: number;
  readonly enginePeakBytes: number;
  /**
   * Queries that were answered in full, and those that were refused with a reason and a time to
   * come again.
   */
  readonly answered: number;
  readonly refused: number;
  /** Requests that got something else; empty when all is well. */
  readonly problems: readonly string[];
};

const BODY_BYTES = 24_000_000;
const ROWS_PER_WRITE = 50_000;

export async function soakMemory(options: MemoryOptions): Promise<MemoryResult> {
  const tsdb = await startTidemark({ command: 'tsdb', args: ['--log-level', 'error'] });
  const engine = await startTidemark({
    command: 'engine',
    args: ['--log-level', 'error', '--http-auth-enabled', 'true', '--http-shared-secret', 'secret'],
  });
  const sockets: Socket[] = [];
  try {
    await query(tsdb.tsdb, 'CREATE DATABASE d');
    for (let from = 0; from < options.values; from += ROWS_PER_WRITE) {
      const rows = Array.from({ length: ROWS_PER_WRITE }, (_, i) => `m v=${from + i} ${from + i}`);
      await write(tsdb.tsdb, 'd', rows.join('\n'));
    }
    for (let i = 0; i < options.stalledBodies; i++) sockets.push(stall(`${tsdb.tsdb}/write?db=d`));
    for (let i = 0; i < options.strangers; i++) {
      sockets.push(stall(`${engine.engine}/engine/v1/write?db=d&rp=r`));
    }
    const unread = `${tsdb.tsdb}/query?db=d&chunked=true&q=${encodeURIComponent('SELECT v FROM m')}`;
    for (let i = 0; i < 8; i++) sockets.push(send(`GET`, unread, ''));
    const text = `SELECT top(v, ${options.values}) FROM m`;
    const answers = await Promise.all(
      Array.from({ length: options.queries }, () => ask(tsdb.tsdb, text, options.values)),
    );
    for (const socket of sockets.splice(0)) socket.destroy();
    await write(tsdb.tsdb, 'd', 'after v=1 1');
    await query(tsdb.tsdb, 'SELECT last(v) FROM m', 'd');
    return {
      tsdbPeakBytes: peakBytes(tsdb.process.pid!),
      enginePeakBytes: peakBytes(engine.process.pid!),
      answered: answers.filter((answer) => answer === 'answered').length,
      refused: answers.filter((answer) => answer === 'refused').length,
      problems: answers.filter((answer) => answer !== 'answered' && answer !== 'refused'),
    };
  } finally {
    for (const socket of sockets) socket.destroy();
    for (const server of [tsdb, engine]) {
      await server.stop();
      await removeDirectory(server.directory);
    }
  }
}

/** Sends all of a body but its last byte, and reads nothing. */
function stall(url: string): Socket {
  return send('POST', url, Buffer.alloc(BODY_BYTES - 1, '#'));
}

function send(method: string, url: string, body: Buffer | string): Socket {
  const { hostname, port, pathname, search } = new URL(url);
  const socket = connect(Number(port), hostname);
  // Being cut off is part of it.
  socket.on('error', () => undefined);
  const length = body.length === 0 ? '' : `Content-Length: ${BODY_BYTES}\r\n`;
  socket.write(`${method} ${pathname}${search} HTTP/1.1\r\nHost: ${hostname}\r\n${length}\r\n`);
  socket.write(body);
  return socket;
}

/** Reads an answer without keeping it: `answered`, `refused`, or what was wrong with it. */
async function ask(tsdb: string, text: string, rows: number): Promise<string> {
  const form = new URLSearchParams({ q: text, db: 'd', epoch: 'ns' });
  const answer = await fetch(`${tsdb}/query`, { method: 'POST', body: form });
  let last = '';
  let rowCount = 0;
  for await (const piece of answer.body ?? []) {
    const part = Buffer.from(piece).toString();
    rowCount += part.split('],[').length - 1;
    last = `${last}${part}`.slice(-400);
  }
  if (/take all the memory that they may, come again later/.test(last)) return 'refused';
  // A separator may be cut in two between pieces.
  if (answer.status === 200 && rowCount > rows * 0.99) return 'answered';
  return `${answer.status}, ${rowCount} rows: ${last}`;
}
