export const editor = {
  cannotFormat:
    'Only a text without errors can be formatted, and a statement only without comments and variables.',
  notLoaded: (reason: string) => `The editor could not be loaded, the plain field works: ${reason}`,
} as const;
