// Restores into the service: points first, under ids that no policy has yet, then the catalog. If a
// crash interrupts it, the points are not in the catalog and are removed at the next start.
import { Conflict, InvalidRequest, NotFound } from '@tidemark/core';
import { openArriving } from '@tidemark/storage';
import type { Storage, StorageMaintenance } from '@tidemark/storage-api';

import type { Catalog } from '../catalog/catalog.ts';
import { requireValidName } from '../catalog/databases.ts';
import type { ApiToken, CatalogState, Database, User } from '../catalog/model.ts';
import { ArrivingDocuments } from './documents.ts';
import type { DocumentPlaces } from './documents.ts';
import { decodeMetadata } from './metadata.ts';
import type { CatalogEntries } from '../catalog/catalog-record.ts';

export type RestoreOptions = {
  /** Only this database of the backup; absent: everything, users included. */
  readonly database?: string | undefined;
  /** Its name here; absent: the same. */
  readonly as?: string | undefined;
  /** A database that is left out if it exists already (the monitor's own). */
  readonly optional?: string | undefined;
};

export type RestoreOutcome = {
  readonly databases: readonly string[];
  readonly shards: number;
  readonly segments: number;
  readonly bytes: number;
  /** Names of users and tokens that were added; existing ones stay as they are. */
  readonly users: readonly string[];
  readonly tokens: readonly string[];
  /** Number of documents that were added; existing ones stay as they are. */
  readonly documents: number;
  /** Parts of the backup that were not restored, with the reason. */
  readonly leftOut: readonly string[];
};

export type RestoreTarget = {
  readonly catalog: Catalog;
  readonly storage: Storage;
  readonly documents: DocumentPlaces;
};

/** Throws `InvalidRequest` where the points are not in files of the service. */
export function maintenanceOf({ maintenance }: Storage): StorageMaintenance {
  if (maintenance !== undefined) return maintenance;
  throw new InvalidRequest(
    'with storage.engine = clickhouse, points are backed up by the means of the cluster',
  );
}

/** Databases as they will be, and their policies' ids in the backup. */
type Plan = {
  readonly renames: ReadonlyMap<string, string>;
  readonly databases: readonly Database[];
  readonly policies: ReadonlyMap<number, number>;
  readonly leftOut: readonly string[];
};

/**
 * Adds the part of a full backup, or of a chain of them, newest first, that `options` select.
 * Nothing is visible before all of it is durable. Throws `Conflict` when a database exists already,
 * `NotFound` when the backup does not have it, `Corruption` when the backup is damaged.
 */
export async function restoreBackup(
  target: RestoreTarget,
  options: RestoreOptions,
  arriving: AsyncIterable<Uint8Array>,
): Promise<RestoreOutcome> {
  const { catalog, storage } = target;
  const maintenance = maintenanceOf(storage);
  const backup = await openArriving(arriving, 'backup');
  const documents = new ArrivingDocuments(target.documents);
  try {
    const metadata = decodeMetadata(backup.contents.metadata);
    const plan = await reserve(catalog, metadata, options);
    const isWhole = options.database === undefined;
    if (isWhole) await documents.take(backup.attachments());
    else for await (const _ of backup.attachments());
    const { renames: databases, policies } = plan;
    const report = await maintenance.restore({ databases, policies }, backup.bytes());
    const added = isWhole ? metadata : { users: [], tokens: [] };
    const { users, tokens } = await commit(catalog, plan, added).catch(async (error: unknown) => {
      for (const id of plan.policies.values()) await storage.points.dropPolicy(id);
      throw error;
    });
    const { shards, segments, bytes } = report;
    const names = plan.databases.map(({ name }) => name);
    const adopted = await documents.adopt();
    const leftOut = [...plan.leftOut, ...adopted.leftOut];
    const counts = { shards, segments, bytes, documents: adopted.count };
    return { databases: names, users, tokens, ...counts, leftOut };
  } finally {
    documents.close();
    await backup.close();
  }
}

/** Selects the databases to restore and reserves ids for them. */
async function reserve(
  catalog: Catalog,
  metadata: CatalogEntries,
  options: RestoreOptions,
): Promise<Plan> {
  const chosen = choose(metadata, catalog.state, options);
  const leftOut: string[] = [];
  const databases: Database[] = [];
  const policies = new Map<number, number>();
  const renames = new Map<string, string>();
  for (const database of metadata.databases) {
    if (!chosen.includes(database)) leftOut.push(`database ${database.name}`);
  }
  await catalog.change((state) => {
    let id = state.nextId;
    for (const database of chosen) {
      const name = options.as ?? database.name;
      renames.set(database.name, name);
      const copy = name === database.name ? database : withoutLinks(database, leftOut);
      databases.push({
        ...copy,
        name,
        id: id++,
        policies: copy.policies.map((policy) => {
          policies.set(policy.id, id);
          return { ...policy, id: id++ };
        }),
      });
    }
    return { ...state, nextId: id };
  });
  return { renames, databases, policies, leftOut };
}

function choose(
  metadata: CatalogEntries,
  state: CatalogState,
  { database: wanted, as, optional }: RestoreOptions,
): readonly Database[] {
  if (as !== undefined) {
    if (wanted === undefined) throw new InvalidRequest('a new name needs the name of one database');
    requireValidName(as);
  }
  const chosen = metadata.databases.filter(({ name }) =>
    wanted === undefined ? name !== optional || !state.databases.has(name) : name === wanted,
  );
  if (wanted !== undefined && chosen.length === 0) {
    const names = metadata.databases.map(({ name }) => name).join(', ');
    throw new NotFound(`the backup has no database ${wanted}; it has: ${names}`);
  }
  for (const { name } of chosen) requireNew(state, as ?? name);
  return chosen;
}

function requireNew(state: CatalogState, name: string): void {
  if (!state.databases.has(name)) return;
  throw new Conflict(
    `database ${name} exists already: drop it first, or restore the one of the backup under another name`,
  );
}

/** A copy under another name must not repeat what the original does. */
function withoutLinks(database: Database, leftOut: string[]): Database {
  for (const { name } of database.continuousQueries) {
    leftOut.push(`continuous query ${name}: its statement names ${database.name}`);
  }
  for (const policy of database.policies) {
    for (const { name } of policy.subscriptions) {
      leftOut.push(`subscription ${name}: its destinations get the writes of ${database.name}`);
    }
  }
  const policies = database.policies.map((policy) => ({ ...policy, subscriptions: [] }));
  return { ...database, policies, continuousQueries: [] };
}

async function commit(
  catalog: Catalog,
  plan: Plan,
  added: { readonly users: readonly User[]; readonly tokens: readonly ApiToken[] },
): Promise<{ readonly users: readonly string[]; readonly tokens: readonly string[] }> {
  let users: readonly User[] = [];
  let tokens: readonly ApiToken[] = [];
  await catalog.change((state) => {
    users = added.users.filter(({ name }) => !state.users.has(name));
    tokens = added.tokens.filter(({ name }) => !state.tokens.has(name));
    const databases = new Map(state.databases);
    for (const database of plan.databases) {
      // It may have been created while the points were received.
      requireNew(state, database.name);
      databases.set(database.name, database);
    }
    let id = state.nextId;
    const all = {
      users: new Map(state.users),
      tokens: new Map(state.tokens),
    };
    for (const user of users) all.users.set(user.name, { ...user, id: id++ });
    for (const token of tokens) all.tokens.set(token.name, { ...token, id: id++ });
    return { ...state, ...all, databases, nextId: id };
  });
  return { users: users.map(({ name }) => name), tokens: tokens.map(({ name }) => name) };
}
