// Types of exports.mjs for tests.
export const EXPORTS: Readonly<Record<string, readonly string[]>>;
