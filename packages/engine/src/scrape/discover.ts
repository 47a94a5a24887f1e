// Who is to be scraped: targets that are written down, listed in files, or known to name servers.
import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { InvalidRequest, Unavailable } from '@tidemark/core';
import { compileGlob, integer, map, strings, text } from '@tidemark/settings';
import type { Options } from '@tidemark/settings';
import { parseYaml } from '../files/yaml.ts';

/** An exporter and the tags of what it shows. */
export type Target = {
  /** host:port */
  readonly address: string;
  readonly labels: ReadonlyMap<string, string>;
};

/** The look-ups of `node:dns/promises` that are used. */
export type NameResolver = {
  resolve4(name: string): Promise<readonly string[]>;
  resolve6(name: string): Promise<readonly string[]>;
  resolveSrv(name: string): Promise<readonly { readonly name: string; readonly port: number }[]>;
};

const TARGETS_MAX = 10_000;

/**
 * Targets of one element of a discoverer's section. Rejects with `Unavailable` when a file or a
 * name server does not answer, with `InvalidRequest` for a file that lists no targets.
 */
export async function discover(
  service: string,
  options: Options,
  resolver: NameResolver,
): Promise<readonly Target[]> {
  const targets = await lookUp(service, options, resolver);
  if (targets.length > TARGETS_MAX) {
    throw new InvalidRequest(`more than ${TARGETS_MAX} targets. discoverer=\`${service}\``);
  }
  return targets;
}

function lookUp(
  service: string,
  options: Options,
  resolver: NameResolver,
): Promise<readonly Target[]> {
  switch (service) {
    case 'static-discovery':
      return Promise.resolve(
        targetsOf(strings(options, 'targets'), Object.entries(map(options, 'labels'))),
      );
    case 'file-discovery':
      return fromFiles(strings(options, 'files'));
    case 'dns':
      return fromNames(options, resolver);
    default:
      throw new InvalidRequest(`unknown discoverer service ${JSON.stringify(service)}`);
  }
}

function targetsOf(
  addresses: readonly string[],
  labels: readonly (readonly [string, string])[],
): readonly Target[] {
  return addresses.map((address) => ({ address, labels: new Map(labels) }));
}

async function fromFiles(patterns: readonly string[]): Promise<readonly Target[]> {
  const targets: Target[] = [];
  for (const pattern of patterns) {
    for (const file of await filesOf(pattern)) {
      let content: string;
      try {
        content = await readFile(file, 'utf8');
      } catch (cause) {
        throw new Unavailable(`cannot read targets. file=\`${file}\``, { cause });
      }
      targets.push(...readTargets(content, file));
    }
  }
  return targets;
}

async function filesOf(pattern: string): Promise<readonly string[]> {
  const glob = compileGlob(basename(pattern));
  if (glob === undefined) throw new InvalidRequest(`malformed pattern. files=\`${pattern}\``);
  try {
    const names = await readdir(dirname(pattern));
    return names
      .filter(glob)
      .sort()
      .map((name) => join(dirname(pattern), name));
  } catch (cause) {
    throw new Unavailable(`cannot read the folder of targets. files=\`${pattern}\``, { cause });
  }
}

function readTargets(content: string, file: string): readonly Target[] {
  const document = file.endsWith('.json') ? readJson(content, file) : parseYaml(content);
  if (!Array.isArray(document)) throw new InvalidRequest(`expected a list. file=\`${file}\``);
  return document.flatMap((group: unknown) => {
    const { targets, labels = {} } = (group ?? {}) as { targets?: unknown; labels?: unknown };
    if (!Array.isArray(targets) || labels === null || typeof labels !== 'object') {
      throw new InvalidRequest(`expected targets and labels. file=\`${file}\``);
    }
    const tags = Object.entries(labels).map(([name, value]) => [name, String(value)] as const);
    return targetsOf(targets.map(String), tags);
  });
}

function readJson(content: string, file: string): unknown {
  try {
    return JSON.parse(content);
  } catch (cause) {
    throw new InvalidRequest(`invalid JSON. file=\`${file}\``, { cause });
  }
}

async function fromNames(options: Options, resolver: NameResolver): Promise<readonly Target[]> {
  const type = text(options, 'type').toUpperCase();
  const port = integer(options, 'port');
  const targets: Target[] = [];
  for (const name of strings(options, 'record-names')) {
    try {
      targets.push(...targetsOf(await addressesOf(name, { type, port, resolver }), []));
    } catch (cause) {
      throw new Unavailable(`cannot look up ${name}: ${String(cause)}`, { cause });
    }
  }
  return targets;
}

async function addressesOf(
  name: string,
  {
    type,
    port,
    resolver,
  }: { readonly type: string; readonly port: number; readonly resolver: NameResolver },
): Promise<readonly string[]> {
  if (type === 'SRV') {
    const records = await resolver.resolveSrv(name);
    return records.map((record) => `${record.name}:${record.port}`);
  }
  if (type === 'AAAA')
    return (await resolver.resolve6(name)).map((address) => `[${address}]:${port}`);
  return (await resolver.resolve4(name)).map((address) => `${address}:${port}`);
}
