// Numbers in English, with the nouns they count.

export const count = (value: number): string => value.toLocaleString('en');

/** `1 point`, `1,000 points`. */
export const counted = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`;
