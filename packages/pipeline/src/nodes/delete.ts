// delete: removes fields and tags.

export type DeleteOptions = {
  readonly fields: readonly string[];
  readonly tags: readonly string[];
};
