// One ClickHouse process over HTTP.
import { setMaxListeners } from 'node:events';
import { Readable } from 'node:stream';

import { createClient } from '@clickhouse/client';
import type { ClickHouseClient, ClickHouseSettings } from '@clickhouse/client';
import { ClickHouseLogLevel } from '@clickhouse/client';

import { LIMITS } from '../limits.ts';
import { cancelledBy, failureOf, Unreachable } from './failure.ts';
import { pingProbe, writeProbe } from './probes.ts';
import { Pulse } from './pulse.ts';
import type { PulseOptions, Wait } from './pulse.ts';
import { StatementClient } from './statement-client.ts';

/** Settings that go with one statement. */
export type NodeSettings = Readonly<Record<string, string | number>>;

export type NodeOptions = PulseOptions & {
  /** In which the tables are that have to take writes. */
  readonly database: string;
};

export type ReadOptions = {
  readonly signal?: AbortSignal | undefined;
  /** The server asks ZooKeeper for the answer: it fails with what a write would fail with. */
  readonly asksZookeeper?: boolean | undefined;
  readonly settings?: NodeSettings | undefined;
  /**
   * Called when a shard does not answer; its answer has no rows then. Without it the read fails.
   */
  readonly onUnreachable?: ((reason: string) => void) | undefined;
};

/**
 * An answer counts only as a whole: its status is known before its first byte. Literals of many
 * series make a statement long.
 */
const WHOLE_ANSWER: NodeSettings = { wait_end_of_query: 1, max_query_size: 1 << 28 };

export class ClickHouseNode {
  readonly url: string;
  readonly #client: ClickHouseClient;
  readonly #statements: StatementClient;
  readonly database: string;
  /** Whether the server answers. */
  readonly #pulse: Pulse;
  /** Whether it can take a write. */
  readonly #writePulse: Pulse;

  constructor(url: string, options: NodeOptions) {
    this.url = url;
    this.database = options.database;
    this.#pulse = new Pulse(pingProbe(this.name, options.pingTimeoutMs), options);
    this.#writePulse = new Pulse(writeProbe(this, options.clock), options);
    this.#statements = new StatementClient(url);
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
  async rows(sql: string, { signal, settings, asksZookeeper }: ReadOptions = {}): Promise<Buffer> {
    // A query asks many statements at once, all of which listen to its signal.
    if (signal !== undefined) setMaxListeners(0, signal);
    const wait = asksZookeeper === true ? this.waitToWrite(signal) : this.#pulse.wait(signal);
    return this.#send(`${sql}\nFORMAT RowBinary`, wait, settings);
  }

  /**
   * A definition: a statement without an answer, which may be run twice. When `signal` ends it, it
   * may have been run.
   */
  async run(
    sql: string,
    { settings, signal }: { readonly settings?: NodeSettings; readonly signal: AbortSignal },
  ): Promise<void> {
    try {
      await this.#send(sql, this.waitToWrite(signal), settings);
    } catch (error) {
      if (!signal.aborted || error instanceof Unreachable) throw error;
      throw new Unreachable(`ClickHouse has not run a statement in time. url=\`${this.name}\``, {
        cause: error,
      });
    }
  }

  /** Waits for the server to take a write; see `Pulse.wait`. */
  waitToWrite(signal?: AbortSignal): Wait {
    const answers = this.#pulse.wait(signal);
    try {
      const writes = this.#writePulse.wait(answers.signal);
      const end = (): void => {
        writes.end();
        answers.end();
      };
      return { signal: writes.signal, end };
    } catch (error) {
      answers.end();
      throw error;
    }
  }

  async #send(sql: string, wait: Wait, settings: NodeSettings = {}): Promise<Buffer> {
    const queryId = crypto.randomUUID();
    try {
      return await this.#statements.send({
        sql,
        parameters: { ...WHOLE_ANSWER, ...settings, query_id: queryId },
        signal: wait.signal,
      });
    } catch (error) {
      if (wait.signal.aborted) {
        // A server notices late, or not at all, that the connection is closed.
        void this.#kill(queryId);
        throw cancelledBy(wait.signal);
      }
      throw failureOf(error, this.name);
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
    const wait = this.waitToWrite(signal);
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
    await this.#writePulse.close();
    await this.#pulse.close();
    this.#statements.close();
    await this.#client.close();
  }

  async #kill(queryId: string): Promise<void> {
    try {
      const { signal, end } = this.#pulse.wait();
      const sql = `KILL QUERY WHERE query_id = '${queryId}' ASYNC`;
      await this.#statements.send({ sql, parameters: {}, signal }).finally(end);
    } catch {
      // It ends by itself, or with the server that did not answer.
    }
  }
}
