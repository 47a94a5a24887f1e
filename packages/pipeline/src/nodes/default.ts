// default: sets fields and tags that a point lacks.
import type { FieldValue } from '@tidemark/core';

export type DefaultOptions = {
  readonly fields: ReadonlyMap<string, FieldValue>;
  readonly tags: ReadonlyMap<string, string>;
};
