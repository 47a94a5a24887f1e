// Files that settings name.
import { readFileSync } from 'node:fs';
import { InvalidRequest, messageOf } from '@tidemark/core';

/** The text of a file; throws `InvalidRequest` with the name of the setting if there is none. */
export function readSetting(setting: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const reason = messageOf(error);
    throw new InvalidRequest(`${setting} cannot be read: ${reason}`, { cause: error });
  }
}
