// Subscriptions: the engine subscribes to the writes of every configured cluster, so that points
// written to the database reach tasks. It periodically compares its own subscriptions with the
// wanted ones: creates missing ones, replaces those whose destination has changed, and drops those
// that are no longer needed. It never touches other subscriptions.
import { AppError, deferred } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import { hideUrlPassword, quoteIdentifier, quoteString } from '@tidemark/influxql';
import { durationMs } from '@tidemark/settings';
import type { JsonValue } from '@tidemark/settings';
import type { Cluster } from '../config/cluster-section.ts';
import { SUBSCRIBER } from '../access/request.ts';
import type { Logger } from '../observability/log-hub.ts';
import { LEFT_INSTANCE } from '../limits.ts';
import type { UdpListening } from '../ingest/udp-inputs.ts';
import type { Clusters, ShowSeries } from './clusters.ts';

/** Prefix of the names of own subscriptions. */
const PRODUCT = 'tidemark';

const RETRY_DELAY_FIRST_MS = 500;
const RETRY_DELAY_MAX_MS = 30_000;

export type SubscriptionsOptions = {
  readonly clusters: Clusters;
  /** Listens for databases that send over UDP. */
  readonly udp: UdpListening;
  readonly clock: Clock;
  readonly log: Logger;
  readonly clusterId: string;
  readonly serverId: string;
  /** Host name under which the database reaches this engine. */
  readonly hostname: string;
  /** Whether the engine uses TLS there. */
  readonly isSecure: boolean;
  /** Token of the subscriber, if the engine requires credentials. */
  readonly token?: string | undefined;
  /**
   * In a cluster: the addresses of all instances, as databases reach them. The database sends a
   * write to one of them, which passes it on, and to another if it does not answer.
   */
  readonly instances?: (() => readonly Instance[]) | undefined;
};

/** The address of an engine. */
export type Instance = {
  readonly hostname: string;
  readonly port: number;
  /** Identifies a run of the instance; after a restart it listens again. */
  readonly life: string;
};

type Policy = { readonly database: string; readonly retentionPolicy: string };
type Wanted = Policy & { readonly destinations: readonly string[] };
type Subscription = Policy & { readonly name: string; readonly destinations: string };

export class Subscriptions {
  readonly #options: SubscriptionsOptions;
  readonly #stopped = new AbortController();
  /** Names of the clusters that send over UDP. */
  readonly #heard = new Set<string>();
  #wake = new AbortController();
  #loop: Promise<void> = Promise.resolve();
  #pass: Promise<void> = Promise.resolve();
  #count = 0;
  /** Port under which the database reaches this engine; known when the API listens. */
  #port = 0;
  readonly #listening = deferred();
  #linking: Promise<void> | undefined;
  /** The time since when subscriptions have also had destinations of instances that have left. */
  readonly #surplusSinceMs = new Map<string, number>();
  #lives = '';

  constructor(options: SubscriptionsOptions) {
    this.#options = options;
  }

  /** Number of own subscriptions in place. */
  get count(): number {
    return this.#count;
  }

  /** Starts comparing periodically: the API listens on this port. */
  start(port: number): void {
    this.#port = port;
    this.#listening.resolve();
    this.#loop = this.#run();
  }

  /**
   * Resolves when the API listens and the subscriptions at all clusters have it as their
   * destination.
   */
  linked(): Promise<void> {
    this.#linking ??= this.#listening.promise
      .then(() => this.sync())
      .catch((error: unknown) => {
        this.#linking = undefined;
        throw error;
      });
    return this.#linking;
  }

  /** Compares soon, for example because a task was started. */
  requestSync(): void {
    this.#wake.abort();
  }

  /** Compares soon when instances have joined or left. Called periodically. */
  checkInstances(): void {
    const lives = (this.#options.instances?.() ?? []).map(({ life }) => life).join();
    if (lives !== this.#lives) this.requestSync();
    this.#lives = lives;
  }

  /** Compares now, at all clusters. Rejects with the first problem. */
  async sync(): Promise<void> {
    const pass = this.#pass.then(() => this.#syncAll());
    this.#pass = pass.catch(() => undefined);
    await pass;
  }

  /** Stops comparing; subscriptions stay in place, because the engine comes back. */
  async close(): Promise<void> {
    this.#stopped.abort();
    this.#wake.abort();
    await this.#loop;
    await this.#options.udp.close();
  }

  async #run(): Promise<void> {
    const { clock, log } = this.#options;
    let retryMs = RETRY_DELAY_FIRST_MS;
    while (!this.#stopped.signal.aborted) {
      let waitMs = this.#intervalMs();
      this.#wake = new AbortController();
      try {
        await this.sync();
        retryMs = RETRY_DELAY_FIRST_MS;
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        log('warn', 'failed to link subscriptions', { err: error.message });
        waitMs = Math.min(waitMs, retryMs);
        retryMs = Math.min(RETRY_DELAY_MAX_MS, retryMs * 2);
      }
      await clock.sleep(waitMs, this.#wake.signal).catch(() => undefined);
    }
  }

  #intervalMs(): number {
    const intervals = this.#options.clusters.elements.map((cluster) =>
      durationMs(cluster['subscriptions-sync-interval']),
    );
    return Math.max(100, Math.min(60_000, ...intervals.filter((interval) => interval > 0)));
  }

