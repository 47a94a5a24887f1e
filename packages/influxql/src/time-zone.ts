// The names that tz() accepts.

const known = new Map<string, boolean>([['', true]]);
const MAX_REMEMBERED = 1000;

/** Whether the platform knows the IANA time zone; '' is UTC. */
export function isTimeZone(name: string): boolean {
  const remembered = known.get(name);
  if (remembered !== undefined) return remembered;
  let exists = true;
  try {
    Intl.DateTimeFormat('en', { timeZone: name });
  } catch {
    // Intl reports an unknown zone with a RangeError.
    exists = false;
  }
  if (known.size >= MAX_REMEMBERED) known.clear();
  known.set('', true);
  known.set(name, exists);
  return exists;
}
