// Grouping by tags, as `groupBy` of several nodes says it.

/** `isAll` is `*`; then `tags` is empty. Tags are in the order of the script. */
export type Dimensions = { readonly isAll: boolean; readonly tags: readonly string[] };
