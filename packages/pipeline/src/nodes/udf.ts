// @name: a user-defined function, run outside the engine.
import type { PropertyCall } from '../pipeline.ts';

export type UdfOptions = {
  readonly functionName: string;
  /** Calls as the script made them, checked against what the function declares. */
  readonly calls: readonly PropertyCall[];
};
