// The database of the same process, when an engine and a database run together.
import { defaultOptions } from '@tidemark/settings';
import type { EngineConfig } from '../config/config.ts';
import { TSDB_SECTION } from '../config/cluster-section.ts';
import type { OwnDatabase } from './clusters.ts';

/** It trusts the page's server. `undefined` if there is none. */
export function ownDatabaseOf({
  defaultTsdbUrl,
  pageKey,
}: {
  readonly defaultTsdbUrl?: string | undefined;
  readonly pageKey?: string | undefined;
}): OwnDatabase | undefined {
  if (pageKey === undefined || defaultTsdbUrl === undefined) return undefined;
  return { url: defaultTsdbUrl, pageKey };
}

/** The cluster of a configuration that has none. */
export function withDefaultCluster(config: EngineConfig, url: string | undefined): EngineConfig {
  if (url === undefined || (config.overridable.get('tsdb') ?? []).length > 0) return config;
  const cluster = {
    ...defaultOptions(TSDB_SECTION.options),
    name: 'default',
    default: true,
    urls: [url],
  };
  return { ...config, overridable: new Map([...config.overridable, ['tsdb', [cluster]]]) };
}
