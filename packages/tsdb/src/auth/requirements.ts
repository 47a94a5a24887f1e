// Rights that statements need, from the rows of their kinds (statements/registry.ts).
import { measurementSources, selectsOf } from '@tidemark/influxql';
import type { MeasurementSource, SelectStatement } from '@tidemark/influxql';

import type { Right } from '../catalog/users.ts';
import { isAdmin, may } from './identity.ts';
import type { Identity } from './identity.ts';

export type Requirement =
  | { readonly kind: 'admin' }
  | { readonly kind: Right; readonly database: string };

export function allows(identity: Identity, need: Requirement): boolean {
  return need.kind === 'admin' ? isAdmin(identity) : may(identity, need.kind, need.database);
}

/** A requirement as refusals print it. */
export function printRequirement(need: Requirement): string {
  return need.kind === 'admin'
    ? 'admin privilege'
    : `${need.kind.toUpperCase()} on ${need.database}`;
}

/**
 * The rights that a statement needs; `database` is that of the request. Empty: any authenticated
 * user may run it.
 */
export type Requires<S> = (statement: S, database: string) => readonly Requirement[];

export const needsNothing: Requires<unknown> = () => [];

export const needsAdmin: Requires<unknown> = () => [{ kind: 'admin' }];

export const readsRequested: Requires<unknown> = (_, database) => [{ kind: 'read', database }];

export const writesRequested: Requires<unknown> = (_, database) => [{ kind: 'write', database }];

/** The database that the statement names, not that of the request. */
export const writesNamed: Requires<{ readonly database: string }> = ({ database }) => [
  { kind: 'write', database },
];

/** The rights to read what ON and FROM of a SHOW statement name. */
export const readsShown: Requires<{
  readonly database?: string | undefined;
  readonly sources?: readonly MeasurementSource[] | undefined;
}> = (statement, requested) => {
  const database = statement.database ?? requested;
  return [{ kind: 'read', database }, ...readsSources(statement.sources ?? [], database)];
};

export const selects: Requires<SelectStatement> = (statement, database) => [
  ...readsSources(measurementSources(statement), database),
  ...selectsOf(statement).flatMap(({ into }): readonly Requirement[] =>
    into === undefined ? [] : [{ kind: 'write', database: into.database ?? database }],
  ),
];

/**
 * The rights that each of its runs needs, and READ on the database that it belongs to. Names
 * without a database are in that of the request, if it has one.
 */
export const createsContinuousQuery: Requires<{
  readonly database: string;
  readonly statement: SelectStatement;
}> = ({ database, statement }, requested) => [
  { kind: 'read', database },
  ...selects(statement, requested === '' ? database : requested),
];

function readsSources(
  sources: readonly MeasurementSource[],
  requested: string,
): readonly Requirement[] {
  return sources.map(({ database = requested }) => ({ kind: 'read', database }));
}
