// A client of the soak: sends requests through the balancer and records unexpected responses.
import { setTimeout as sleep } from 'node:timers/promises';

import { send } from '@tidemark/testkit';

export const DATABASE = 'soak';

/** A client gives up what is not answered by then, and asks again. */
const ATTEMPT_MS = 15_000;

/** A request with an unwanted response. */
export type Trouble = {
  readonly what: 'write' | 'read' | 'change';
  /** 0: the connection broke. */
  readonly status: number;
  readonly text: string;
};

export class Client {
  readonly #url: () => string;
  readonly #problems: string[] = [];
  #troubles: Trouble[] = [];

  constructor(url: () => string) {
    this.#url = url;
  }

  /** Violated invariants. */
  get problems(): readonly string[] {
    return this.#problems;
  }

  problem(text: string): void {
    this.#problems.push(text);
  }

  /** Troubles since this was asked last. */
  takeTroubles(): readonly Trouble[] {
    const taken = this.#troubles;
    this.#troubles = [];
    return taken;
  }

  write(body: string, database = DATABASE): Promise<string | undefined> {
    return this.#ask('write', `/write?db=${database}`, body, 204);
  }

  read(text: string, database = DATABASE): Promise<string | undefined> {
    const form = new URLSearchParams({ q: text, db: database, epoch: 'ns' });
    return this.#ask('read', '/query', form, 200);
  }

  /** Repeats a statement until it is acknowledged. */
  async change(text: string, database = DATABASE): Promise<void> {
    const form = new URLSearchParams({ q: text, db: database });
    while ((await this.#ask('change', '/query', form, 200)) === undefined);
  }

  /** The text of a wanted answer, which may be empty; `undefined` otherwise. */
  async #ask(
    what: Trouble['what'],
    path: string,
    body: string | URLSearchParams,
    wanted: number,
  ): Promise<string | undefined> {
    try {
      const signal = AbortSignal.timeout(ATTEMPT_MS);
      const { status, text } = await send(this.#url() + path, { method: 'POST', body, signal });
      if (status === wanted && !text.includes('"error"')) return text;
      this.#troubles.push({ what, status, text: text.trim() });
      if (what === 'write' && status !== 503)
        this.#problems.push(`a write is answered with ${status}: ${text}`);
    } catch (error) {
      this.#troubles.push({ what, status: 0, text: String(error) });
    }
    // Clients that come again at once would only heat the machine.
    await sleep(50);
    return undefined;
  }
}
