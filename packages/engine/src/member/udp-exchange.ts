// UDP subscriptions of a cluster: every instance listens as the leader requests, and forwards what
// it receives to the current leader.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { AppError, LATE, messageOf, Unavailable, within } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import type { Member } from '@tidemark/cluster';
import { SUBSCRIBER } from '../access/request.ts';
import { BASE } from '../http/routes.ts';
import type { UdpInput, UdpInputs, UdpListening } from '../ingest/udp-inputs.ts';
import { BadLine } from '../ingest/write-path.ts';
import type { WritePath, WriteTarget } from '../ingest/write-path.ts';
import type { Logger } from '../observability/log-hub.ts';
import { NOT_LEADING_STATUS } from './leader-proxy.ts';
import { askInstance, isOfCluster } from '../cluster/instance-request.ts';

/** The path under which an instance gets its inputs, independent of the `http` settings. */
const PATH = '/cluster/udp-inputs';

/** Interval of checking for a leader, and of retries. */
const RETRY_MS = 50;

/** The leader's request to an instance, which answers with its ports in the same order. */
type Wanted = {
  readonly section: string;
  readonly inputs: readonly UdpInput[];
  /** Token of the subscriber, if the engine requires credentials. */
  readonly token?: string | undefined;
};

export type UdpExchangeOptions = {
  /** Id of this instance. */
  readonly self: string;
  readonly secret: string;
  readonly members: () => readonly Member[];
  readonly token: string | undefined;
  readonly log: Logger;
};

/** Lets all instances listen. */
export class UdpExchange implements UdpListening {
  readonly #options: UdpExchangeOptions;

  constructor(options: UdpExchangeOptions) {
    this.#options = options;
  }

  /** Throws `Unavailable` when a live one does not answer, or none can listen. */
  async listen(section: string, inputs: readonly UdpInput[]): ReturnType<UdpListening['listen']> {
    const { self, members } = this.#options;
    const alive = members()
      .filter(({ isAlive }) => isAlive)
      .sort((a, b) => Number(b.id === self) - Number(a.id === self));
    const heard = await Promise.all(
      alive.map(async (member) => ({
        member,
        ports: await this.#ask(member, { section, inputs, token: this.#options.token }),
      })),
    );
    const listening = heard.filter(({ ports }) => ports.length === inputs.length);
    if (listening.length === 0)
      throw new Unavailable('no instance of the cluster listens for udp: their logs say why');
    return inputs.map((_, i) =>
      listening.map(({ member, ports }) => ({
        hostname: member.hostname,
        port: ports[i] ?? 0,
      })),
    );
  }

  /** The next leader takes over the inputs of the instances. */
  close(): Promise<void> {
    return Promise.resolve();
  }

  async #ask(member: Member, wanted: Wanted): Promise<readonly number[]> {
    const { secret, log } = this.#options;
    const body = JSON.stringify(wanted);
    const response = await askInstance(member, { secret, method: 'PUT', path: PATH, body });
    if (response.status === 200) return (await response.json()) as readonly number[];
    log('warn', 'an instance does not listen for subscriptions over udp', {
      instance: member.url,
      err: await response.text(),
    });
    return [];
  }
}

/** Options for forwarding received lines. */
export type UdpRelayOptions = {
  /** The leading engine, in this process or another; `undefined` while there is none. */
  readonly leader: () =>
    | { readonly writes: Pick<WritePath, 'write'> }
    | { readonly url: string }
    | undefined;
  readonly secret: () => string;
  readonly clock: Clock;
  /** How long lines wait for a leader that accepts them. */
  readonly waitMs: number;
  /** Address in this instance's own configuration of a section; absent if it has none. */
  readonly bindOf: (section: string) => string | undefined;
};

/** Listens as the leader requests, and forwards received lines to it. */
export class UdpRelay {
  readonly #options: UdpRelayOptions;
  #token: string | undefined;

  constructor(options: UdpRelayOptions) {
    this.#options = options;
  }

  /** Answers a request of the leader; `false` for any other request. */
  async answer(
    request: IncomingMessage,
    response: ServerResponse,
    inputs: UdpInputs,
  ): Promise<boolean> {
    if (request.url !== PATH || !isOfCluster(request, this.#options.secret())) return false;
    const wanted = JSON.parse(await text(request)) as Wanted;
    const { section, token } = wanted;
    this.#token = token;
    const bind = this.#options.bindOf(section);
    try {
      const ports = await inputs.listen(
        section,
        wanted.inputs.map((input) => ({ ...input, host: bind ?? input.host })),
      );
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(ports));
    } catch (error) {
      response.writeHead(503).end(messageOf(error));
    }
    return true;
  }

  /**
   * Sends lines to the leader. They go to the next one if it has not answered with success, so they
   * may count twice then, as over HTTP. Throws `BadLine`, and `Unavailable` when no leader has
   * accepted them.
   */
  async write(body: Uint8Array, target: WriteTarget): Promise<void> {
    const { leader, clock, waitMs } = this.#options;
    const untilMs = clock.monotonicMs() + waitMs;
    let problem = 'the cluster has no leader at the moment';
    for (;;) {
      const to = leader();
      let refusal: string | undefined = problem;
      if (to !== undefined)
        refusal =
          'writes' in to
            ? await this.#writeHere(to.writes, body, target)
            : await this.#send(to.url, body, target);
      if (refusal === undefined) return;
      problem = refusal;
      if (clock.monotonicMs() >= untilMs) throw new Unavailable(problem);
      await clock.sleep(RETRY_MS);
    }
  }

  /** Why the engine of this process did not accept them; `undefined` when it did. */
  async #writeHere(
    writes: Pick<WritePath, 'write'>,
    body: Uint8Array,
    target: WriteTarget,
  ): Promise<string | undefined> {
    const { clock, waitMs } = this.#options;
    try {
      const found = await within(clock, waitMs, writes.write(body, target));
      return found === LATE ? `the engine did not take them within ${waitMs} ms` : undefined;
    } catch (error) {
      if (error instanceof BadLine) throw error;
      return messageOf(error);
    }
  }

  /** Why another instance did not accept them; `undefined` when it did. */
  async #send(
    url: string,
    body: Uint8Array,
    { database, retentionPolicy, precision }: WriteTarget,
  ): Promise<string | undefined> {
    const { waitMs } = this.#options;
    const credentials = Buffer.from(`${SUBSCRIBER}:${this.#token}`).toString('base64');
    const query = new URLSearchParams({ db: database, rp: retentionPolicy, precision });
    try {
      const response = await fetch(`${url}${BASE}/write?${query}`, {
        method: 'POST',
        headers: this.#token === undefined ? {} : { Authorization: `Basic ${credentials}` },
        body: Buffer.from(body),
        signal: AbortSignal.timeout(waitMs),
      });
      const said = await response.text();
      if (response.status === 204) return undefined;
      if (response.status === 400) throw new BadLine(reasonOf(said));
      const problem = `${url} answers ${response.status}: ${said}`;
      if (response.status < 500 && response.status !== NOT_LEADING_STATUS)
        throw new Unavailable(problem);
      return problem;
    } catch (error) {
      if (error instanceof AppError) throw error;
      return `${url} does not answer: ${messageOf(error)}`;
    }
  }
}

/** The reason of a refusal; older versions send it as plain text. */
function reasonOf(body: string): string {
  try {
    const answer = JSON.parse(body) as { readonly error?: unknown } | null;
    return typeof answer?.error === 'string' ? answer.error : body.trim();
  } catch {
    // Not JSON.
    return body.trim();
  }
}