  async #syncAll(): Promise<void> {
    let failure: unknown;
    let count = 0;
    for (const cluster of this.#options.clusters.elements) {
      if (this.#stopped.signal.aborted) return;
      try {
        count += await this.#syncCluster(cluster);
      } catch (error) {
        // Other clusters are still compared.
        failure ??= error;
      }
    }
    this.#count = count;
    if (failure !== undefined) throw failure;
  }

  async #syncCluster(cluster: Cluster): Promise<number> {
    const { clusters, log } = this.#options;
    const name = this.#nameAt(cluster);
    const isDisabled = cluster['disable-subscriptions'];
    const present = subscriptionsOf(await clusters.show(cluster, 'SHOW SUBSCRIPTIONS'));
    const own = present.filter((each) => each.name === name || each.name.startsWith(`${name}-`));
    const policies = isDisabled ? [] : await this.#policies(cluster);
    const wanted = await this.#destinations(cluster, policies);
    const isThere = (subscription: Subscription, { destinations, ...policy }: Wanted): boolean =>
      isSamePolicy(policy, subscription) && this.#leadsThere(cluster, subscription, destinations);
    for (const subscription of own) {
      if (wanted.some((each) => isThere(subscription, each))) continue;
      await clusters.executeOn(cluster, dropStatement(subscription));
      const { database, retentionPolicy } = subscription;
      log('info', 'dropped subscription', {
        database,
        retentionPolicy,
        cluster: cluster.name,
      });
    }
    for (const each of wanted) {
      if (own.some((subscription) => isThere(subscription, each))) continue;
      const { destinations, ...policy } = each;
      const isReplaced = own.some((subscription) => isSamePolicy(policy, subscription));
      const newName = isReplaced ? this.#anotherName(name) : name;
      await clusters.executeOn(cluster, createStatement(newName, policy, destinations));
      log('info', 'created subscription', {
        ...policy,
        cluster: cluster.name,
      });
    }
    return wanted.length;
  }

  #nameAt(cluster: Cluster): string {
    const { clusterId, serverId } = this.#options;
    return `${PRODUCT}-${cluster['subscription-mode'] === 'server' ? serverId : clusterId}`;
  }

  /**
   * A name that no subscription has had. If one is dropped and another of the same name is created
   * at once, InfluxDB 1.x may miss both and go on writing to the earlier destinations.
   */
  #anotherName(name: string): string {
    return `${name}-${(this.#options.clock.now() / 1_000_000n).toString(36)}`;
  }

  async #policies(cluster: Cluster): Promise<readonly Policy[]> {
    const { clusters } = this.#options;
    const databases = columnOf(await clusters.show(cluster, 'SHOW DATABASES'), 'name');
    const all: Policy[] = [];
    for (const database of databases) {
      const statement = `SHOW RETENTION POLICIES ON ${quoteIdentifier(database)}`;
      for (const retentionPolicy of columnOf(await clusters.show(cluster, statement), 'name')) {
        all.push({ database, retentionPolicy });
      }
    }
    const named = policiesOf(cluster.subscriptions);
    const excluded = policiesOf(cluster['excluded-subscriptions']);
    return all.filter(
      (policy) =>
        (named.length === 0 || named.some((each) => isSamePolicy(each, policy))) &&
        !excluded.some((each) => isSamePolicy(each, policy)),
    );
  }

  async #destinations(cluster: Cluster, policies: readonly Policy[]): Promise<readonly Wanted[]> {
    const udp = await this.#udpDestinations(cluster, policies);
    const destinations = udp === undefined ? this.#httpDestinations(cluster) : [];
    return policies.map((policy, i) => ({
      ...policy,
      destinations: udp === undefined ? destinations : (udp[i] ?? []),
    }));
  }

  #httpDestinations(cluster: Cluster): readonly string[] {
    const { hostname, token, isSecure, instances } = this.#options;
    const user = token === undefined ? '' : `${SUBSCRIBER}:${token}@`;
    const path = cluster['subscription-path'].replace(/^\/*|\/*$/g, '');
    // Another port is that of a proxy, which may not use TLS; the engine's own port does.
    const isOwnPort = cluster['http-port'] === 0;
    const protocol = isSecure && isOwnPort ? 'https' : cluster['subscription-protocol'];
    const isProxy = !isOwnPort || cluster.hostname !== '';
    const own = {
      hostname: cluster.hostname || hostname,
      port: cluster['http-port'] || this.#port,
    };
    const addresses = isProxy ? [] : (instances?.() ?? []);
    return (addresses.length === 0 ? [own] : addresses).map((address) => {
      const base = `${protocol}://${user}${address.hostname}:${address.port}`;
      return path === '' ? base : `${base}/${path}`;
    });
  }

  /** The UDP destinations for each policy; `undefined` if the cluster does not send over UDP. */
  async #udpDestinations(
    cluster: Cluster,
    policies: readonly Policy[],
  ): Promise<readonly (readonly string[])[] | undefined> {
    const { udp } = this.#options;
    const { name, hostname } = cluster;
    if (!isUdp(cluster)) {
      if (this.#heard.delete(name)) await udp.listen(name, []);
      return undefined;
    }
    this.#heard.add(name);
    const inputs = policies.map((policy) => ({
      ...policy,
      host: cluster['udp-bind'],
      readBufferBytes: cluster['udp-read-buffer'],
      packetsMax: cluster['udp-buffer'],
    }));
    const heard = await udp.listen(name, inputs);
    return heard.map((each) =>
      // A configured host name is that of this process.
      (hostname === '' ? each : each.slice(0, 1)).map(
        (address) => `udp://${hostname || address.hostname}:${address.port}`,
      ),
    );
  }

  /**
   * Whether a subscription has the right destinations. Replacing one loses concurrent writes, so an
   * instance that has left for a while, for example to restart, may stay in it: over HTTP the
   * database uses another one. The database may show destinations without passwords; the token of
   * the subscriber is as old as the id in the name of its subscriptions, so it never differs alone.
   */
  #leadsThere(cluster: Cluster, subscription: Subscription, wanted: readonly string[]): boolean {
    const present = subscription.destinations.split(',');
    const known = [...wanted, ...wanted.map(hideUrlPassword)];
    const key = JSON.stringify([subscription.database, subscription.retentionPolicy, present]);
    const lacks = wanted.some(
      (each) => ![each, hideUrlPassword(each)].some((it) => present.includes(it)),
    );
    if (lacks) return false;
    if (present.every((each) => known.includes(each))) {
      this.#surplusSinceMs.delete(key);
      return true;
    }
    if (this.#options.instances === undefined || isUdp(cluster)) return false;
    const nowMs = this.#options.clock.monotonicMs();
    const sinceMs = this.#surplusSinceMs.get(key) ?? nowMs;
    this.#surplusSinceMs.set(key, sinceMs);
    return nowMs - sinceMs < LEFT_INSTANCE.value;
  }
}

