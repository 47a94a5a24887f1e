// Reads what is to be copied from a running server: databases, policies, continuous queries, users,
// measurements.
import type { Cell, Series, TsdbClient } from '@tidemark/client';
import { parseRfc3339 } from '@tidemark/core';
import { formatIdentifier, quoteIdentifier } from '@tidemark/influxql';

export type SourcePolicy = {
  readonly name: string;
  readonly duration: string;
  readonly shardDuration: string;
  readonly replication: number;
  readonly isDefault: boolean;
};

/** The settings of a policy, as clauses of the statement that creates or alters it. */
export function policySettings(policy: SourcePolicy): string {
  const duration = policy.duration === '0s' ? 'INF' : policy.duration;
  const more = policy.isDefault ? ' DEFAULT' : '';
  return `DURATION ${duration} REPLICATION ${policy.replication} SHARD DURATION ${policy.shardDuration}${more}`;
}

export type SourceDatabase = {
  readonly name: string;
  readonly policies: readonly SourcePolicy[];
  readonly continuousQueries: readonly { readonly name: string; readonly text: string }[];
};

export type SourceUser = {
  readonly name: string;
  readonly isAdmin: boolean;
  readonly grants: readonly { readonly database: string; readonly privilege: string }[];
};

export type SourceSubscription = {
  readonly name: string;
  readonly database: string;
  readonly policy: string;
  readonly mode: string;
  readonly destinations: string;
};

/** A field of a measurement; one that has two types in two shards appears twice. */
export type SourceField = { readonly name: string; readonly type: string };

/** Column `name` of every row of every series. */
function column(series: readonly Series[], name: string): readonly Cell[] {
  return series.flatMap((one) => {
    const index = one.columns.indexOf(name);
    return (one.values ?? []).map((row) => row[index] ?? null);
  });
}

/** Databases with policies and continuous queries, except the server's own `_internal`. */
export async function readDatabases(
  client: TsdbClient,
  only: readonly string[],
): Promise<readonly SourceDatabase[]> {
  const names = column(await client.rows('SHOW DATABASES'), 'name').map(String);
  const queries = await client.rows('SHOW CONTINUOUS QUERIES');
  const databases: SourceDatabase[] = [];
  for (const name of names) {
    if (name === '_internal' || (only.length > 0 && !only.includes(name))) continue;
    const series = await client.rows(`SHOW RETENTION POLICIES ON ${quoteIdentifier(name)}`);
    const policies = series.flatMap(({ columns, values }) =>
      (values ?? []).map((row) => {
        const cell = (title: string): Cell => row[columns.indexOf(title)] ?? null;
        return {
          name: String(cell('name')),
          duration: String(cell('duration')),
          shardDuration: String(cell('shardGroupDuration')),
          replication: Number(cell('replicaN')),
          isDefault: cell('default') === true,
        };
      }),
    );
    const own = queries.filter((one) => one.name === name).flatMap((one) => one.values ?? []);
    databases.push({
      name,
      policies,
      continuousQueries: own.map(([title, text]) => ({ name: String(title), text: String(text) })),
    });
  }
  return databases;
}

/** Users with their grants. Passwords cannot be read from a server. */
export async function readUsers(client: TsdbClient): Promise<readonly SourceUser[]> {
  const users: SourceUser[] = [];
  for (const row of (await client.rows('SHOW USERS')).flatMap(({ values }) => values ?? [])) {
    const name = String(row[0]);
    const grants = (await client.rows(`SHOW GRANTS FOR ${quoteIdentifier(name)}`)).flatMap(
      ({ values }) => values ?? [],
    );
    users.push({
      name,
      isAdmin: row[1] === true,
      grants: grants.map(([database, privilege]) => ({
        database: String(database),
        privilege: String(privilege),
      })),
    });
  }
  return users;
}

/** Subscriptions of these databases; addresses without their passwords. */
export async function readSubscriptions(
  client: TsdbClient,
  databases: readonly string[],
): Promise<readonly SourceSubscription[]> {
  const series = await client.rows('SHOW SUBSCRIPTIONS');
  return series
    .filter(({ name = '' }) => databases.includes(name))
    .flatMap(({ name: database = '', values = [] }) =>
      values.map(([policy, name, mode, destinations]) => ({
        name: String(name),
        database,
        policy: String(policy),
        mode: String(mode),
        destinations: String(destinations).replaceAll(/\/\/[^/\s]+@/g, '//'),
      })),
    );
}

/** Measurements of one policy with their fields. */
export async function readMeasurements(
  client: TsdbClient,
  database: string,
  policy: string,
): Promise<ReadonlyMap<string, readonly SourceField[]>> {
  const series = await client.rows(`SHOW FIELD KEYS FROM ${formatIdentifier(policy)}./.*/`, {
    database,
  });
  return new Map(
    series.map((one) => [
      one.name ?? '',
      (one.values ?? []).map(([name, type]) => ({ name: String(name), type: String(type) })),
    ]),
  );
}

/** Time ranges of the shards of a policy, oldest first. A field has one type within each. */
export async function readShardRanges(
  client: TsdbClient,
  database: string,
  policy: string,
): Promise<readonly { readonly start: bigint; readonly end: bigint }[]> {
  const series = (await client.rows('SHOW SHARDS', {})).filter((one) => one.name === database);
  const ranges = series.flatMap(({ columns, values }) =>
    (values ?? []).flatMap((row) => {
      const cell = (title: string): string => String(row[columns.indexOf(title)]);
      const start = parseRfc3339(cell('start_time'));
      const end = parseRfc3339(cell('end_time'));
      const isWanted =
        cell('retention_policy') === policy && start !== undefined && end !== undefined;
      return isWanted ? [{ start, end }] : [];
    }),
  );
  return ranges.toSorted((a, b) => (a.start < b.start ? -1 : 1));
}

const NUMERIC = new Set(['float', 'integer', 'unsigned']);

/**
 * The fields as they are within one shard. A numeric field with several types over all shards can
 * be read in each of them, because numbers convert; its own type is found with an operator that
 * floats lack.
 */
export async function fieldsWithin(
  client: TsdbClient,
  fields: readonly SourceField[],
  source: { readonly database: string; readonly path: string; readonly condition: string },
): Promise<readonly SourceField[]> {
  const own: SourceField[] = [];
  for (const field of fields) {
    const numericTypes = fields.filter(
      (other) => other.name === field.name && NUMERIC.has(other.type),
    );
    if (!NUMERIC.has(field.type) || numericTypes.length === 1) own.push(field);
    else if (!own.some((other) => other.name === field.name && NUMERIC.has(other.type))) {
      const probe = `SELECT ${quoteIdentifier(field.name)} & 1 FROM ${source.path} WHERE ${source.condition} LIMIT 1`;
      const answer = await client.query(probe, { database: source.database });
      const isFloat = /type error|cannot use/.test(answer.results?.[0]?.error ?? '');
      own.push({ name: field.name, type: isFloat ? 'float' : 'integer' });
    }
  }
  return own;
}
