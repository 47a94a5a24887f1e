// Reduces many points of a statement in the database: the smallest and largest of every pixel
// column, so that no extreme is hidden and no more is sent than can be seen.
import { parseBuilt, printBuilt } from './builder.ts';

/** The reducing statement; `undefined` if the text does not select raw points. */
export function outlineOf(text: string): string | undefined {
  const built = parseBuilt(text);
  if (built === undefined || built.window !== '' || built.limit !== '') return undefined;
  if (built.fields.length === 0 || built.fields.some(({ call }) => call !== '')) return undefined;
  const fields = built.fields.flatMap(({ name }) => [
    { name, call: 'min' },
    { name, call: 'max' },
  ]);
  return printBuilt({ ...built, fields, window: '$interval', fill: 'none' });
}
