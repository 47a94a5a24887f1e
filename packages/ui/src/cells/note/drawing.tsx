// A text.
import type { DrawingProps } from '../kind.ts';
import { valueOf } from '../option.ts';
import { IS_HTML, NOTE } from './kind.ts';
import { Note } from './note.tsx';

export function Drawing({ cell }: DrawingProps) {
  return <Note text={valueOf(cell, NOTE)} isHtml={valueOf(cell, IS_HTML)} />;
}
