// UDP listeners for databases that push over UDP: one for each database and policy of each section
// of the configuration.
import type { Logger } from '../observability/log-hub.ts';
import { UdpListener } from './udp-listener.ts';
import type { UdpListenerOptions } from './udp-listener.ts';
import type { WriteTarget } from './write-path.ts';

/** All addresses if `host` is empty. */
export type UdpInput = Pick<UdpListenerOptions, 'host' | 'readBufferBytes' | 'packetsMax'> &
  Pick<WriteTarget, 'database' | 'retentionPolicy'>;

const ANY_ADDRESS = '0.0.0.0';

/** Listens for databases: this process, or all instances of a cluster. */
export type UdpListening = {
  /**
   * Sets the inputs of a section of the configuration. Returns the addresses of each, that of this
   * process first.
   */
  listen(
    section: string,
    inputs: readonly UdpInput[],
  ): Promise<readonly (readonly { readonly hostname: string; readonly port: number }[])[]>;
  close(): Promise<void>;
};

export type UdpInputsOptions = Pick<UdpListenerOptions, 'write'> & { readonly log: Logger };

export class UdpInputs {
  readonly #options: UdpInputsOptions;
  /** Keyed by section, then by database and policy. */
  readonly #sections = new Map<string, Map<string, UdpListener>>();
  #working: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(options: UdpInputsOptions) {
    this.#options = options;
  }

  /** Sets the inputs of a section and returns their ports. Existing ones stay. */
  listen(section: string, inputs: readonly UdpInput[]): Promise<readonly number[]> {
    const listening = this.#working.then(() => this.#listen(section, inputs));
    this.#working = listening.catch(() => undefined);
    return listening;
  }

  /** Stops listening. Received points are written first. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#working;
    for (const section of this.#sections.keys()) await this.#listen(section, []);
  }

  async #listen(section: string, inputs: readonly UdpInput[]): Promise<readonly number[]> {
    const before = this.#sections.get(section) ?? new Map<string, UdpListener>();
    const wanted = this.#isClosed ? [] : inputs;
    const after = new Map<string, UdpListener>();
    this.#sections.set(section, after);
    const ports: number[] = [];
    try {
      for (const input of wanted) {
        const { database, retentionPolicy } = input;
        const key = JSON.stringify([database, retentionPolicy]);
        const target = { database, retentionPolicy, precision: 'ns' } as const;
        const listener =
          before.get(key) ??
          (await UdpListener.open({
            ...this.#options,
            ...input,
            host: input.host || ANY_ADDRESS,
            port: 0,
            target,
          }));
        before.delete(key);
        after.set(key, listener);
        ports.push(listener.port);
      }
    } finally {
      await Promise.all([...before.values()].map((listener) => listener.close()));
    }
    return ports;
  }
}
