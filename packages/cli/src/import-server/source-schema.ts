// Reads from a running server what there is to copy: databases, policies, continuous queries, users, measurements.
import type { Cell, Series, TsdbClient } from '@tidemark/client';
import { formatIdentifier, quoteIdentifier } from '@tidemark/influxql';

export type SourcePolicy = {
  readonly name: string;
  readonly duration: string;
  readonly shardDuration: string;
  readonly replication: number;
  readonly isDefault: boolean;
};

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

/** A field of a measurement; one that has two types in two shards appears twice. */
export type SourceField = { readonly name: string; readonly type: string };

/** Column `name` of every row of every series. */
function column(series: readonly Series[], name: string): readonly Cell[] {
  return series.flatMap((one) => {
    const index = one.columns.indexOf(name);
    return (one.values ?? []).map((row) => row[index] ?? null);
  });
}

/** Databases with policies and continuous queries; `_internal` is left out, it is the server's own. */
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
