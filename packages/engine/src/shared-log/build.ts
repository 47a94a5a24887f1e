// Which formats of the shared data this version of the engine reads and writes. Versions that
// differ by one minor version work together: every record carries the level that a reader has to
// support, and the leader writes no level that an instance does not support.
import { Conflict, TIDEMARK_VERSION } from '@tidemark/core';
import { decodeChanges, encodeChanges } from './change-record.ts';
import type { StoreChange } from '../store/tables.ts';

/** The encoding of changes at one level. */
export type ChangeFormat = {
  readonly encode: (changes: readonly StoreChange[]) => Uint8Array;
  /** Throws `Corruption`. */
  readonly decode: (bytes: Uint8Array) => readonly StoreChange[];
};

export type Build = {
  readonly version: string;
  /** By level, which begins with 1 and increases by one with each minor version that needs it. */
  readonly formats: readonly [ChangeFormat, ...ChangeFormat[]];
};

const FIRST_FORMAT: ChangeFormat = { encode: encodeChanges, decode: decodeChanges };

/** From level 2 on the log of points has records of points (`point-record.ts`). */
export const THIS_BUILD: Build = {
  version: TIDEMARK_VERSION,
  formats: [FIRST_FORMAT, FIRST_FORMAT],
};

/** The highest level that a build supports. */
export function levelOf({ formats }: Build): number {
  return formats.length;
}

/** The log was written by a newer version, in a format that this one does not support. */
export class TooOld extends Conflict {
  constructor(what: string, build: Build) {
    super(
      `this instance is too old: ${what}, and version ${build.version} knows records up to level ${levelOf(build)}. Install the version of the other instances`,
    );
  }
}

/** Throws `TooOld` for a level that a build does not support. */
export function formatAt(level: number, build: Build): ChangeFormat {
  const format = build.formats[level - 1];
  if (format === undefined)
    throw new TooOld(`the shared log has a record of level ${level}`, build);
  return format;
}
