// The names that tz() accepts.

const existsByName = new Map<string, boolean>([['', true]]);
const MAX_REMEMBERED = 1000;

/** Whether the platform knows the IANA time zone; '' is UTC. */
export function isTimeZone(name: string): boolean {
  const cached = existsByName.get(name);
  if (cached !== undefined) return cached;
  let exists = true;
  try {
    Intl.DateTimeFormat('en', { timeZone: name });
  } catch {
    // Intl reports an unknown zone with a RangeError.
    exists = false;
  }
  if (existsByName.size >= MAX_REMEMBERED) existsByName.clear();
  existsByName.set('', true);
  existsByName.set(name, exists);
  return exists;
}