function isUdp(cluster: Cluster): boolean {
  return cluster['subscription-protocol'] === 'udp';
}

function isSamePolicy(a: Policy, b: Policy): boolean {
  return a.database === b.database && a.retentionPolicy === b.retentionPolicy;
}

/** `{telegraf: 'autogen,month'}` or, set through the API, `{telegraf: ['autogen']}`. */
function policiesOf(value: JsonValue): readonly Policy[] {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return [];
  return Object.entries(value).flatMap(([database, names]) => {
    const list = Array.isArray(names) ? names : String(names).split(',');
    return list.map((name) => ({ database, retentionPolicy: String(name).trim() }));
  });
}

function columnOf(series: readonly ShowSeries[], name: string): readonly string[] {
  return series.flatMap(({ columns, rows }) => {
    const index = columns.indexOf(name);
    return index < 0 ? [] : rows.map((row) => row[index] ?? '');
  });
}

function subscriptionsOf(series: readonly ShowSeries[]): readonly Subscription[] {
  return series.flatMap(({ name: database, columns, rows }) => {
    const cell = (row: readonly string[], name: string): string => row[columns.indexOf(name)] ?? '';
    return rows.map((row) => ({
      database,
      retentionPolicy: cell(row, 'retention_policy'),
      name: cell(row, 'name'),
      destinations: cell(row, 'destinations'),
    }));
  });
}

function createStatement(name: string, policy: Policy, destinations: readonly string[]): string {
  const source = `${quoteIdentifier(policy.database)}.${quoteIdentifier(policy.retentionPolicy)}`;
  const list = destinations.map(quoteString).join(', ');
  return `CREATE SUBSCRIPTION ${quoteIdentifier(name)} ON ${source} DESTINATIONS ANY ${list}`;
}

function dropStatement({ name, database, retentionPolicy }: Subscription): string {
  const source = `${quoteIdentifier(database)}.${quoteIdentifier(retentionPolicy)}`;
  return `DROP SUBSCRIPTION ${quoteIdentifier(name)} ON ${source}`;
}
