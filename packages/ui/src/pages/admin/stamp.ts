/** The present moment as part of a file's name. */
export const stamp = (): string => new Date().toISOString().slice(0, 19).replaceAll(':', '');
