// Cells of CSV.

/**
 * The format needs quotes for these, and so do readers that trim blanks or take `\.` for the end.
 */
const NEEDS_QUOTES = /[",\r\n]|^\s|^\\\.$/;

/** A cell, quoted where the format needs it. */
export function csvCell(text: string): string {
  return NEEDS_QUOTES.test(text) ? csvQuoted(text) : text;
}

/** A cell in quotes. */
export function csvQuoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}
