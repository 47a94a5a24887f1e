// Types of areas.mjs for tests.
export const AREAS: Readonly<
  Record<string, { readonly lifetime: string; readonly owner?: string; readonly holds: string }>
>;
