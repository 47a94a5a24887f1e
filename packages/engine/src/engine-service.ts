// A running engine, and its start options.
import type { Resolver } from 'node:dns/promises';
import type { Clock } from '@tidemark/core';
import type { LogSink } from './observability/log-hub.ts';
import type { Build } from './shared-log/build.ts';

export type StartEngineOptions = {
  readonly log: LogSink;
  /** Default: the machine's clock. */
  readonly clock?: Clock | undefined;
  /** Database that tasks use when the configuration names no cluster. */
  readonly defaultTsdbUrl?: string | undefined;
  /** Start without applying stored overrides; the configuration may say the same. */
  readonly skipConfigOverrides?: boolean | undefined;
  /** The environment in which secrets `env:NAME` are looked up; default: empty. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
  /** Resolves names for scrapers; default: the machine's name servers. */
  readonly resolver?: Resolver | undefined;
  /**
   * Key with which the web server of this process proves that it may state its clients' addresses.
   */
  readonly pageKey?: string | undefined;
  /** The table of the configuration file that has the engine's sections; default: none. */
  readonly settingsUnder?: string | undefined;
  /** The version and formats that are reported to a cluster; default: the real ones. */
  readonly build?: Build | undefined;
};

/** A running engine. */
export type EngineService = {
  /** URL of the API, without a slash at the end. */
  readonly url: string;
  /** Reads the load directory and sideload sources again. */
  reload(): Promise<void>;
  /**
   * The process has failed unexpectedly, and states may lack points by now: in a cluster nothing
   * more is stored, and another instance continues from what the logs have.
   */
  abandon?(): void;
  /**
   * Stops gracefully: acknowledged points are processed, state is saved. Calling it again waits for
   * the same end.
   */
  close(): Promise<void>;
};
