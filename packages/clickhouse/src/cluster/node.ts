// One ClickHouse process over HTTP.
import { setMaxListeners } from 'node:events';
import { Readable } from 'node:stream';

import { createClient } from '@clickhouse/client';
import type { ClickHouseClient, ClickHouseSettings } from '@clickhouse/client';
import { ClickHouseLogLevel } from '@clickhouse/client';

import { LIMITS } from '../limits.ts';
import { cancelledBy, failureOf, Unreachable } from './failure.ts';
import { Pulse } from './pulse.ts';
import type { PulseOptions } from './pulse.ts';
import { ShortReads } from './short-reads.ts';

/** Settings that go with one statement. */
export type NodeSettings = Readonly<Record<string, string | number>>;

export type ReadOptions = {
  readonly signal?: AbortSignal | undefined;
  readonly settings?: NodeSettings | undefined;
  /** Told that a shard does not answer; then its answer has no rows. Without it the read fails. */
  readonly onAway?: ((reason: string) => void) | undefined;
};

/**
 * An answer counts only as a whole: its status is known before its first byte. Literals of many
 * series make a statement long.
 */
const WHOLE_ANSWER: NodeSettings = { wait_end_of_query: 1, max_query_size: 1 << 28 };

export class ClickHouseNode {
  readonly url: string;
  readonly #client: ClickHouseClient;
  readonly #reads: ShortReads;
  readonly #pulse: Pulse;

  constructor(url: string, options: PulseOptions) {
    this.url = url;
    this.#pulse = new Pulse(this.name, options);
    this.#reads = new ShortReads(url);
    this.#client = createClient({
      url,
      request_timeout: LIMITS.requestMs.value,
      max_open_connections: LIMITS.connections.value,
      keep_alive: {
        idle_socket_ttl: LIMITS.idleConnectionMs.value,
        eagerly_destroy_stale_sockets: true,
      },
      log: { level: ClickHouseLogLevel.OFF },
    });
  }

  /** The address, without a password. */
  get name(): string {
    const { protocol, host } = new URL(this.url);
    return `${protocol}//${host}`;
  }

  /** The rows of an answer in RowBinary. `FORMAT` is added here. */
  async rows(sql: string, { signal, settings }: ReadOptions = {}): Promise<Buffer> {
    const queryId = crypto.randomUUID();
    // A query asks many statements at once, all of which listen to its signal.
    if (signal !== undefined) setMaxListeners(0, signal);
    const wait = this.#pulse.wait(signal);
    try {
      return await this.#reads.read({
        sql: `${sql}\nFORMAT RowBinary`,
        parameters: { ...WHOLE_ANSWER, ...settings, query_id: queryId },
        signal: wait.signal,
      });
    } catch (error) {
      if (wait.signal.aborted) {
        // A server notices late, or not at all, that nobody waits any more.
        void this.#kill(queryId);
        throw cancelledBy(wait.signal);
      }
      throw failureOf(error, this.name);
    } finally {
      wait.end();
    }
  }

  /** A statement without an answer. */
  async run(sql: string, settings: NodeSettings = {}): Promise<void> {
    const wait = this.#pulse.wait();
    try {
      await this.#client.command({
        query: sql,
        abort_signal: wait.signal,
        clickhouse_settings: { ...WHOLE_ANSWER, ...settings } as ClickHouseSettings,
      });
    } catch (error) {
      throw wait.signal.aborted ? cancelledBy(wait.signal) : failureOf(error, this.name);
    } finally {
      wait.end();
    }
  }

  /**
   * Inserts rows. `into` names table, columns and format. When `signal` ends it, the rows may have
   * been stored.
   */
  async insert(
    into: string,
    rows: Uint8Array,
    { settings, signal }: { readonly settings: NodeSettings; readonly signal: AbortSignal },
  ): Promise<void> {
    const queryId = crypto.randomUUID();
    const wait = this.#pulse.wait(signal);
    try {
      const { stream } = await this.#client.exec({
        query: `INSERT INTO ${into}`,
        query_id: queryId,
        values: Readable.from([rows], { objectMode: false }),
        abort_signal: wait.signal,
        clickhouse_settings: { ...settings } as ClickHouseSettings,
      });
      for await (const _ of stream); // Has nothing; its end ends the request.
    } catch (error) {
      if (!wait.signal.aborted) throw failureOf(error, this.name);
      void this.#kill(queryId);
      if (!signal.aborted) throw cancelledBy(wait.signal);
      throw new Unreachable(`ClickHouse has not stored rows in time. url=\`${this.name}\``, {
        cause: error,
      });
    } finally {
      wait.end();
    }
  }

  async close(): Promise<void> {
    await this.#pulse.close();
    this.#reads.close();
    await this.#client.close();
  }

  async #kill(queryId: string): Promise<void> {
    try {
      await this.run(`KILL QUERY WHERE query_id = '${queryId}' ASYNC`);
    } catch {
      // It ends by itself, or with the server that could not be told.
    }
  }
}
