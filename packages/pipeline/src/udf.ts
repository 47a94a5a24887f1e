// What user-defined functions declare about themselves, as far as scripts are concerned.
import type { EdgeType } from './pipeline.ts';

/** Types of values that a user-defined function's option takes. */
export type UdfValueType = 'bool' | 'int' | 'float' | 'string' | 'duration';

/**
 * What a user-defined function declares about itself: its edges and the values that each option
 * takes.
 */
export type UdfInfo = {
  readonly wants: EdgeType;
  readonly provides: EdgeType;
  readonly options: Readonly<Record<string, readonly UdfValueType[]>>;
};

/** The configured user-defined functions by name. */
export type UdfRegistry = ReadonlyMap<string, UdfInfo>;
