// A row has a heading and nothing below it.
export function Drawing() {
  return null;
}
