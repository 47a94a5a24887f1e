// Messages that InfluxDB clients match on. They must not change.
export function seriesLimit(limit: number): string {
  return `max-series-per-database limit exceeded: (${limit})`;
}

export function shardLimit(limit: number): string {
  return `max-shards-per-write limit exceeded: (${limit}); send fewer days at once, or raise data.max-shards-per-write`;
}

export function badLineLimit(limit: number): string {
  return `max-bad-lines limit exceeded: (${limit}); the lines after them were not read (data.max-bad-lines)`;
}

export function tagValueLimit(
  tag: { readonly measurement: string; readonly key: string; readonly value: string },
  counts: { readonly known: number; readonly limit: number },
): string {
  return (
    `max-values-per-tag limit exceeded (${counts.known}/${counts.limit}): ` +
    `measurement="${tag.measurement}" tag="${tag.key}" value="${tag.value}"`
  );
}
