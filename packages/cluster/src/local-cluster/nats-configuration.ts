// The configuration of the coordinator of a local cluster.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** From this version on a server can sync its files after every change. */
const SYNCS_FROM = [2, 10] as const;

/**
 * As a server tells its version: `nats-server: v2.9.10`. Throws when the program can not be run.
 */
export function natsVersion(program: string): string {
  return execFileSync(program, ['--version'], { encoding: 'utf8' });
}

/**
 * What is acknowledged survives a power failure where the server can do that; others sync their
 * files now and then.
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

function syncsAlways(version: string): boolean {
  const [, major = 0, minor = 0] = (/v(\d+)\.(\d+)/.exec(version) ?? []).map(Number);
  return major > SYNCS_FROM[0] || (major === SYNCS_FROM[0] && minor >= SYNCS_FROM[1]);
}
