// Alert levels and their order.
import type { AlertLevelName } from '@tidemark/runtime';

/** Lowest first. */
export const LEVELS: readonly AlertLevelName[] = ['OK', 'INFO', 'WARNING', 'CRITICAL'];

/** 0 for OK up to 3 for CRITICAL. */
export function levelRank(level: AlertLevelName): number {
  return LEVELS.indexOf(level);
}

/** Reads a level in any case; a unique beginning of its name is enough, nothing at all means OK. */
export function parseLevel(text: string): AlertLevelName | undefined {
  const upper = text.toUpperCase();
  return LEVELS.find((level) => level.startsWith(upper));
}
