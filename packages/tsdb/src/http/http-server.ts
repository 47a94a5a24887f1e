// The HTTP interface from the first moment: listens while storage recovers, then serves, then
// drains.
import type { Clock } from '@tidemark/core';

import type { TsdbConfig } from '../config/schema.ts';
import { LIMITS } from '../limits.ts';
import { Listeners } from './listen.ts';
import type { BorderedListener } from './listen.ts';
import { Refuser } from './malformed.ts';
import { answerWhileRecovering } from './recovering.ts';

/** Listens first, answers everything once it may `serve`. */
export class HttpServer {
  readonly #config: TsdbConfig;
  readonly #clock: Clock;
  readonly #listeners: Listeners;
  #onRequest: BorderedListener;
  #cancelQueries = (): void => undefined;
  #closing: Promise<void> | undefined;

  constructor(
    config: TsdbConfig,
    { clock, pageKey }: { readonly clock: Clock; readonly pageKey?: string | undefined },
  ) {
    const { http } = config;
    const settings = { hasCompatHeaders: http.compatRoutes, extra: http.headers };
    this.#config = config;
    this.#clock = clock;
    this.#listeners = new Listeners(new Refuser(settings, clock), pageKey);
    this.#onRequest = (request, response, border) =>
      answerWhileRecovering(request, response, settings, border);
  }

  /** Of the first address; empty when HTTP is switched off. */
  get url(): string {
    return this.urls[0] ?? '';
  }

  get urls(): readonly string[] {
    return this.#listeners.urls;
  }

  /**
   * Starts to listen. Until `serve`, only liveness is answered. What was opened stays open when it
   * throws.
   */
  async open(): Promise<void> {
    if (!this.#config.http.enabled) return;
    await this.#listeners.open(this.#config, (...request) => this.#onRequest(...request));
  }

  /** Answers everything from now on; `cancelQueries` ends those that hold up a stop. */
  serve(onRequest: BorderedListener, cancelQueries: () => void): void {
    this.#onRequest = onRequest;
    this.#cancelQueries = cancelQueries;
  }

  reloadCertificates(): void {
    this.#listeners.reloadCertificates(this.#config);
  }

  /** Stops accepting, lets running requests end, ends those that take too long. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#drain();
    return this.#closing;
  }

  async #drain(): Promise<void> {
    const timer = new AbortController();
    const cut = (async () => {
      await this.#clock.sleep(LIMITS.drainMs.value, timer.signal);
      this.#cancelQueries();
      await this.#clock.sleep(LIMITS.cutMs.value, timer.signal);
      this.#listeners.closeAllConnections();
    })().catch(() => undefined); // Drained in time.
    await this.#listeners.close();
    timer.abort();
    await cut;
    this.#cancelQueries();
  }
}
