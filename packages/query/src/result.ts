// The result of a statement: series of columns, in batches, and what the encoders need to know
// about them.
import type { Column, FieldValue, TagSet, Validity } from '@tidemark/core';

/**
 * A column of timestamps. The encoders print it in the time format of the request when it is the
 * first column.
 */
export type TimeColumn = {
  readonly type: 'time';
  readonly values: BigInt64Array;
  readonly valid: Validity;
};

/**
 * A cell of a column with several types, as in answers of SHOW statements. Lists are printed as
 * JSON arrays.
 */
export type MixedValue = FieldValue | null | readonly string[];
export type MixedColumn = { readonly type: 'mixed'; readonly values: readonly MixedValue[] };

export type ResultColumn = Column | TimeColumn | MixedColumn;

/**
 * Rows of one series of a statement's answer. Consecutive batches with the same name, tags and
 * columns continue one series only when `isContinuation` is set on the later ones; two series may
 * look alike.
 */
export type ResultBatch = {
  /** Absent in answers without a name, such as those of SHOW SERIES. */
  readonly name?: string | undefined;
  /** Only with GROUP BY tags; missing tags as empty strings. */
  readonly tags?: TagSet | undefined;
  readonly columns: readonly string[];
  readonly rowCount: number;
  /** One per element of `columns`, each of `rowCount` rows. */
  readonly values: readonly ResultColumn[];
  readonly isContinuation: boolean;
  /** Offset from UTC in which the times of this answer are printed: the zone of `tz()`. */
  readonly timeZone?: string | undefined;
  /** The series has no `values` member at all (SHOW CONTINUOUS QUERIES of an empty database). */
  readonly omitsValues?: boolean | undefined;
};

export type ResultMessage = { readonly level: 'warning' | 'info'; readonly text: string };

/** A series of rows of scalars, for statements whose answers are small. */
export function rowsBatch(series: {
  readonly name?: string | undefined;
  readonly tags?: TagSet | undefined;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly MixedValue[])[];
  readonly omitsValues?: boolean | undefined;
}): ResultBatch {
  return {
    name: series.name,
    tags: series.tags,
    columns: series.columns,
    rowCount: series.rows.length,
    values: series.columns.map((_, i) => ({
      type: 'mixed',
      values: series.rows.map((row) => row[i] ?? null),
    })),
    isContinuation: false,
    omitsValues: series.omitsValues,
  };
}
