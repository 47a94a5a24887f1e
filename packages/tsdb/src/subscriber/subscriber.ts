// Subscriptions: accepted writes go to the destinations in the catalog, off the writer's path.

import type { Clock } from '@tidemark/core';
import type { Logger } from 'pino';

import type { Catalog } from '../catalog/catalog.ts';
import type { CatalogState, RetentionPolicy, Subscription } from '../catalog/model.ts';
import { readSetting } from '../config/read-setting.ts';
import type { TsdbConfig } from '../config/schema.ts';
import type { StatisticsModule, WriteCounters } from '../stats/statistics.ts';
import type { AcceptedWrite, WriteSubscriber } from '../write/write-service.ts';
import { Destination } from './destination.ts';
import { subscriberLines } from './lines.ts';
import type { SubscriberLines } from './lines.ts';
import { openTransport } from './transports.ts';
import { LIMITS } from '../limits.ts';

export type SubscriberOptions = {
  readonly catalog: Catalog;
  readonly config: TsdbConfig['subscriber'];
  readonly clock: Clock;
  readonly log: Logger;
  readonly counters: WriteCounters;
};

type Open = {
  readonly database: string;
  readonly policy: string;
  readonly subscription: Subscription;
  readonly destinations: readonly Destination[];
  /** Index of the destination of an ANY subscription that gets the next batch. */
  next: number;
};

export class Subscriber implements WriteSubscriber {
  readonly #options: SubscriberOptions;
  readonly #caCertificates: string | undefined;
  /** By policy id. */
  #open = new Map<number, readonly Open[]>();
  #createFailures = 0;

  constructor(options: SubscriberOptions) {
    this.#options = options;
    const { caCerts } = options.config;
    if (caCerts !== '') this.#caCertificates = readSetting('subscriber.ca-certs', caCerts);
    this.#follow(options.catalog.state);
    options.catalog.onChange((state) => this.#follow(state));
  }

  hasSubscribers(policy: RetentionPolicy): boolean {
    return this.#open.has(policy.id);
  }

  publish(write: AcceptedWrite): void {
    const subscriptions = this.#open.get(write.retentionPolicy.id);
    if (subscriptions === undefined) return;
    const lines = subscriberLines(write);
    if (lines === undefined) return;
    const { counters } = this.#options;
    for (const open of subscriptions) {
      const isTaken =
        open.subscription.mode === 'ALL'
          ? open.destinations.map((destination) => destination.push(lines)).every(Boolean)
          : pushToAny(open, lines);
      if (isTaken) counters.subWriteOk++;
      else counters.subWriteDrop++;
    }
  }

  /** One module for all, and one per destination. */
  statistics(): readonly StatisticsModule[] {
    const total = { createFailures: this.#createFailures, pointsWritten: 0, writeFailures: 0 };
    const modules: StatisticsModule[] = [];
    for (const { database, policy, subscription, destinations } of [
      ...this.#open.values(),
    ].flat()) {
      for (const [i, { counters }] of destinations.entries()) {
        total.pointsWritten += counters.pointsWritten;
        total.writeFailures += counters.writeFailures;
        modules.push({
          name: 'subscriber',
          tags: {
            database,
            destination: withoutPassword(subscription.destinations[i] ?? ''),
            mode: subscription.mode,
            name: subscription.name,
            retention_policy: policy,
          },
          values: { ...counters },
        });
      }
    }
    return [{ name: 'subscriber', tags: {}, values: total }, ...modules];
  }

  /** Keeps unchanged subscriptions, opens new ones, closes removed ones. */
  #follow(state: CatalogState): void {
    const before = this.#open;
    const after = new Map<number, readonly Open[]>();
    for (const database of state.databases.values()) {
      for (const policy of database.policies) {
        if (policy.subscriptions.length === 0) continue;
        const known = before.get(policy.id) ?? [];
        after.set(
          policy.id,
          policy.subscriptions.map(
            (subscription) =>
              known.find((open) => open.subscription === subscription) ??
              this.#openSubscription(database.name, policy.name, subscription),
          ),
        );
      }
    }
    this.#open = after;
    const kept = new Set([...after.values()].flat());
    for (const open of [...before.values()].flat()) {
      if (!kept.has(open)) for (const d of open.destinations) void d.close(0); // Never rejects.
    }
  }

  #openSubscription(database: string, policy: string, subscription: Subscription): Open {
    const { clock, config, log } = this.#options;
    const isAny = subscription.mode === 'ANY';
    const destinations: Destination[] = subscription.destinations.flatMap((destination, i) => {
      try {
        const transport = openTransport({
          destination,
          database,
          retentionPolicy: policy,
          timeoutMs: config.httpTimeoutMs,
          insecureSkipVerify: config.insecureSkipVerify,
          caCertificates: this.#caCertificates,
        });
        return new Destination({
          transport,
          clock,
          maxQueuedBatches: config.writeBufferSize,
          ...(isAny ? { passOn: (lines) => passOn(destinations, i, lines) } : {}),
          onFailure: (error) =>
            log.warn(
              {
                err: error,
                subscription: subscription.name,
                destination: withoutPassword(destination),
              },
              'a subscription could not be delivered',
            ),
        });
      } catch (error) {
        this.#createFailures++;
        log.error(
          { err: error, subscription: subscription.name },
          'a subscription cannot be opened',
        );
        return [];
      }
    });
    return { database, policy, subscription, destinations, next: 0 };
  }

  async close(): Promise<void> {
    const all = [...this.#open.values()].flat().flatMap(({ destinations }) => destinations);
    this.#open = new Map();
    await Promise.all(all.map((destination) => destination.close(LIMITS.subscriberDrainMs.value)));
  }
}

/** Passes lines to the next destination of an ANY subscription, until each has failed once. */
function passOn(all: readonly Destination[], from: number, lines: SubscriberLines): boolean {
  const passes = (lines.passes ?? 0) + 1;
  if (passes >= all.length) return false;
  return all[(from + 1) % all.length]?.push({ ...lines, passes }) === true;
}

/** Round robin; a full queue passes the batch on. */
function pushToAny(open: Open, lines: Parameters<Destination['push']>[0]): boolean {
  const count = open.destinations.length;
  for (let i = 0; i < count; i++) {
    const at = (open.next + i) % count;
    if (open.destinations[at]?.push(lines) === true) {
      open.next = (at + 1) % count;
      return true;
    }
  }
  return false;
}

function withoutPassword(destination: string): string {
  return destination.replace(/\/\/[^/]*@/, '//');
}
