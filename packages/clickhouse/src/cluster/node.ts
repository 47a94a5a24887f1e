// One ClickHouse server over HTTP.
import { setMaxListeners } from 'node:events';
import { Readable } from 'node:stream';

import { createClient } from '@clickhouse/client';
import type { ClickHouseClient, ClickHouseSettings } from '@clickhouse/client';
import { ClickHouseLogLevel } from '@clickhouse/client';

import { LIMITS } from '../limits.ts';
import { cancelledBy, failureOf, Unreachable } from './failure.ts';
import { pingProbe, writeProbe } from './probes.ts';
import { HealthMonitor } from './health-monitor.ts';
import type { HealthMonitorOptions, Wait } from './health-monitor.ts';
import { StatementClient } from './statement-client.ts';

/** Settings that go with one statement. */
export type NodeSettings = Readonly<Record<string, string | number>>;

export type NodeOptions = HealthMonitorOptions & {
  /** The database whose tables the write probe checks. */
  readonly database: string;
};

export type ReadOptions = {
  readonly signal?: AbortSignal | undefined;
  /** The statement reads from ZooKeeper, so it is given up when writes are not possible. */
  readonly asksZookeeper?: boolean | undefined;
  readonly settings?: NodeSettings | undefined;
  /**
   * Called when a shard does not answer; the read then returns no rows of it. Without it the read
   * fails.
   */
  readonly onUnreachable?: ((reason: string) => void) | undefined;
};

/**
 * The server sends an answer only when it is complete, so that an error is never hidden among rows.
 * Statements that name many series are long.
 */
const WHOLE_ANSWER: NodeSettings = { wait_end_of_query: 1, max_query_size: 1 << 28 };

export class ClickHouseNode {
  readonly url: string;
  readonly #client: ClickHouseClient;
  readonly #statements: StatementClient;
  readonly database: string;
  /** Whether the server answers. */
  readonly #health: HealthMonitor;
  /** Whether it can take a write. */
  readonly #writeHealth: HealthMonitor;

  constructor(url: string, options: NodeOptions) {
    this.url = url;
    this.database = options.database;
    this.#health = new HealthMonitor(pingProbe(this.name, options.pingTimeoutMs), options);
    this.#writeHealth = new HealthMonitor(writeProbe(this, options.clock), options);
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
    // A query sends many statements at once, and all of them listen to its signal.
    if (signal !== undefined) setMaxListeners(0, signal);
    const wait = asksZookeeper === true ? this.waitToWrite(signal) : this.#health.wait(signal);
    return this.#send(`${sql}\nFORMAT RowBinary`, wait, settings);
  }

  /** Runs an idempotent definition (DDL). When `signal` ends it, its outcome is unknown. */
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

  /** Begins to wait for a server that has to take a write; see `HealthMonitor.wait`. */
  waitToWrite(signal?: AbortSignal): Wait {
    const answers = this.#health.wait(signal);
    try {
      const writes = this.#writeHealth.wait(answers.signal);
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
        // The server may not notice that the connection was closed.
        void this.#kill(queryId);
        throw cancelledBy(wait.signal);
      }
      throw failureOf(error, this.name);
    } finally {
      wait.end();
    }
  }

  /**
   * Inserts rows. `into` names table, columns and format. When `signal` ends it, the outcome is
   * unknown.
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
      for await (const _ of stream); // The body is empty; the request ends with it.
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
    await this.#writeHealth.close();
    await this.#health.close();
    this.#statements.close();
    await this.#client.close();
  }

  async #kill(queryId: string): Promise<void> {
    try {
      const { signal, end } = this.#health.wait();
      const sql = `KILL QUERY WHERE query_id = '${queryId}' ASYNC`;
      await this.#statements.send({ sql, parameters: {}, signal }).finally(end);
    } catch {
      // The statement ends by itself, or the server is gone.
    }
  }
}
