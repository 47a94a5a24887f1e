// The instances that run tasks for this one, the leader. It connects to every instance that is
// alive, has the same version and is not draining, and disconnects when that changes.
import { LATE, messageOf, within } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import type { Member } from '@tidemark/cluster';
import type { HostPool } from '@tidemark/runtime/host';
import type { Logger } from '../observability/log-hub.ts';
import { Ticker } from '../ticker.ts';
import type { PointLog } from '../shared-log/point-log.ts';
import { RemoteInstance } from './remote-instance.ts';
import type { RemoteInstanceOptions } from './remote-instance.ts';

export type RemoteHostsOptions = Pick<
  RemoteInstanceOptions,
  'secret' | 'term' | 'version' | 'leaseMs' | 'server' | 'dial'
> & {
  readonly pool: HostPool;
  /** Id of this instance. */
  readonly self: string;
  readonly members: () => readonly Member[];
  readonly points: PointLog;
  readonly clock: Clock;
  readonly logger: Logger;
};

/** Checks of the members within a lease. */
const LOOKS = 4;

export class RemoteHosts {
  readonly #options: RemoteHostsOptions;
  readonly #instances = new Map<string, RemoteInstance>();
  readonly #connecting = new Map<string, Promise<void>>();
  /** Why connecting to an instance failed the last time: logged once. */
  readonly #refused = new Map<string, string>();
  readonly #ticker: Ticker;
  #leaving = '';
  #isClosed = false;
  /** Called when instances have come, or are about to leave. */
  onChange: () => void = () => undefined;

  private constructor(options: RemoteHostsOptions) {
    this.#options = options;
    this.#ticker = new Ticker(options.clock, options.leaseMs / LOOKS, () => this.#look());
  }

  /** Connects to the live instances, but does not wait long for those that do not answer. */
  static async open(options: RemoteHostsOptions): Promise<RemoteHosts> {
    const hosts = new RemoteHosts(options);
    hosts.#look();
    const asked = Promise.all(hosts.#connecting.values()).then(() => undefined);
    const answer = await within(options.clock, options.leaseMs / 2, asked);
    if (answer === LATE) options.logger('warn', 'not all instances answer yet', {});
    return hosts;
  }

  /** Instances besides this one that run tasks, or could. */
  get instances(): readonly RemoteInstance[] {
    return [...this.#instances.values()];
  }

  /** Whether an instance, possibly this one, may run tasks: not if it is leaving. */
  isStaying(id: string): boolean {
    const member = this.#options.members().find((one) => one.id === id);
    return member?.isDraining !== true && this.#instances.get(id)?.isLeaving !== true;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#ticker.close();
    for (const instance of this.#instances.values()) await instance.close('the engine stops');
    await Promise.all(this.#connecting.values());
  }

  #look(): void {
    const { members, self, version } = this.#options;
    const alive = members().filter(({ id, isAlive }) => isAlive && id !== self);
    for (const member of alive) {
      if (member.version !== version || member.isDraining) continue;
      if (this.#instances.has(member.id) || this.#connecting.has(member.id)) continue;
      const connecting = this.#connect(member).finally(() => this.#connecting.delete(member.id));
      this.#connecting.set(member.id, connecting);
    }
    for (const instance of this.#instances.values())
      if (!alive.some(({ id }) => id === instance.id))
        void instance.close('the lease of the instance has ended'); // Ends at once.
    const leaving = this.instances.filter(({ id }) => !this.isStaying(id)).map(({ id }) => id);
    if (leaving.join() === this.#leaving) return;
    this.#leaving = leaving.join();
    this.onChange();
  }

  /** Never rejects. */
  async #connect({ id, url }: Member): Promise<void> {
    const { pool, logger } = this.#options;
    // Absent if the connection ends before the instance has reported that it is ready.
    let connected: RemoteInstance | undefined;
    try {
      const instance = await RemoteInstance.connect({
        ...this.#options,
        id,
        url,
        lost: () => {
          if (connected === undefined || this.#instances.get(id) !== connected) return;
          this.#instances.delete(id);
          pool.removeLocation(id);
        },
        leaving: () => this.onChange(),
      });
      connected = instance;
      if (this.#isClosed) return await instance.close('the engine stops');
      this.#instances.set(id, instance);
      this.#refused.delete(id);
      pool.addLocation(instance);
      logger('info', 'an instance runs tasks', { instance: id, url, hosts: instance.hostCount });
      this.onChange();
    } catch (error) {
      const reason = messageOf(error);
      if (this.#refused.get(id) === reason) return;
      this.#refused.set(id, reason);
      logger('warn', 'an instance does not run tasks', { instance: id, url, err: reason });
    }
  }
}
