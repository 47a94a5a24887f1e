// Finds the targets to scrape: static ones, those listed in files, and those from DNS.
import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { InvalidRequest, Unavailable, NotFound } from '@tidemark/core';
import { compileGlob, durationMs } from '@tidemark/settings';
import type { OptionTable, OptionsOf, SectionSpec, Sections } from '@tidemark/settings';
import { parseYaml } from '../formats/yaml.ts';

import { DNS_DISCOVERY, FILE_DISCOVERY, STATIC_DISCOVERY } from '../config/scrape-sections.ts';
import type { IDENTITY } from '../config/scrape-sections.ts';

/** An exporter and the tags of its samples. */
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

/** An element of a discoverer's section. */
export type Discoverer = {
  /** The section's name. */
  readonly service: string;
  /** How long its targets are valid; 0 is for one scrape. */
  readonly refreshMs: number;
  readonly lookUp: (resolver: NameResolver) => Promise<readonly Target[]>;
};

/** The element of that name. Throws `NotFound` when there is none, or it is not enabled. */
export function findDiscoverer(
  service: string,
  id: string,
  sections: Pick<Sections, 'elements'>,
): Discoverer {
  const find = <Table extends OptionTable & typeof IDENTITY>(
    section: SectionSpec<Table>,
  ): OptionsOf<Table> => {
    const found = sections.elements(section).find((options) => options.id === id);
    if (found?.enabled === true) return found;
    throw notEnabled(service, id);
  };
  switch (service) {
    case STATIC_DISCOVERY.name: {
      const { targets, labels } = find(STATIC_DISCOVERY);
      const found = targetsOf(targets ?? [], Object.entries(labels ?? {}));
      return { service, refreshMs: 0, lookUp: () => Promise.resolve(found) };
    }
    case FILE_DISCOVERY.name: {
      const options = find(FILE_DISCOVERY);
      const refreshMs = durationMs(options['refresh-interval']);
      return { service, refreshMs, lookUp: () => fromFiles(options.files ?? []) };
    }
    case DNS_DISCOVERY.name: {
      const options = find(DNS_DISCOVERY);
      const refreshMs = durationMs(options['refresh-interval']);
      return { service, refreshMs, lookUp: (resolver) => fromNames(options, resolver) };
    }
    default:
      throw notEnabled(service, id);
  }
}

function notEnabled(service: string, id: string): NotFound {
  return new NotFound(`discoverer ${JSON.stringify(id)} of ${service} is not enabled`);
}

/**
 * Targets of a discoverer. Rejects with `Unavailable` when a file or a name server does not answer,
 * with `InvalidRequest` for a file that lists no targets.
 */
export async function discover(
  { service, lookUp }: Discoverer,
  resolver: NameResolver,
): Promise<readonly Target[]> {
  const targets = await lookUp(resolver);
  if (targets.length > TARGETS_MAX) {
    throw new InvalidRequest(`more than ${TARGETS_MAX} targets. discoverer=\`${service}\``);
  }
  return targets;
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

async function fromNames(
  options: OptionsOf<typeof DNS_DISCOVERY.options>,
  resolver: NameResolver,
): Promise<readonly Target[]> {
  const type = options.type.toUpperCase();
  const port = options.port;
  const targets: Target[] = [];
  for (const name of options['record-names'] ?? []) {
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
