// The properties of a kind of statement, and how statements of the catalog and the service get
// them.
import type { Statement } from '@tidemark/influxql';
import type { ResultBatch } from '@tidemark/query';
import { waitFor } from '@tidemark/query';
import type { Requires } from '../auth/requirements.ts';
import type { CatalogState } from '../catalog/model.ts';
import { acts } from './context.ts';
import type { StatementContext, StatementHandler } from './context.ts';

/** The properties of a kind of statement. */
export type Row<S> = {
  /** Throws an `AppError` with the statement's error text. */
  readonly handler: StatementHandler<S>;
  readonly requires: Requires<S>;
  /**
   * Whether it changes nothing; changes are audited. GET answers them with a warning, or refuses
   * them if verbs are strict.
   */
  readonly isReadOnly: (statement: S) => boolean;
  /**
   * Whether it needs more memory than a row of the catalog: it begins with a part of the query
   * memory.
   */
  readonly readsData: boolean;
};

export type Rows = {
  readonly [K in Statement['kind']]: Row<Extract<Statement, { readonly kind: K }>>;
};

/** The row of a statement that changes nothing. */
export function readOnly<S>(handler: StatementHandler<S>, requires: Requires<S>): Row<S> {
  return { handler, requires, isReadOnly: () => true, readsData: false };
}

/** A statement whose answer is small. */
export function reads<S>(
  requires: NoInfer<Requires<S>>,
  run: (
    statement: S,
    context: StatementContext,
  ) => readonly ResultBatch[] | Promise<readonly ResultBatch[]>,
): Row<S> {
  return readOnly(function* answerRows(statement, context) {
    const rows = run(statement, context);
    yield* rows instanceof Promise ? yield* waitFor(rows) : rows;
  }, requires);
}

/** A statement that changes something and answers nothing. */
export function changes<S>(
  requires: NoInfer<Requires<S>>,
  run: (statement: S, context: StatementContext) => Promise<unknown>,
): Row<S> {
  return { handler: acts(run), requires, isReadOnly: () => false, readsData: false };
}

/** A statement that changes the catalog alone. */
export function changesCatalog<S>(
  requires: NoInfer<Requires<S>>,
  change: (state: CatalogState, statement: S, context: StatementContext) => CatalogState,
): Row<S> {
  return changes(requires, (statement, context) =>
    context.services.catalog.change((state) => change(state, statement, context)),
  );
}
