// The configuration of a local cluster's coordinator.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** The first version whose servers can sync their files after every change. */
const SYNCS_FROM = [2, 10] as const;

/**
 * The version of a server, which it prints as `nats-server: v2.9.10`. Throws if the program cannot
 * be run.
 */
export function natsVersion(program: string): string {
  return execFileSync(program, ['--version'], { encoding: 'utf8' });
}

/**
 * The configuration. If the server can sync after every change, acknowledged data survives a power
 * failure; older ones sync from time to time.
 */
export function natsConfiguration({
  port,
  directory,
  version,
}: {
  readonly port: number;
  readonly directory: string;
  /** See `natsVersion`. */
  readonly version: string;
}): string {
  const store = `store_dir: ${JSON.stringify(join(directory, 'data'))}`;
  const jetstream = syncsAlways(version) ? `${store}, sync_interval: always` : store;
  return [`listen: "127.0.0.1:${port}"`, 'max_payload: 8MB', `jetstream { ${jetstream} }`, ''].join(
    '\n',
  );
}

/** Whether a server of a version is told to sync its files after every change. */
export function syncsAlways(version: string): boolean {
  const [, major = 0, minor = 0] = (/v(\d+)\.(\d+)/.exec(version) ?? []).map(Number);
  return major > SYNCS_FROM[0] || (major === SYNCS_FROM[0] && minor >= SYNCS_FROM[1]);
}
