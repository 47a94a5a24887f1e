// Ways to run the service in which a request costs something more, or something less: what each
// part of a request costs is the difference to the plain one.
import { fileURLToPath } from 'node:url';

const CERTIFICATE = fileURLToPath(
  new URL('../../../packages/tsdb/src/testdata/localhost.pem', import.meta.url),
);

export type Variant = {
  readonly args: readonly string[];
  /** Credentials of the requests, after an administrator `root` with password `pw` was made. */
  readonly credentials?: 'password' | 'api-token' | undefined;
};

const AUTH = ['--http-auth-enabled', 'true'];

export const VARIANTS = {
  plain: { args: [] },
  password: { args: AUTH, credentials: 'password' },
  token: { args: AUTH, credentials: 'api-token' },
  tls: { args: ['--http-https-enabled', 'true', '--http-https-certificate', CERTIFICATE] },
  'no-sync': { args: ['--data-wal-fsync-delay', '1h'] },
  'no-log': { args: ['--http-log-enabled', 'false'] },
  'log-file': { args: ['--http-access-log-path', '/dev/null'] },
  'no-old-headers': { args: ['--http-compat-routes', 'false'] },
  'no-deadline': { args: ['--coordinator-write-timeout', '0s'] },
  'no-body-limit': { args: ['--http-body-memory-limit', '0'] },
} as const satisfies Readonly<Record<string, Variant>>;

export type VariantName = keyof typeof VARIANTS;

export function variantOf(name: string): Variant {
  if (Object.hasOwn(VARIANTS, name)) return VARIANTS[name as VariantName];
  throw new Error(`no variant ${name}: ${Object.keys(VARIANTS).join(', ')}`);
}
