export const time = {
  apply: 'Apply',
  every: (text: string) => `every ${text}`,
  example: 'now-6h, 2024-05-01 14:00 or 2024-05-01T14:00:00Z',
  from: 'From',
  last: (text: string) => `Last ${text}`,
  local: 'Local time',
  noInstant: 'not a time; write for example now-6h',
  noRefresh: 'no refresh',
  nothingBetween: 'the end has to be after the start',
  refresh: 'Refresh',
  to: 'To',
  zone: 'Times are shown in',
} as const;
