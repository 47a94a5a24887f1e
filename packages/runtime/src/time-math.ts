// Truncation and rounding of times. Periods are counted from the year 1, not from the Unix epoch:
// weeks begin on Mondays, and odd periods have the recorded phase.
const EPOCH_OFFSET_NANOS = 62_135_596_800n * 1_000_000_000n;

/** Largest multiple of `period` not after `time`; `time` itself when there is no period. */
export function truncateTime(time: bigint, period: bigint): bigint {
  if (period <= 0n) return time;
  return time - sincePeriod(time, period);
}

/** Nearest multiple of `period`; halfway goes up. */
export function roundTime(time: bigint, period: bigint): bigint {
  if (period <= 0n) return time;
  const since = sincePeriod(time, period);
  return since + since < period ? time - since : time + (period - since);
}

function sincePeriod(time: bigint, period: bigint): bigint {
  const since = (time + EPOCH_OFFSET_NANOS) % period;
  return since < 0n ? since + period : since;
}
