// Events that are not OK.
import type { DrawingProps } from '../kind.ts';
import { valueOf } from '../option.ts';
import { AlertList } from './alert-list.tsx';
import { TOPIC } from './kind.ts';

export function Drawing({ cell, view }: DrawingProps) {
  const { refreshMs, isPaused } = view;
  return (
    <AlertList
      topic={valueOf(cell, TOPIC)}
      label={cell.title}
      refreshMs={refreshMs}
      isPaused={isPaused}
    />
  );
}
