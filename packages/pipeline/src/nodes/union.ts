// union: merges several parents into one stream in order of time.

export type UnionOptions = { readonly rename: string };
