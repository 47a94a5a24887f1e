// sideload: adds fields and tags from files or HTTP.
import type { SpecValue } from '../pipeline.ts';

export type SideloadOptions = {
  readonly source: string;
  /** Templates over the tags of a point; the first that has a key wins. */
  readonly order: readonly string[];
  readonly fields: ReadonlyMap<string, SpecValue>;
  readonly tags: ReadonlyMap<string, string>;
};
