// The words in which the two servers refuse points of other types than their fields have.
import type { Answer } from './server.ts';

const CONFLICT =
  /field type conflict: input field \w+ on measurement \w+ is type \w+, already exists as type \w+/;
const FRAMED = new RegExp(`partial write: (${CONFLICT.source}) dropped=\\d+`);
const SEVERAL = /"partial write: .* dropped=([2-9])"/;

/**
 * Whether an answer has the words of the specification for what the reference server says: names
 * without quotes, `int64`, a frame only where something was written. The latter says only that
 * there is a conflict when it finds it in a shard, and has then lost the whole request. Of several
 * reasons each names one of its own.
 */
export function isConflictAsSpecified(reference: Answer, candidate: Answer): boolean {
  if (reference.status !== candidate.status) return false;
  if (isRequestLost(reference)) return CONFLICT.test(candidate.body);
  const words = reference.body
    .replaceAll(/\\"(\w+)\\"/g, '$1')
    .replaceAll(/\btype integer\b/g, 'type int64');
  const dropped = SEVERAL.exec(words)?.[1];
  if (dropped !== undefined) {
    // Without a frame, nothing was written.
    const isFramed = candidate.body.includes('partial write: ');
    if (!isFramed && CONFLICT.test(candidate.body)) return true;
    if (dropped === SEVERAL.exec(candidate.body)?.[1]) return true;
  }
  return candidate.body === words || candidate.body === words.replace(FRAMED, '$1');
}

/** Whether the reference server found a conflict in a shard, and wrote nothing of the request. */
export function isRequestLost({ body }: Answer): boolean {
  return /"error":"(partial write: )?field type conflict( dropped=\d+)?"/.test(body);
}
