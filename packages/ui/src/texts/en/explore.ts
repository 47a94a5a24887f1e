export const explore = {
  answer: 'Answer',
  cancel: 'Cancel',
  database: 'Database',
  figures: (rowCount: number, time: string, size: string) =>
    `${rowCount.toLocaleString('en')} rows · ${time} · ${size}`,
  more: 'More rows',
  noAnswer: 'The database gave no answer',
  noRows: 'The statement gave no rows.',
  partial: (rowCount: number) =>
    `These are the first ${rowCount.toLocaleString('en')} rows. The others wait in the database.`,
  rowsOf: (name: string) => `Rows of ${name}`,
  run: 'Run',
  statement: 'Statement',
  title: 'Explore',
} as const;
