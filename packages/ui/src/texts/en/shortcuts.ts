export const shortcuts = {
  editor: 'In editors',
  keys: 'Keys',
  meaning: 'What they do',
  run: 'Run the statement',
  complete: 'Suggest completions',
  format: 'Format',
  comment: 'Comment lines out, or in',
  undo: 'Undo',
  find: 'Find and replace',
  leave: 'Leave the editor (then Tab moves on)',
  outside: 'Single letters work when no field has the focus.',
} as const;
